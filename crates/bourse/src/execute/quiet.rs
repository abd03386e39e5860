//! Waits of rounds for a quiet machine: none after several were in vain.

use crate::plan::VAIN_WAITS;
use bourse_record::{Round, Warning};

/// Waits of a run until now.
#[derive(Debug, Default)]
pub(super) struct QuietWaits {
    vain: u32,
}

impl QuietWaits {
    /// Longest wait of the next round, in nanoseconds; `None` if it does not wait.
    pub(super) fn limit_ns(&self, planned_ns: Option<u64>) -> Option<u64> {
        planned_ns.filter(|_| self.vain < VAIN_WAITS)
    }

    /// Takes a round into account; returns whether no round waits after it.
    pub(super) fn are_over_after(&mut self, round: &Round) -> bool {
        let in_vain = round.warnings.contains(&Warning::NotQuiet);
        self.vain += u32::from(in_vain);
        in_vain && self.vain == VAIN_WAITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A comparison once waited 24 times 20 s on a machine that was never quiet.
    #[test]
    fn two_waits_in_vain_are_the_last() {
        let mut waits = QuietWaits::default();
        let mut round = |in_vain: bool| {
            let text = r#"{ "offset_s": 0, "phases": [], "measured_s": 1, "headline": 1, "operations": [], "cpu_user_s": 0,
                "cpu_system_s": 0, "series": { "time_s": [], "columns": [] }, "read_bytes": 0, "written_bytes": 0, "facts": [],
                "checks": [], "warnings": [] }"#;
            let mut round: Round = serde_json::from_str(text).expect("it is a round");
            round.warnings.extend(in_vain.then_some(Warning::NotQuiet));
            (waits.limit_ns(Some(20)), waits.are_over_after(&round))
        };
        assert_eq!(round(true), (Some(20), false));
        assert_eq!(round(false), (Some(20), false));
        assert_eq!(round(true), (Some(20), true), "said once");
        assert_eq!(round(false), (None, false));
        assert_eq!(QuietWaits::default().limit_ns(None), None);
    }
}
