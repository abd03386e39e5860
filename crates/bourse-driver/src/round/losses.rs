//! Nodes of a database lost during a round: name, time, and the longest pause without a completed operation afterwards.

use crate::{Nanos, SECOND};
use bourse_engine::NodeLosses;
use bourse_record::Warning;

/// Watches an engine's nodes.
#[derive(Debug)]
pub(super) struct Losses {
    /// Losses of each node at the last look.
    known: Vec<NodeLosses>,
    lost: Vec<LostNode>,
    /// Number of valid completions, and the time of its last change.
    ended: u64,
    since: Nanos,
}

#[derive(Debug)]
struct LostNode {
    node: String,
    at: Nanos,
    /// Longest time without a completed operation, of the pauses that were not over when the node was lost.
    pause: Nanos,
}

impl Losses {
    /// Starts from the known losses, which precede the round.
    pub(super) fn new(known: Vec<NodeLosses>, begin: Nanos) -> Self {
        Self { known, lost: Vec::new(), ended: 0, since: begin }
    }

    /// Takes a look at the nodes; `ended` is the number of valid completions until `now`.
    pub(super) fn pass(&mut self, now: Nanos, ended: u64, nodes: Vec<NodeLosses>) {
        let pause = now.saturating_sub(self.since);
        for lost in &mut self.lost {
            lost.pause = lost.pause.max(pause);
        }
        for node in &nodes {
            let before = self.known.iter().find(|known| known.node == node.node).map_or(0, |known| known.times);
            if node.times > before {
                self.lost.push(LostNode { node: node.node.clone(), at: now, pause });
            }
        }
        self.known = nodes;
        if ended != self.ended {
            (self.ended, self.since) = (ended, now);
        }
    }

    /// A warning of each node that was lost; `in_doubt` operations of the round have an unknown outcome.
    pub(super) fn warnings(self, begin: Nanos, in_doubt: u64) -> impl Iterator<Item = Warning> {
        let seconds = |time: Nanos| time as f64 / SECOND as f64;
        self.lost.into_iter().map(move |lost| Warning::NodeLost {
            node: lost.node,
            after_s: seconds(lost.at.saturating_sub(begin)),
            pause_s: seconds(lost.pause),
            in_doubt,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(n1: u64, n2: u64) -> Vec<NodeLosses> {
        [("n1", n1), ("n2", n2)].map(|(node, times)| NodeLosses { node: node.to_owned(), times }).into()
    }

    #[test]
    fn a_loss_is_told_with_its_time_and_the_longest_pause_from_then_on() {
        const BEGIN: Nanos = 100 * SECOND;
        let mut losses = Losses::new(times(1, 0), BEGIN);
        for (at, ended, n2) in [
            // A pause that is over before the loss is none of it.
            (5, 10, 0),
            (6, 20, 0),
            // It had begun a second before the loss was seen.
            (7, 20, 1),
            (10, 20, 1),
            (11, 30, 1),
            (13, 40, 1),
        ] {
            losses.pass(BEGIN + at * SECOND, ended, times(1, n2));
        }
        let told: Vec<_> = losses.warnings(BEGIN, 3).collect();
        assert_eq!(told, [Warning::NodeLost { node: "n2".to_owned(), after_s: 7.0, pause_s: 5.0, in_doubt: 3 }]);
    }

    #[test]
    fn a_node_that_is_lost_twice_is_told_twice() {
        let mut losses = Losses::new(times(0, 0), 0);
        for (at, n1) in [(1, 1), (2, 1), (3, 2)] {
            losses.pass(at * SECOND, at, times(n1, 0));
        }
        assert_eq!(losses.warnings(0, 0).count(), 2);
        let mut losses = Losses::new(times(0, 0), 0);
        losses.pass(SECOND, 1, times(0, 0));
        assert_eq!(losses.warnings(0, 0).count(), 0);
    }
}
