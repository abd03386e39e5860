//! Seeds that each emulator derives from the time of day and its number, so that no two runs and no two emulators of a
//! run share a stream.

use bourse_schema::{Date, Timestamp};

/// Seeds of the two generators of an emulator. The maintenance has only one: the [first](Self::first).
///
/// ```
/// use bourse_egen::driver::Seeds;
/// use bourse_schema::{Date, Timestamp};
/// let new_year = Timestamp::at(Date::from_ymd(2025, 1, 1), 0);
/// assert_eq!(Seeds::automatic(new_year, 77), Seeds { first: 77, second: 4_294_967_373 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    /// Seed of the mix (customers), the ticker tape (market) or all inputs (maintenance).
    pub first: u64,
    /// Seed of the inputs (customers) or the trading floor (market).
    pub second: u64,
}

impl Seeds {
    /// The reference's built-in seeds of the customer emulator.
    pub const CUSTOMER: Self = Self { first: 87_944_308, second: 80_534_927 };
    /// The reference's built-in seeds of the market exchange emulator.
    pub const MARKET: Self = Self { first: 42_065_035, second: 25_730_774 };

    /// Seeds of emulator number `unique_id` of a run that is started at `local_time`.
    ///
    /// The specification's text lists the customers' two seeds in the opposite order of the reference's code; the
    /// code's order is used.
    pub fn automatic(local_time: Timestamp, unique_id: u32) -> Self {
        let tenths = (local_time.ms_of_day() / 100) as u64;
        let (year, _, _) = local_time.date().ymd();
        let epoch = Date::from_ymd(year - year % 5, 1, 1);
        let days = (local_time.date().days() - epoch.days()) as u64;
        let first = ((tenths << 11) + days).wrapping_shl(33).wrapping_add(u64::from(unique_id));
        Self { first, second: first | 1 << 32 }
    }

    /// Seeds of emulator number `unique_id` in a run that can be repeated from one seed. The reference has no
    /// equivalent: its runs are started from the time of day.
    pub fn of_run(run_seed: u64, unique_id: u32) -> Self {
        Self { first: scattered(run_seed, unique_id, 0), second: scattered(run_seed, unique_id, 1) }
    }

    /// The [holdings seed](super::CustomerConfig::holdings_seed) that goes with [`of_run`](Self::of_run).
    pub fn holdings_of_run(run_seed: u64, unique_id: u32) -> u64 {
        scattered(run_seed, unique_id, 2)
    }
}

/// One of a run's seeds, far from all others.
///
/// Neighbouring seeds would do in the reference's sequences too, but would stay at the same distance: the numbers of
/// one emulator would predict another's.
fn scattered(run_seed: u64, unique_id: u32, purpose: u64) -> u64 {
    // The finisher of SplitMix64 is a bijection: within a run no two of these are alike.
    let finish = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let place = (u64::from(unique_id) << 2) + purpose + 1;
    finish(finish(run_seed).wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_time_and_number_have_seeds_of_their_own() {
        let noon = Timestamp::at(Date::from_ymd(2026, 1, 5), 12 * 3_600_000);
        let later = Timestamp::from_millis(noon.millis() + 100);
        let all = [(noon, 1), (noon, 2), (later, 1), (later, 2)].map(|(time, id)| Seeds::automatic(time, id));
        for (at, seeds) in all.iter().enumerate() {
            assert_ne!(seeds.first, seeds.second);
            assert!(all[..at].iter().all(|other| other.first != seeds.first && other.second != seeds.second));
        }
    }

    #[test]
    fn a_run_is_repeated_from_its_seed_and_no_two_sequences_of_it_are_alike() {
        let of = |run| -> Vec<u64> {
            let seeds = |id| (Seeds::of_run(run, id), Seeds::holdings_of_run(run, id));
            (0..100).map(seeds).flat_map(|(seeds, holdings)| [seeds.first, seeds.second, holdings]).collect()
        };
        assert_eq!(of(7), of(7));
        let mut all = [of(7), of(8)].concat();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
