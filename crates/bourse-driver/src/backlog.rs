//! What a schedule has made due and nobody has started yet: bounded, so that an overload is told in full and costs no memory.

use crate::{Control, Nanos, Pacer};
use bourse_record::Arrivals;
use std::collections::VecDeque;

/// What waits for one user. Empty for ever where operations are due when the user is free.
#[derive(Debug)]
pub(crate) struct Backlog {
    pacer: Pacer,
    /// The next moment that has not come yet.
    ahead: Option<Nanos>,
    waiting: VecDeque<Nanos>,
    limit: usize,
    seen: Arrivals,
    /// When what was handed out last is due.
    in_hand: Option<Nanos>,
    /// Whether it has not been started.
    waits: bool,
    /// From due to end, of what ended in the measurement interval, added up.
    response_ns: Nanos,
}

impl Backlog {
    /// Operations that room is made for before the first comes: 128 KiB.
    const ROOM: usize = 16_384;

    /// What a pacer makes due, at most `limit` of it waiting.
    pub(crate) fn new(mut pacer: Pacer, limit: usize) -> Self {
        let ahead = pacer.next_due();
        // Room at once for what usually may wait: a queue that grows does so in the middle of an overload.
        let waiting = VecDeque::with_capacity(if ahead.is_some() { limit.min(Self::ROOM) } else { 0 });
        let seen = Arrivals { backlog_limit: limit as u64, ..Arrivals::default() };
        Self { pacer, ahead, waiting, limit, seen, in_hand: None, waits: false, response_ns: 0 }
    }

    /// Lets arrive what has become due until `now`; what finds the queue full is dropped, and `dropped` hears of each due in
    /// the measurement interval.
    ///
    /// A user serves one at a time, so that the queue only grows while it is busy: looking at it afterwards shows what every
    /// arrival found.
    pub(crate) fn arrive(&mut self, now: Nanos, control: &Control, mut dropped: impl FnMut()) {
        // What comes after the interval nobody starts any more. The end is looked at for each: passing over what a high rate has
        // made due may take longer than it took to become due, and an interruption must end it.
        while let Some(due) = self.ahead.filter(|&due| due <= now && !control.draining(due)) {
            self.ahead = self.pacer.next_due();
            if self.waiting.len() < self.limit {
                self.waiting.push_back(due);
                continue;
            }
            if control.measures(due) {
                self.seen.due += 1;
                self.seen.dropped += 1;
                dropped();
            }
        }
        self.seen.backlog_longest = self.seen.backlog_longest.max(self.waiting.len() as u64);
    }

    /// When what is to be done next is due: the longest waiting, or else what the schedule will make due.
    pub(crate) fn next(&mut self) -> Option<Nanos> {
        let next = self.waiting.pop_front().or_else(|| std::mem::replace(&mut self.ahead, self.pacer.next_due()));
        (self.in_hand, self.waits) = (next, next.is_some());
        next
    }

    /// Lets what was handed out be due at another moment, which the user said.
    pub(crate) fn overrule(&mut self, due: Nanos) {
        self.in_hand = self.in_hand.map(|_| due);
    }

    /// Number of waiting operations.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Notes that what was due then was started.
    pub(crate) fn started(&mut self, due: Nanos, control: &Control) {
        let counted = u64::from(control.measures(due));
        self.seen.due += counted;
        self.seen.started += counted;
        self.waits = false;
    }

    /// Notes that what was handed out last has ended.
    pub(crate) fn finished(&mut self, end: Nanos, measured: bool) {
        if let Some(due) = self.in_hand.filter(|_| measured) {
            self.response_ns += end.saturating_sub(due);
        }
    }

    /// From due to end, of all that ended in the measurement interval, added up; none without a schedule.
    pub(crate) fn response_ns(&self) -> Option<Nanos> {
        self.ahead.map(|_| self.response_ns)
    }

    /// What became of everything; none without a schedule.
    pub(crate) fn ended(mut self, control: &Control) -> Option<Arrivals> {
        self.ahead?;
        let to = control.measure_to();
        let coming = std::iter::from_fn(|| std::mem::replace(&mut self.ahead, self.pacer.next_due()));
        let in_hand = self.in_hand.filter(|_| self.waits);
        let left = in_hand.into_iter().chain(self.waiting).chain(coming).take_while(|&due| due < to);
        let unstarted = left.filter(|&due| control.measures(due)).count() as u64;
        self.seen.due += unstarted;
        self.seen.unstarted = unstarted;
        Some(self.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, SECOND, Schedule};

    #[test]
    fn what_finds_the_queue_full_is_dropped_and_the_rest_keeps_its_place() {
        let control = Control::new(&Plan { warm_up_ns: 0, measure_ns: SECOND, ..Plan::default() }, 0);
        let mut backlog = Backlog::new(Schedule::Constant { per_second: 10.0 }.pacer(0), 3);
        let mut dropped = 0;
        backlog.arrive(SECOND / 2, &control, || dropped += 1);
        // Six have come: 0, 0.1 … 0.5 s.
        assert_eq!((backlog.waiting(), dropped), (3, 3));
        for tenth in [0, 1, 2, 6] {
            let due = backlog.next().unwrap();
            assert_eq!(due, tenth * SECOND / 10);
            backlog.started(due, &control);
            backlog.finished(due + 5, true);
        }
        // One more is handed out, and not started.
        backlog.next();
        assert_eq!(backlog.response_ns(), Some(4 * 5));
        let seen = backlog.ended(&control).unwrap();
        let expected = Arrivals { due: 10, started: 4, dropped: 3, unstarted: 3, backlog_limit: 3, backlog_longest: 3 };
        assert_eq!(seen, expected);
    }

    #[test]
    fn without_a_schedule_nothing_waits() {
        let control = Control::new(&Plan::default(), 0);
        let mut backlog = Backlog::new(Schedule::Closed.pacer(0), 3);
        backlog.arrive(9 * SECOND, &control, || panic!("nothing can be dropped"));
        assert_eq!((backlog.next(), backlog.waiting()), (None, 0));
        assert_eq!(backlog.ended(&control), None);
    }
}
