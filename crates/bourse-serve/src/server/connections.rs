//! Limits of open connections and of unauthenticated ones.
//!
//! Only a few connections may be unauthenticated at a time, and each for a few seconds. At the limit, the oldest silent one is
//! closed for a new connection: silent connections, however many, cannot keep out a client that authenticates immediately. None
//! is closed before it had a moment to authenticate; until then new connections wait in the system's queue.

use super::lock;
use crate::address::Peer;
use crate::stream::Stream;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Largest number of unauthenticated connections at a time.
pub(super) const MOST_UNAUTHENTICATED: usize = 32;
/// Time within which a connection must authenticate, if it is not to be closed for a new one.
const MOMENT: Duration = Duration::from_millis(250);

/// Open connections of a server, within their limits.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    state: Mutex<ConnectionCounts>,
}

#[derive(Debug, Default)]
struct ConnectionCounts {
    admitted: usize,
    /// Unauthenticated connections, in the order in which they came.
    unauthenticated: BTreeMap<u64, Unauthenticated>,
    /// Number of connections that were closed for a new one, and whose threads have not ended.
    leaving: usize,
    next: u64,
}

#[derive(Debug)]
struct Unauthenticated {
    from: Peer,
    stream: Arc<Stream>,
    since: Instant,
}

/// Room for a new connection.
#[derive(Debug, PartialEq, Eq)]
enum Room {
    /// Room is free.
    Free,
    /// Room is free if this unauthenticated connection is closed.
    Of(u64),
    /// Room will be free in a moment: the unauthenticated connections have only just come.
    Soon,
    /// No room: all connections are admitted.
    None,
}

impl ConnectionCounts {
    fn room(&self, most: usize) -> Room {
        let open = self.admitted + self.unauthenticated.len();
        if open < most && self.unauthenticated.len() < MOST_UNAUTHENTICATED {
            return Room::Free;
        }
        if self.unauthenticated.is_empty() {
            return Room::None;
        }
        // Threads that are about to end are bounded too.
        if self.leaving >= MOST_UNAUTHENTICATED {
            return Room::Soon;
        }
        let mut old = self.unauthenticated.iter().filter(|(_, pending)| pending.since.elapsed() >= MOMENT);
        // One that has sent something is about to be read. One whose bytes were read and are no whole message counts as silent.
        let silent = old.clone().find(|(_, pending)| !pending.stream.has_input());
        silent.or_else(|| old.next()).map_or(Room::Soon, |(number, _)| Room::Of(*number))
    }
}

impl Connections {
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// Whether a new connection should be left in the system's queue for a moment.
    pub(super) fn are_taken(&self) -> bool {
        lock(&self.state).room(self.most) == Room::Soon
    }

    /// Counts a new connection; also returns the peer whose connection was closed for it.
    ///
    /// # Errors
    /// The reason why there is no room.
    pub(super) fn enter(&self, from: Peer, stream: &Arc<Stream>) -> Result<(Connection<'_>, Option<Peer>), String> {
        let mut state = lock(&self.state);
        let closed = match state.room(self.most) {
            Room::Free => None,
            Room::Of(number) => state.unauthenticated.remove(&number).map(|pending| {
                pending.stream.close();
                state.leaving += 1;
                pending.from
            }),
            Room::Soon => return Err("too many unauthenticated connections".to_owned()),
            Room::None => return Err(format!("{} connections are open, the limit", state.admitted)),
        };
        let number = state.next;
        state.next += 1;
        state
            .unauthenticated
            .insert(number, Unauthenticated { from, stream: Arc::clone(stream), since: Instant::now() });
        drop(state);
        Ok((Connection { limits: self, number, is_admitted: false, from }, closed))
    }
}

/// Open connection, counted until it is dropped.
#[derive(Debug)]
pub(super) struct Connection<'p> {
    limits: &'p Connections,
    number: u64,
    is_admitted: bool,
    pub(super) from: Peer,
}

impl Connection<'_> {
    /// Marks the connection as authenticated; false if it was closed for a new one at the same time.
    pub(super) fn admitted(&mut self) -> bool {
        let mut state = lock(&self.limits.state);
        self.is_admitted = state.unauthenticated.remove(&self.number).is_some();
        state.admitted += usize::from(self.is_admitted);
        self.is_admitted
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.limits.state);
        if self.is_admitted {
            state.admitted -= 1;
        } else if state.unauthenticated.remove(&self.number).is_none() {
            state.leaving -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    const HERE: Peer = Peer::Unix { process: 1, user: 1 };

    /// Connection, and its other end.
    fn pair() -> (Arc<Stream>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Arc::new(Stream::Unix(ours)), theirs)
    }

    /// Ages all connections, so that any silent one may be closed.
    fn age(limits: &Connections) {
        lock(&limits.state).unauthenticated.values_mut().for_each(|it| it.since -= MOMENT);
    }

    #[test]
    fn the_oldest_silent_one_leaves_for_a_newcomer() {
        use std::io::Write as _;
        let limits = Connections::new(100);
        let mut lines: Vec<_> = (0..MOST_UNAUTHENTICATED).map(|_| pair()).collect();
        let peer = |process: usize| Peer::Unix { process: process as u32, user: 1 };
        let mut connections: Vec<_> = lines
            .iter()
            .enumerate()
            .map(|(at, (stream, _))| {
                let (connection, closed) = limits.enter(peer(at), stream).unwrap();
                assert_eq!(closed, None);
                connection
            })
            .collect();
        assert!(limits.are_taken(), "those who have just come are left a moment");
        assert!(limits.enter(HERE, &pair().0).is_err());
        age(&limits);
        assert!(!limits.are_taken());
        // The first has spoken: it is about to be heard.
        lines[0].1.write_all(b"hello").unwrap();
        let newcomer = pair();
        let (_guest, closed) = limits.enter(HERE, &newcomer.0).unwrap();
        assert_eq!(closed, Some(peer(1)));
        assert!(lines[1].0.has_input(), "its connection has ended, which wakes its thread");
        assert!(!connections[1].admitted(), "what it says now comes too late");
        assert!(connections[0].admitted());
        // Once all have spoken, the oldest leaves.
        for (_, theirs) in &mut lines[2..] {
            theirs.write_all(b"hello").unwrap();
        }
        let more = [pair(), pair()];
        let (_free, closed) = limits.enter(HERE, &more[0].0).unwrap();
        assert_eq!(closed, None, "the place of the one that was admitted");
        let (_instead, closed) = limits.enter(HERE, &more[1].0).unwrap();
        assert_eq!(closed, Some(peer(2)));
        drop(connections);
        let state = lock(&limits.state);
        assert_eq!((state.admitted, state.leaving, state.unauthenticated.len()), (0, 0, 3));
    }

    #[test]
    fn who_is_admitted_leaves_for_nobody() {
        let limits = Connections::new(2);
        let lines = [pair(), pair(), pair()];
        let (mut first, _) = limits.enter(HERE, &lines[0].0).unwrap();
        let (mut second, _) = limits.enter(HERE, &lines[1].0).unwrap();
        assert!(first.admitted());
        assert!(limits.are_taken());
        assert!(second.admitted());
        assert!(!limits.are_taken(), "nobody leaves soon, so a newcomer is told at once");
        let refused = limits.enter(HERE, &lines[2].0).unwrap_err();
        assert_eq!(refused, "2 connections are open, the limit");
        drop(first);
        assert!(limits.enter(HERE, &lines[2].0).is_ok());
    }
}
