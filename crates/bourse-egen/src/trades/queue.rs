use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Queue of items ordered by time, the earliest first; no two times are equal.
#[derive(Debug)]
pub(super) struct TimeQueue<T> {
    /// Times as bits, in whose order positive doubles are too.
    times: BinaryHeap<Reverse<(u64, u32)>>,
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> TimeQueue<T> {
    pub(super) fn new() -> Self {
        Self { times: BinaryHeap::new(), places: Vec::new(), free: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether no item is due at or before a time.
    pub(super) fn first_after(&self, time: f64) -> bool {
        self.times.peek().is_none_or(|Reverse((bits, _))| time < f64::from_bits(*bits))
    }

    pub(super) fn push(&mut self, time: f64, thing: T) {
        debug_assert!(time >= 0.0, "{time} s would be out of order");
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() as u32 - 1
        });
        self.places[place as usize] = Some(thing);
        self.times.push(Reverse((time.to_bits(), place)));
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let Reverse((_, place)) = self.times.pop()?;
        self.free.push(place);
        self.places[place as usize].take()
    }
}
