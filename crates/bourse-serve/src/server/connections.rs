//! Places for connections: how many there may be, and who leaves for a newcomer.
//!
//! A connection that has not said who it is has one of a few places, and for a few seconds. When they are taken, the oldest
//! that is silent is closed for the newcomer: however many hold their places in silence, who says at once who it is gets in.
//! Nobody is closed so before it had a moment to speak; newcomers wait for that in the system's queue.

use super::lock;
use crate::address::Peer;
use crate::stream::Stream;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Connections at a time that have not said who they are.
pub(super) const STRANGERS: usize = 32;
/// What a connection is given to say who it is before it may be closed for a newcomer.
const MOMENT: Duration = Duration::from_millis(250);

/// The connections of a server.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    admitted: usize,
    /// Those that have not said who they are, in the order in which they came.
    strangers: BTreeMap<u64, Stranger>,
    /// Those that were closed for a newcomer, and whose threads have not ended.
    leaving: usize,
    next: u64,
}

#[derive(Debug)]
struct Stranger {
    from: Peer,
    stream: Arc<Stream>,
    since: Instant,
}

/// What there is for a newcomer.
#[derive(Debug, PartialEq, Eq)]
enum Room {
    /// A place that nobody has.
    Free,
    /// The place of that stranger.
    Of(u64),
    /// A place in a moment: those who have the places have only just come.
    Soon,
    /// None: everybody is admitted.
    None,
}

impl State {
    fn room(&self, most: usize) -> Room {
        let open = self.admitted + self.strangers.len();
        if open < most && self.strangers.len() < STRANGERS {
            return Room::Free;
        }
        if self.strangers.is_empty() {
            return Room::None;
        }
        // Threads that are about to end are bounded too.
        if self.leaving >= STRANGERS {
            return Room::Soon;
        }
        let mut old = self.strangers.iter().filter(|(_, stranger)| stranger.since.elapsed() >= MOMENT);
        // Who has spoken is about to be heard. One whose bytes were read and are no whole message counts as silent.
        let silent = old.clone().find(|(_, stranger)| !stranger.stream.is_heard());
        silent.or_else(|| old.next()).map_or(Room::Soon, |(number, _)| Room::Of(*number))
    }
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// Whether a newcomer should be left in the queue for a moment.
    pub(super) fn are_taken(&self) -> bool {
        lock(&self.state).room(self.most) == Room::Soon
    }

    /// Takes a place; also gives who was closed for it.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn enter(&self, from: Peer, stream: &Arc<Stream>) -> Result<(Guest<'_>, Option<Peer>), String> {
        let mut state = lock(&self.state);
        let closed = match state.room(self.most) {
            Room::Free => None,
            Room::Of(number) => state.strangers.remove(&number).map(|stranger| {
                stranger.stream.close();
                state.leaving += 1;
                stranger.from
            }),
            Room::Soon => return Err("connections that have not said who they are have all the places".to_owned()),
            Room::None => return Err(format!("{} connections are open, the most there may be", state.admitted)),
        };
        let number = state.next;
        state.next += 1;
        state.strangers.insert(number, Stranger { from, stream: Arc::clone(stream), since: Instant::now() });
        drop(state);
        Ok((Guest { places: self, number, is_admitted: false, from }, closed))
    }
}

/// A connection that has a place.
#[derive(Debug)]
pub(super) struct Guest<'p> {
    places: &'p Places,
    number: u64,
    is_admitted: bool,
    pub(super) from: Peer,
}

impl Guest<'_> {
    /// It has said who it is. Whether it still has its place: it may have been closed for a newcomer at the same time.
    pub(super) fn admitted(&mut self) -> bool {
        let mut state = lock(&self.places.state);
        self.is_admitted = state.strangers.remove(&self.number).is_some();
        state.admitted += usize::from(self.is_admitted);
        self.is_admitted
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.places.state);
        if self.is_admitted {
            state.admitted -= 1;
        } else if state.strangers.remove(&self.number).is_none() {
            state.leaving -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    const HERE: Peer = Peer::Unix { process: 1, user: 1 };

    /// A connection, and its other end.
    fn pair() -> (Arc<Stream>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Arc::new(Stream::Unix(ours)), theirs)
    }

    /// Has everybody been there for a while.
    fn age(places: &Places) {
        lock(&places.state).strangers.values_mut().for_each(|it| it.since -= MOMENT);
    }

    #[test]
    fn the_oldest_silent_one_leaves_for_a_newcomer() {
        use std::io::Write as _;
        let places = Places::new(100);
        let mut lines: Vec<_> = (0..STRANGERS).map(|_| pair()).collect();
        let peer = |process: usize| Peer::Unix { process: process as u32, user: 1 };
        let mut guests: Vec<_> = lines
            .iter()
            .enumerate()
            .map(|(at, (stream, _))| {
                let (guest, closed) = places.enter(peer(at), stream).unwrap();
                assert_eq!(closed, None);
                guest
            })
            .collect();
        assert!(places.are_taken(), "those who have just come are left a moment");
        assert!(places.enter(HERE, &pair().0).is_err());
        age(&places);
        assert!(!places.are_taken());
        // The first has spoken: it is about to be heard.
        lines[0].1.write_all(b"hello").unwrap();
        let newcomer = pair();
        let (_guest, closed) = places.enter(HERE, &newcomer.0).unwrap();
        assert_eq!(closed, Some(peer(1)));
        assert!(lines[1].0.is_heard(), "its connection has ended, which wakes its thread");
        assert!(!guests[1].admitted(), "what it says now comes too late");
        assert!(guests[0].admitted());
        // Once all have spoken, the oldest leaves.
        for (_, theirs) in &mut lines[2..] {
            theirs.write_all(b"hello").unwrap();
        }
        let more = [pair(), pair()];
        let (_free, closed) = places.enter(HERE, &more[0].0).unwrap();
        assert_eq!(closed, None, "the place of the one that was admitted");
        let (_instead, closed) = places.enter(HERE, &more[1].0).unwrap();
        assert_eq!(closed, Some(peer(2)));
        drop(guests);
        let state = lock(&places.state);
        assert_eq!((state.admitted, state.leaving, state.strangers.len()), (0, 0, 3));
    }

    #[test]
    fn who_is_admitted_leaves_for_nobody() {
        let places = Places::new(2);
        let lines = [pair(), pair(), pair()];
        let (mut first, _) = places.enter(HERE, &lines[0].0).unwrap();
        let (mut second, _) = places.enter(HERE, &lines[1].0).unwrap();
        assert!(first.admitted());
        assert!(places.are_taken());
        assert!(second.admitted());
        assert!(!places.are_taken(), "nobody leaves soon, so a newcomer is told at once");
        let refused = places.enter(HERE, &lines[2].0).unwrap_err();
        assert_eq!(refused, "2 connections are open, the most there may be");
        drop(first);
        assert!(places.enter(HERE, &lines[2].0).is_ok());
    }
}
