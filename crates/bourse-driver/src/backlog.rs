//! Operations that a schedule has made due and no user has started yet: bounded, so that an overload is counted in full
//! and costs no memory.
//!
//! [`DueOperations`] belong to one user, or to an [`ArrivalStream`] that several users share; a [`Backlog`] is one user's view of
//! them.

use crate::{Nanos, Pacer, RoundControl, RoundPlan, Schedule};
use bourse_record::Arrivals;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Due operations that wait, and the next one to come.
#[derive(Debug)]
struct DueOperations {
    pacer: Pacer,
    /// Next due time that has not been reached.
    ahead: Option<Nanos>,
    waiting: VecDeque<Nanos>,
    limit: usize,
    longest: usize,
}

impl DueOperations {
    /// Initial capacity in operations: 128 KiB.
    const INITIAL_CAPACITY: usize = 16_384;

    fn new(mut pacer: Pacer, limit: usize) -> Self {
        let ahead = pacer.next_due();
        // Capacity for a usual backlog from the start: a queue that grows would do so in the middle of an overload.
        let waiting = VecDeque::with_capacity(if ahead.is_some() { limit.min(Self::INITIAL_CAPACITY) } else { 0 });
        Self { pacer, ahead, waiting, limit, longest: 0 }
    }

    /// Moves operations due until `now` into the queue. Returns the number of those due in the measurement interval
    /// that found it full.
    fn arrive(&mut self, now: Nanos, control: &RoundControl) -> u64 {
        let mut dropped = 0;
        // Operations after the interval are never started. The end is examined for each operation: skipping those that
        // a high rate has made due may take longer than they took to become due, and an interruption must end it.
        while let Some(due) = self.ahead.filter(|&due| due <= now && !control.draining(due)) {
            self.ahead = self.pacer.next_due();
            if self.waiting.len() < self.limit {
                self.waiting.push_back(due);
            } else if control.measures(due) {
                dropped += 1;
            }
        }
        self.longest = self.longest.max(self.waiting.len());
        dropped
    }

    /// Due time of the next operation: the longest waiting, or else the next of the schedule.
    fn next(&mut self) -> Option<Nanos> {
        self.waiting.pop_front().or_else(|| std::mem::replace(&mut self.ahead, self.pacer.next_due()))
    }

    /// Operations due in the measurement interval that no user took, with the limit of the queue.
    fn left(&mut self, control: &RoundControl) -> Arrivals {
        let to = control.measure_to();
        let coming = std::iter::from_fn(|| std::mem::replace(&mut self.ahead, self.pacer.next_due()));
        let left = self.waiting.drain(..).chain(coming).take_while(|&due| due < to);
        let mut measured = left.filter(|&due| control.measures(due));
        // The first has waited longest.
        let first = measured.next();
        let unstarted = u64::from(first.is_some()) + measured.count() as u64;
        Arrivals {
            due: unstarted,
            unstarted,
            unstarted_ns_longest: first.map_or(0, |due| to - due),
            backlog_limit: self.limit as u64,
            backlog_longest: self.longest as u64,
            ..Arrivals::default()
        }
    }
}

/// Arrivals that several users share: the next free user takes the next one.
#[derive(Debug)]
pub(crate) struct ArrivalStream {
    queue: Mutex<DueOperations>,
    /// Whether a user reports the length of the queue: one does, so that no arrival is counted twice.
    is_reported: AtomicBool,
}

impl ArrivalStream {
    /// A stream of the arrivals of a pacer; at most `limit` wait.
    pub(crate) fn new(pacer: Pacer, limit: usize) -> Self {
        Self { queue: Mutex::new(DueOperations::new(pacer, limit)), is_reported: AtomicBool::new(false) }
    }

    fn queue(&self) -> MutexGuard<'_, DueOperations> {
        self.queue.lock().expect("nothing panics while it holds this lock")
    }

    /// Operations due in the measurement interval that no user took.
    pub(crate) fn left(&self, control: &RoundControl) -> Arrivals {
        self.queue().left(control)
    }
}

/// Source of a user's operations.
#[derive(Debug)]
enum OperationSource<'s> {
    Own(DueOperations),
    Shared { stream: &'s ArrivalStream, reports: bool },
}

/// Operations that wait for one user. Always empty if operations are due when the user is free.
#[derive(Debug)]
pub(crate) struct Backlog<'s> {
    source: OperationSource<'s>,
    is_scheduled: bool,
    seen: Arrivals,
    /// Due time of the last operation handed out.
    in_hand: Option<Nanos>,
    /// Whether that operation has not been started.
    waits: bool,
    /// Sum of response times, of operations that ended in the measurement interval or were under way at its end.
    response_ns: Nanos,
}

impl<'s> Backlog<'s> {
    /// The backlog of a schedule for a user that begins at `now`.
    pub(crate) fn of(schedule: Schedule, plan: &RoundPlan, control: &'s RoundControl, now: Nanos) -> Self {
        let source = match schedule {
            Schedule::Shared { .. } => {
                let stream = control.stream(schedule, plan.backlog);
                OperationSource::Shared { stream, reports: !stream.is_reported.swap(true, Ordering::Relaxed) }
            }
            _ => OperationSource::Own(DueOperations::new(schedule.pacer(control.begin().max(now)), plan.backlog)),
        };
        let is_scheduled = match &source {
            OperationSource::Own(queue) => queue.ahead.is_some(),
            OperationSource::Shared { .. } => true,
        };
        Self { source, is_scheduled, seen: Arrivals::default(), in_hand: None, waits: false, response_ns: 0 }
    }

    fn with<R>(&mut self, ask: impl FnOnce(&mut DueOperations) -> R) -> R {
        match &mut self.source {
            OperationSource::Own(queue) => ask(queue),
            OperationSource::Shared { stream, .. } => ask(&mut stream.queue()),
        }
    }

    /// Queues arrivals until `now`. Arrivals that find the queue full are dropped; `dropped` is called for each of them
    /// due in the measurement interval.
    ///
    /// A user serves one operation at a time, so its own queue only grows while it is busy: examining the queue
    /// afterwards shows what every arrival found. A shared queue only grows while all of its users are busy.
    pub(crate) fn arrive(&mut self, now: Nanos, control: &RoundControl, mut dropped: impl FnMut()) {
        let count = self.with(|queue| queue.arrive(now, control));
        self.seen.due += count;
        self.seen.dropped += count;
        (0..count).for_each(|_| dropped());
    }

    /// Due time of the next operation: the longest waiting, or else the next of the schedule.
    pub(crate) fn next(&mut self) -> Option<Nanos> {
        let next = self.with(DueOperations::next);
        (self.in_hand, self.waits) = (next, next.is_some());
        next
    }

    /// Replaces the due time of the operation handed out last by one that the user chose.
    pub(crate) fn overrule(&mut self, due: Nanos) {
        self.in_hand = self.in_hand.map(|_| due);
    }

    /// Number of waiting operations; for shared ones, one user returns it and the others 0.
    pub(crate) fn waiting(&self) -> u64 {
        match &self.source {
            OperationSource::Own(queue) => queue.waiting.len() as u64,
            OperationSource::Shared { stream, reports: true } => stream.queue().waiting.len() as u64,
            OperationSource::Shared { .. } => 0,
        }
    }

    /// Records that an operation due at `due` was started at `now`.
    pub(crate) fn started(&mut self, due: Nanos, now: Nanos, control: &RoundControl) {
        let counted = u64::from(control.measures(due));
        self.seen.due += counted;
        self.seen.started += counted;
        self.seen.started_of_warm_up += u64::from(counted == 0 && control.measures(now));
        self.waits = false;
    }

    /// Records that the operation handed out last has ended, and whether its time counts.
    pub(crate) fn finished(&mut self, end: Nanos, counted: bool) {
        if let Some(due) = self.in_hand.filter(|_| counted) {
            self.response_ns += end.saturating_sub(due);
        }
    }

    /// Sum of response times that count; `None` without a schedule.
    pub(crate) fn response_ns(&self) -> Option<Nanos> {
        self.is_scheduled.then_some(self.response_ns)
    }

    /// Outcomes of all arrivals of this user; `None` without a schedule.
    pub(crate) fn ended(mut self, control: &RoundControl) -> Option<Arrivals> {
        if !self.is_scheduled {
            return None;
        }
        let in_hand = self.in_hand.filter(|&due| self.waits && control.measures(due));
        let unstarted = u64::from(in_hand.is_some());
        self.seen.due += unstarted;
        self.seen.unstarted += unstarted;
        self.seen.unstarted_ns_longest = in_hand.map_or(0, |due| control.measure_to().saturating_sub(due));
        if let OperationSource::Own(queue) = &mut self.source {
            let left = queue.left(control);
            self.seen.due += left.due;
            self.seen.unstarted += left.unstarted;
            self.seen.unstarted_ns_longest = self.seen.unstarted_ns_longest.max(left.unstarted_ns_longest);
            self.seen.backlog_limit = left.backlog_limit;
            self.seen.backlog_longest = left.backlog_longest;
        }
        Some(self.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RoundPlan, SECOND, Schedule};

    #[test]
    fn what_finds_the_queue_full_is_dropped_and_the_rest_keeps_its_place() {
        let control = RoundControl::new(&RoundPlan { warm_up_ns: 0, measure_ns: SECOND, ..RoundPlan::default() }, 0);
        let plan = RoundPlan { backlog: 3, ..RoundPlan::default() };
        let mut backlog = Backlog::of(Schedule::Constant { per_second: 10.0 }, &plan, &control, 0);
        let mut dropped = 0;
        backlog.arrive(SECOND / 2, &control, || dropped += 1);
        // Six have come: 0, 0.1 … 0.5 s.
        assert_eq!((backlog.waiting(), dropped), (3, 3));
        for tenth in [0, 1, 2, 6] {
            let due = backlog.next().unwrap();
            assert_eq!(due, tenth * SECOND / 10);
            backlog.started(due, due, &control);
            backlog.finished(due + 5, true);
        }
        // One more is handed out, and not started.
        backlog.next();
        assert_eq!(backlog.response_ns(), Some(4 * 5));
        let seen = backlog.ended(&control).unwrap();
        let expected = Arrivals {
            due: 10,
            started: 4,
            dropped: 3,
            unstarted: 3,
            backlog_limit: 3,
            backlog_longest: 3,
            unstarted_ns_longest: 3 * SECOND / 10,
            started_of_warm_up: 0,
            behind_ns: 0,
        };
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_the_warm_up_made_due_is_counted_apart_where_it_is_started() {
        let control =
            RoundControl::new(&RoundPlan { warm_up_ns: SECOND, measure_ns: SECOND, ..RoundPlan::default() }, 0);
        let mut backlog = Backlog::of(Schedule::Constant { per_second: 2.0 }, &RoundPlan::default(), &control, 0);
        backlog.arrive(2 * SECOND, &control, || panic!("there is room"));
        // Due at 0, 0.5, 1 and 1.5 s: the first is started in time, the second in the interval, the last not at all.
        for now in [0, 3 * SECOND / 2, 7 * SECOND / 4] {
            let due = backlog.next().unwrap();
            backlog.started(due, now, &control);
            backlog.finished(now, true);
        }
        let seen = backlog.ended(&control).unwrap();
        assert_eq!((seen.started_of_warm_up, seen.due, seen.started, seen.unstarted), (1, 2, 1, 1));
    }

    #[test]
    fn without_a_schedule_nothing_waits() {
        let control = RoundControl::new(&RoundPlan::default(), 0);
        let mut backlog = Backlog::of(Schedule::Closed, &RoundPlan::default(), &control, 0);
        backlog.arrive(9 * SECOND, &control, || panic!("nothing can be dropped"));
        assert_eq!((backlog.next(), backlog.waiting()), (None, 0));
        assert_eq!(backlog.ended(&control), None);
    }

    #[test]
    fn a_shared_stream_gives_each_arrival_to_one_user_and_counts_it_once() {
        let control = RoundControl::new(&RoundPlan { warm_up_ns: 0, measure_ns: SECOND, ..RoundPlan::default() }, 0);
        let plan = RoundPlan { backlog: 2, ..RoundPlan::default() };
        let shared = Schedule::Shared { per_second: 10.0, seed: None };
        let [mut one, mut other] = [0, 1].map(|_| Backlog::of(shared, &plan, &control, 0));
        // The next free user takes the next arrival, also before it is due.
        assert_eq!((one.next(), other.next()), (Some(0), Some(SECOND / 10)));
        one.started(0, 0, &control);
        one.finished(7, true);
        // One has a long operation at hand, so the other does all the rest, and nothing waits for a user that is busy.
        other.started(SECOND / 10, SECOND / 10, &control);
        for tenth in [2, 3] {
            other.arrive(tenth * SECOND / 10, &control, || panic!("there is room"));
            let due = other.next().unwrap();
            assert_eq!(due, tenth * SECOND / 10);
            other.started(due, due, &control);
        }
        // Both are busy: of 0.4, 0.5 and 0.6 s the last finds the queue full.
        let mut dropped = 0;
        one.arrive(6 * SECOND / 10, &control, || dropped += 1);
        assert_eq!((dropped, one.waiting() + other.waiting()), (1, 2), "waiting operations are told once");
        // One is handed 0.4 s, and never starts it; 0.5, 0.7, 0.8 and 0.9 s are left.
        assert_eq!(one.next(), Some(4 * SECOND / 10));
        let mut seen = [one.ended(&control), other.ended(&control), control.left_in_stream()].map(Option::unwrap);
        assert_eq!(
            seen.map(|it| (it.due, it.started, it.dropped, it.unstarted)),
            [(3, 1, 1, 1), (3, 3, 0, 0), (4, 0, 0, 4)]
        );
        seen.sort_by_key(|it| it.backlog_limit);
        assert_eq!((seen[1].backlog_limit, seen[2].backlog_limit, seen[2].backlog_longest), (0, 2, 2));
    }
}
