//! Limit on the duration of a run: work that would end after it is not begun.

use crate::plan::{CaseBlock, Plan, about};

/// Time of a run until now, against its plan.
///
/// Each block has its share of the limit, so that on a slow machine every block has fewer rounds, rather than the last ones
/// none. Work is expected to take as many times longer as all work until now.
#[derive(Debug)]
pub(super) struct TimeLimit {
    /// The limit, in nanoseconds since the run began; `None` without one.
    most_ns: Option<u64>,
    /// Expected duration of the whole plan, in nanoseconds.
    about_ns: u64,
    /// Expected duration of the blocks until now, the present one included, in nanoseconds.
    blocks_ns: u64,
    /// Expected duration of all work that was done, in nanoseconds.
    done_ns: u64,
}

impl TimeLimit {
    pub(super) fn of(plan: &Plan) -> Self {
        let about_ns = about::about_ns(plan);
        Self {
            most_ns: plan.at_most_ns,
            about_ns,
            blocks_ns: about_ns.saturating_sub(about::of_blocks_ns(plan)),
            done_ns: 0,
        }
    }

    /// Begins a block.
    pub(super) fn begin_block(&mut self, block: &CaseBlock) {
        self.blocks_ns = self.blocks_ns.saturating_add(about::block_ns(block));
    }

    /// Adds work with this expected duration to what is done.
    pub(super) fn done(&mut self, expected_ns: u64) {
        self.done_ns = self.done_ns.saturating_add(expected_ns);
    }

    /// Whether work of the present block with this expected duration may begin at `now_ns`.
    pub(super) fn permits(&self, now_ns: u64, expected_ns: u64) -> bool {
        let share = self.blocks_ns as f64 / self.about_ns.max(1) as f64;
        self.most_ns.is_none_or(|most_ns| self.end(now_ns, expected_ns) <= share.min(1.0) * most_ns as f64)
    }

    /// Whether work may be repeated that is expected to take `expected_ns`, when so much of the plan is left: there must be time
    /// for the rest even if that takes half as long again as what is done, since a first round is worth more than a repeated
    /// one.
    pub(super) fn permits_repeat(&self, now_ns: u64, left_ns: u64, expected_ns: u64) -> bool {
        let end = self.end(now_ns, (left_ns / 2).saturating_mul(3).saturating_add(expected_ns));
        self.most_ns.is_none_or(|most_ns| end <= most_ns as f64)
    }

    /// Expected end of work, in nanoseconds: at the pace until now, if that is slower than planned.
    fn end(&self, now_ns: u64, expected_ns: u64) -> f64 {
        let pace = if self.done_ns == 0 { 1.0 } else { now_ns as f64 / self.done_ns as f64 };
        now_ns as f64 + expected_ns as f64 * pace.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_driver::SECOND;

    /// A plan of two blocks of 50 s each, with a limit of 150 s, of which the first block is run.
    fn limit(done_s: u64) -> TimeLimit {
        let most_ns = Some(150 * SECOND);
        TimeLimit { most_ns, about_ns: 100 * SECOND, blocks_ns: 50 * SECOND, done_ns: done_s * SECOND }
    }

    /// `quick` took 17 minutes next to one busy loop, where up to 11 were announced.
    #[test]
    fn a_slow_machine_has_fewer_rounds_and_not_more_time() {
        let permits = |done_s, now_s, next_s| limit(done_s).permits(now_s * SECOND, next_s * SECOND);
        assert!(permits(0, 0, 50) && permits(49, 49, 1));
        // Its share is 75 s. At half the planned speed 10 s take 20.
        assert!(permits(25, 50, 10) && !permits(30, 60, 10));
        assert!(!permits(50, 75, 1));
        let mut second = limit(50);
        second.blocks_ns *= 2;
        assert!(second.permits(75 * SECOND, 10 * SECOND), "each block has a share");
        let unlimited = TimeLimit { most_ns: None, ..limit(30) };
        assert!(unlimited.permits(1_000 * SECOND, SECOND) && unlimited.permits_repeat(1_000 * SECOND, SECOND, SECOND));
    }

    #[test]
    fn rounds_are_repeated_only_if_all_that_is_left_fits_too() {
        let repeats = |now_s, left_s| limit(50).permits_repeat(now_s * SECOND, left_s * SECOND, 10 * SECOND);
        assert!(repeats(50, 50) && repeats(50, 60) && !repeats(50, 62), "60 s are taken for 90");
        assert!(repeats(100, 10) && !repeats(100, 20), "at half the planned speed 10 s and 15 s take 50");
    }
}
