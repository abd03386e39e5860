//! Rows of a database: the same for the same number of subscribers.

use crate::tables::{AccessInfo, CallForwarding, Number, SpecialFacility, Subscriber, SubscriberId};
use bourse_oltp::load::LoadError;
use bourse_schema::{Batch, Rows, Text};
use bourse_stats::SplitMix;
use std::sync::mpsc::sync_channel;

/// Subscribers that are made together, from random numbers of their own.
pub const CHUNK: i64 = 1_000;
/// Chunks that may wait for the writer.
const WAITING: usize = 2;
/// The hours from which calls are forwarded.
pub const START_TIMES: [u8; 3] = [0, 8, 16];

/// Rows of a chunk, a batch for each table.
type Chunk = [Box<dyn Batch>; 4];

/// Makes the rows of so many subscribers on a thread of its own and passes them to `each` in batches.
///
/// One thread is enough: a writer takes several times as long.
///
/// # Errors
/// The first error of `each`, which ends the generation.
pub fn generate(subscribers: i64, each: &mut dyn FnMut(&dyn Batch) -> Result<(), LoadError>) -> Result<(), LoadError> {
    std::thread::scope(|scope| {
        let (sender, chunks) = sync_channel::<Chunk>(WAITING);
        // It ends when the receiver is gone.
        scope.spawn(move || (0..subscribers / CHUNK).try_for_each(|number| sender.send(chunk(number))));
        chunks.into_iter().flatten().try_for_each(|batch| each(&*batch))
    })
}

/// A telephone number of a number: 15 digits.
pub fn number(of: i64) -> Number {
    Text::cut(&format!("{of:015}"))
}

fn chunk(number: i64) -> Chunk {
    let mut random = SplitMix::new(0x7A79_0000 + number.unsigned_abs());
    let (mut subscribers, mut accesses, mut facilities, mut forwardings) = (vec![], vec![], vec![], vec![]);
    for s_id in (number * CHUNK + 1..=(number + 1) * CHUNK).map(SubscriberId) {
        subscribers.push(subscriber(s_id, &mut random));
        for ai_type in some(&[1, 2, 3, 4], 1, &mut random) {
            accesses.push(AccessInfo {
                s_id,
                ai_type,
                data1: below(256, &mut random),
                data2: below(256, &mut random),
                data3: letters(&mut random),
                data4: letters(&mut random),
            });
        }
        for sf_type in some(&[1, 2, 3, 4], 1, &mut random) {
            facilities.push(SpecialFacility {
                s_id,
                sf_type,
                is_active: u8::from(random.below(100) < 85),
                error_cntrl: below(256, &mut random),
                data_a: below(256, &mut random),
                data_b: letters(&mut random),
            });
            for start_time in some(&START_TIMES, 0, &mut random) {
                let end_time = start_time + 1 + below(8, &mut random);
                let numberx = crate::population::number(random.below(1_000_000_000_000_000) as i64);
                forwardings.push(CallForwarding { s_id, sf_type, start_time, end_time, numberx });
            }
        }
    }
    [Box::new(Rows(subscribers)), Box::new(Rows(accesses)), Box::new(Rows(facilities)), Box::new(Rows(forwardings))]
}

/// A subscriber with small numbers drawn below a bound, in the order of the columns.
macro_rules! subscriber {
    ($id:expr, $random:expr, $($bound:literal: $($column:ident)+;)+) => {{
        let msc_location = location($random);
        // Drawn evenly as the first is, and a location that a run has changed shows.
        let vlr_location = (1 << 32) - msc_location;
        let (s_id, sub_nbr) = ($id, number($id.0));
        Subscriber { s_id, sub_nbr, $($($column: below($bound, $random),)+)+ msc_location, vlr_location }
    }};
}

fn subscriber(s_id: SubscriberId, random: &mut SplitMix) -> Subscriber {
    subscriber! { s_id, random,
        2: bit_1 bit_2 bit_3 bit_4 bit_5 bit_6 bit_7 bit_8 bit_9 bit_10;
        16: hex_1 hex_2 hex_3 hex_4 hex_5 hex_6 hex_7 hex_8 hex_9 hex_10;
        256: byte2_1 byte2_2 byte2_3 byte2_4 byte2_5 byte2_6 byte2_7 byte2_8 byte2_9 byte2_10;
    }
}

/// A location: from 1 to 2^32 − 1.
pub fn location(random: &mut SplitMix) -> i64 {
    1 + random.below(u64::from(u32::MAX)) as i64
}

fn below(bound: u64, random: &mut SplitMix) -> u8 {
    u8::try_from(random.below(bound)).expect("the bound is 256 at most")
}

/// Some of a few values in their order: each number of them from `least` to all is equally likely.
fn some(values: &[u8], least: u64, random: &mut SplitMix) -> Vec<u8> {
    let count = least + random.below(values.len() as u64 + 1 - least);
    let mut chosen = values.to_vec();
    random.shuffle(&mut chosen);
    chosen.truncate(usize::try_from(count).expect("few values"));
    chosen.sort_unstable();
    chosen
}

/// Capital letters as long as the text.
fn letters<const N: usize>(random: &mut SplitMix) -> Text<N> {
    let letters: String = (0..N).map(|_| char::from(b'A' + below(26, random))).collect();
    Text::cut(&letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<(&'static str, usize)> {
        let mut rows: Vec<(&str, usize)> = Vec::new();
        generate(3_000, &mut |batch| {
            match rows.iter_mut().find(|(table, _)| *table == batch.table().name) {
                Some((_, sum)) => *sum += batch.len(),
                None => rows.push((batch.table().name, batch.len())),
            }
            Ok(())
        })
        .unwrap();
        rows
    }

    #[test]
    fn tables_have_the_published_proportions_and_are_the_same_every_time() {
        let made = rows();
        assert_eq!(made, rows());
        let expected =
            [("subscriber", 3_000), ("access_info", 7_500), ("special_facility", 7_500), ("call_forwarding", 11_250)];
        for ((table, rows), (name, about)) in made.into_iter().zip(expected) {
            assert_eq!(table, name);
            assert!(rows.abs_diff(about) * 20 < about, "{table}: {rows} rows, about {about}");
        }
    }

    #[test]
    fn an_error_of_the_writer_ends_the_generation() {
        let mut batches = 0;
        let stopped = generate(100_000, &mut |_| {
            batches += 1;
            Err(LoadError::Stopped)
        });
        assert!(matches!(stopped, Err(LoadError::Stopped)));
        assert_eq!(batches, 1);
    }
}
