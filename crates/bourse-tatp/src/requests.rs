//! Inputs of transactions, as the published mix and its non-uniform distribution have them.

use crate::population::{START_TIMES, location, number};
use crate::tables::{Number, SubscriberId};
use bourse_oltp::mix::place;
use bourse_oltp::planted;
use bourse_stats::SplitMix;
use serde::{Deserialize, Serialize};

/// Input of a transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Reads a subscriber's row.
    GetSubscriberData {
        /// The subscriber.
        s_id: SubscriberId,
    },
    /// Reads the numbers to which a call is forwarded.
    GetNewDestination {
        /// The subscriber.
        s_id: SubscriberId,
        /// The service, 1 to 4.
        sf_type: u8,
        /// Hour from which calls are forwarded, at the latest.
        start_time: u8,
        /// Hour until which calls are forwarded at least.
        end_time: u8,
    },
    /// Reads access data.
    GetAccessData {
        /// The subscriber.
        s_id: SubscriberId,
        /// The kind of access, 1 to 4.
        ai_type: u8,
    },
    /// Changes a setting and a service.
    UpdateSubscriberData {
        /// The subscriber.
        s_id: SubscriberId,
        /// The setting, 0 or 1.
        bit_1: u8,
        /// The service, 1 to 4.
        sf_type: u8,
        /// The service's data.
        data_a: u8,
    },
    /// Changes the location.
    UpdateLocation {
        /// The subscriber's number.
        sub_nbr: Number,
        /// The location.
        vlr_location: i64,
    },
    /// Adds a number to which calls are forwarded.
    InsertCallForwarding {
        /// The subscriber's number.
        sub_nbr: Number,
        /// The service, 1 to 4.
        sf_type: u8,
        /// Hour from which calls are forwarded.
        start_time: u8,
        /// Hour until which calls are forwarded.
        end_time: u8,
        /// The number.
        numberx: Number,
    },
    /// Removes a number to which calls are forwarded.
    DeleteCallForwarding {
        /// The subscriber's number.
        sub_nbr: Number,
        /// The service, 1 to 4.
        sf_type: u8,
        /// Hour from which calls are forwarded.
        start_time: u8,
    },
}

/// Names of the transactions, in the order of the published mix.
pub const NAMES: [&str; 7] = [
    "Get-Subscriber-Data", "Get-New-Destination", "Get-Access-Data", "Update-Subscriber-Data", "Update-Location",
    "Insert-Call-Forwarding", "Delete-Call-Forwarding",
];

/// The published mix, in percent.
pub const SHARES: [f64; 7] = [35.0, 10.0, 35.0, 2.0, 14.0, 2.0, 2.0];

impl Request {
    /// Place of the transaction in [`NAMES`].
    pub const fn kind(&self) -> usize {
        match self {
            Self::GetSubscriberData { .. } => 0,
            Self::GetNewDestination { .. } => 1,
            Self::GetAccessData { .. } => 2,
            Self::UpdateSubscriberData { .. } => 3,
            Self::UpdateLocation { .. } => 4,
            Self::InsertCallForwarding { .. } => 5,
            Self::DeleteCallForwarding { .. } => 6,
        }
    }
}

/// Draws requests of one user, without end.
#[derive(Debug, Clone)]
pub struct Emulator {
    random: SplitMix,
    subscribers: u64,
}

impl Emulator {
    /// Creates the emulator of a seed, for so many subscribers.
    pub const fn new(subscribers: u64, seed: u64) -> Self {
        Self { random: SplitMix::new(seed), subscribers }
    }

    /// A subscriber by the published distribution: `(random(0, A) | random(1, P)) % P + 1`, by which some are drawn much more
    /// often than others.
    fn subscriber(&mut self) -> SubscriberId {
        let most = match self.subscribers {
            0..=1_000_000 => 65_535,
            1_000_001..=10_000_000 => 1_048_575,
            _ => 2_097_151,
        };
        let (some, any) = (self.random.below(most + 1), 1 + self.random.below(self.subscribers));
        SubscriberId(((some | any) % self.subscribers) as i64 + 1)
    }

    fn one_to(&mut self, most: u8) -> u8 {
        1 + u8::try_from(self.random.below(most.into())).expect("below a byte")
    }

    fn start_time(&mut self) -> u8 {
        START_TIMES[usize::from(self.one_to(3) - 1)]
    }
}

impl Iterator for Emulator {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let kind = place(&SHARES, 100.0 * self.random.unit());
        let kind = if planted!(MixWithoutDelete) { kind.min(5) } else { kind };
        let s_id = self.subscriber();
        let sub_nbr = number(s_id.0);
        Some(match kind {
            0 => Request::GetSubscriberData { s_id },
            1 => Request::GetNewDestination {
                s_id,
                sf_type: self.one_to(4),
                start_time: self.start_time(),
                end_time: self.one_to(24),
            },
            2 => Request::GetAccessData { s_id, ai_type: self.one_to(4) },
            3 => Request::UpdateSubscriberData {
                s_id,
                bit_1: self.one_to(2) - 1,
                sf_type: self.one_to(4),
                data_a: u8::try_from(self.random.below(256)).expect("a byte"),
            },
            4 => Request::UpdateLocation { sub_nbr, vlr_location: location(&mut self.random) },
            5 => Request::InsertCallForwarding {
                sub_nbr,
                sf_type: self.one_to(4),
                start_time: self.start_time(),
                end_time: self.one_to(24),
                numberx: number(self.random.below(1_000_000_000_000_000) as i64),
            },
            _ => Request::DeleteCallForwarding { sub_nbr, sf_type: self.one_to(4), start_time: self.start_time() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_the_published_one() {
        assert!((SHARES.iter().sum::<f64>() - 100.0).abs() < 1e-9);
        let mut counts = [0_u32; 7];
        Emulator::new(1_000, 7).take(100_000).for_each(|request| counts[request.kind()] += 1);
        for (count, share) in counts.iter().zip(SHARES) {
            // Six standard deviations of so many draws.
            let deviation = (1_000.0 * share * (1.0 - share / 100.0)).sqrt();
            assert!((f64::from(*count) - 1_000.0 * share).abs() < 6.0 * deviation, "{count} of {share} %");
        }
    }

    #[test]
    fn subscribers_are_drawn_unevenly_and_all_exist() {
        let mut drawn = vec![0_u32; 100_001];
        let mut emulator = Emulator::new(100_000, 7);
        (0..1_000_000).for_each(|_| drawn[usize::try_from(emulator.subscriber().0).unwrap()] += 1);
        assert_eq!(drawn[0], 0);
        drawn.sort_unstable_by(|a, b| b.cmp(a));
        let most: u32 = drawn[..10_000].iter().sum();
        // Uniformly a tenth would be drawn a tenth of the time.
        assert!(most > 400_000, "the tenth that is drawn most often: {most} of 1,000,000");
    }
}
