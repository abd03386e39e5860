//! Timers in the slots of a wheel that turns with the clock, with all the reference's peculiarities (EGen
//! `CTimerWheel`).
//!
//! A slot holds every timer due at a position of the clock modulo the number of slots; timers do not store their turn.
//! Hence three peculiarities: a delay of less than one slot goes to the slot that was just emptied and waits a whole
//! turn; so does one of exactly a turn; and while such a timer waits in the current slot, the time to the next timer is
//! 0.

/// A wheel of timers, each carrying a `T` that is returned when the timer fires.
///
/// ```
/// use bourse_egen::driver::market::timer_wheel::TimerWheel;
/// let mut wheel = TimerWheel::new(5_000, 1, 0);
/// let mut fired = Vec::new();
/// assert_eq!(wheel.start(0, 1.5, "result", &mut fired), 1_500);
/// wheel.expire(1_499, &mut fired);
/// assert!(fired.is_empty());
/// wheel.expire(1_500, &mut fired);
/// assert_eq!(fired, ["result"]);
/// ```
#[derive(Debug, Clone)]
pub struct TimerWheel<T> {
    slots: Vec<Vec<T>>,
    /// A bit for each slot that is not empty, so that the next one is found without walking thousands of slots.
    occupied: Vec<u64>,
    slot_ms: i64,
    origin_ms: i64,
    /// The last position whose slot was emptied.
    last: i64,
    /// Position of the next timer, as far as known without regard to turns.
    next_due: Option<i64>,
    waiting: usize,
}

impl<T> TimerWheel<T> {
    /// A wheel of `slots` slots of `slot_ms` milliseconds, a divisor of 1000, that starts to turn at `now_ms`.
    pub fn new(slots: usize, slot_ms: i64, now_ms: i64) -> Self {
        Self {
            slots: std::iter::repeat_with(Vec::new).take(slots).collect(),
            occupied: vec![0; slots.div_ceil(64)],
            slot_ms,
            origin_ms: now_ms,
            last: 0,
            next_due: None,
            waiting: 0,
        }
    }

    /// Number of waiting timers.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Starts a timer of `delay_s` seconds, truncated to whole slots; first moves timers due by now to the end of
    /// `fired`.
    ///
    /// Returns the number of slots until the next timer.
    pub fn start(&mut self, now_ms: i64, delay_s: f64, timer: T, fired: &mut Vec<T>) -> i64 {
        let slots_a_second = 1_000 / self.slot_ms;
        let now = self.position(now_ms);
        let requested = now + (delay_s * slots_a_second as f64) as i64;
        self.expire(now_ms, fired);
        let slot = self.slot(requested);
        self.slots[slot].push(timer);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.waiting += 1;
        let next = self.next_due.map_or(requested, |next| next.min(requested));
        self.next_due = Some(next);
        next - now
    }

    /// Moves timers due by now to the end of `fired`, in order of time and, within a slot, of starting.
    ///
    /// Returns the number of slots until the next timer; `None` if none waits.
    pub fn expire(&mut self, now_ms: i64, fired: &mut Vec<T>) -> Option<i64> {
        let now = self.position(now_ms);
        if self.waiting > 0 {
            // After more than a turn of silence one turn empties every slot, in the same order as walking all of it.
            let upto = now.min(self.last + self.slots.len() as i64);
            let mut at = self.last + 1;
            while let Some(due) = self.first_occupied(at).filter(|&due| due <= upto) {
                let slot = self.slot(due);
                self.waiting -= self.slots[slot].len();
                fired.append(&mut self.slots[slot]);
                self.occupied[slot / 64] &= !(1 << (slot % 64));
                at = due + 1;
            }
        }
        self.last = now;
        self.next_due = self.first_occupied(now);
        self.next_due.map(|next| next - now)
    }

    /// Position of the clock on the wheel; if the clock was set back, the position is constant until it has caught up.
    fn position(&self, now_ms: i64) -> i64 {
        ((now_ms - self.origin_ms) / self.slot_ms).max(self.last)
    }

    fn slot(&self, position: i64) -> usize {
        (position % self.slots.len() as i64) as usize
    }

    /// The first position from `at` on, within a turn, whose slot is not empty.
    fn first_occupied(&self, at: i64) -> Option<i64> {
        if self.waiting == 0 {
            return None;
        }
        let start = self.slot(at);
        let words = self.occupied.len();
        let from_start = self.occupied[start / 64] & (!0 << (start % 64));
        // The word of the start comes twice: its upper part first, and whole after all others.
        let slot = std::iter::once((start / 64, from_start))
            .chain((1..=words).map(|step| (start / 64 + step) % words).map(|word| (word, self.occupied[word])))
            .find(|&(_, bits)| bits != 0)
            .map(|(word, bits)| word * 64 + bits.trailing_zeros() as usize)?;
        let turn = self.slots.len();
        Some(at + ((slot + turn - start) % turn) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wheel of `slots` slots of 1 ms that started at 0, and the timers fired so far.
    struct Bench(TimerWheel<u32>, Vec<u32>);

    impl Bench {
        fn new(slots: usize) -> Self {
            Self(TimerWheel::new(slots, 1, 0), Vec::new())
        }
        fn start(&mut self, now: i64, delay_ms: f64, timer: u32) -> i64 {
            self.0.start(now, delay_ms / 1_000.0, timer, &mut self.1)
        }
        fn expire(&mut self, now: i64) -> (Option<i64>, Vec<u32>) {
            let next = self.0.expire(now, &mut self.1);
            (next, std::mem::take(&mut self.1))
        }
    }

    #[test]
    fn timers_fire_in_order_of_time_then_of_starting() {
        let mut wheel = Bench::new(5_000);
        assert_eq!(wheel.expire(3), (None, vec![]));
        assert_eq!(wheel.start(10, 20.5, 1), 20);
        assert_eq!(wheel.start(10, 5.25, 2), 5);
        assert_eq!(wheel.start(12, 3.5, 3), 3);
        assert_eq!(wheel.expire(14), (Some(1), vec![]));
        assert_eq!(wheel.expire(15), (Some(15), vec![2, 3]));
        assert_eq!(wheel.expire(4_000), (None, vec![1]));
        assert_eq!(wheel.0.waiting(), 0);
    }

    #[test]
    fn a_delay_under_a_slot_waits_a_turn() {
        let mut wheel = Bench::new(5_000);
        assert_eq!(wheel.start(7, 0.9, 1), 0);
        assert_eq!(wheel.expire(7), (Some(0), vec![]));
        assert_eq!(wheel.expire(8), (Some(4_999), vec![]));
        assert_eq!(wheel.expire(5_006), (Some(1), vec![]));
        assert_eq!(wheel.expire(5_007), (None, vec![1]));
    }

    #[test]
    fn a_delay_of_a_turn_hides_in_the_slot_of_now() {
        let mut wheel = Bench::new(5_000);
        assert_eq!(wheel.start(7, 5_000.0, 1), 5_000);
        assert_eq!(wheel.expire(7), (Some(0), vec![]));
        assert_eq!(wheel.expire(5_007), (None, vec![1]));
    }

    #[test]
    fn silence_longer_than_a_turn_empties_the_wheel_once_in_order() {
        let mut wheel = Bench::new(100);
        for (delay, timer) in [(60.5, 1), (10.5, 2), (99.5, 3)] {
            wheel.start(50, delay, timer);
        }
        assert_eq!(wheel.expire(1_000_000), (None, vec![2, 1, 3]));
    }

    #[test]
    fn a_clock_set_back_stands_still() {
        let mut wheel = Bench::new(100);
        wheel.start(50, 10.5, 1);
        assert_eq!(wheel.expire(55), (Some(5), vec![]));
        assert_eq!(wheel.expire(20), (Some(5), vec![]));
        assert_eq!(wheel.expire(60), (None, vec![1]));
    }

    /// Compares the wheel with one that visits every slot, for the same sequence of calls.
    #[test]
    fn skipping_empty_slots_changes_nothing() {
        struct WalkingWheel {
            slots: Vec<Vec<u32>>,
            last: i64,
        }
        impl WalkingWheel {
            fn expire(&mut self, now: i64) -> (Option<i64>, Vec<u32>) {
                let n = self.slots.len() as i64;
                let mut fired = Vec::new();
                for at in self.last + 1..=now {
                    fired.append(&mut self.slots[(at % n) as usize]);
                }
                self.last = now;
                let next = (0..n).find(|step| !self.slots[((now + step) % n) as usize].is_empty());
                (next, fired)
            }
        }
        let mut wheel = Bench::new(130);
        let mut walking = WalkingWheel { slots: vec![Vec::new(); 130], last: 0 };
        let mut state = 12_345_u64;
        let mut draw = |upto: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % upto
        };
        let mut now = 0;
        for timer in 0..5_000 {
            now += draw(40) as i64 * i64::from(draw(9) == 0) * 9 + draw(3) as i64;
            if draw(2) == 0 {
                let delay = draw(131) as f64 + 0.5;
                let mut expected = walking.expire(now).1;
                walking.slots[((now + delay as i64) % 130) as usize].push(timer);
                wheel.start(now, delay, timer);
                let fired = std::mem::take(&mut wheel.1);
                assert_eq!(fired, std::mem::take(&mut expected), "call {timer}");
            } else {
                assert_eq!(wheel.expire(now), walking.expire(now), "call {timer}");
            }
        }
    }
}
