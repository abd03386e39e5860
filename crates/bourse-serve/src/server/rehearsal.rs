//! Messages passed to a server one after the other, without connections, threads and waiting: the entry point of a fuzzer.

use super::driver::{Answer, DialogState};
use super::{Driver, Offer, ServerOptions, Shared, listener, local, user};
use crate::ServeError;
use crate::address::Peer;
use crate::protocol::codec::{self, GREETING_BYTES, REPLY_BYTES, REQUEST_BYTES, Times};
use crate::protocol::{Admission, CodecError, Control, Hello};
use bourse_driver::Clock;
use bourse_oltp::sut::SharedWorkload;
use bourse_record::SplitMix;
use std::cell::Cell;
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Number of drivers of a rehearsal.
const DRIVERS: usize = 2;

/// Passes a server the messages of a script and returns its answer to each that it can read, a frame each.
///
/// A script is a sequence of steps: a byte for the sender, two bytes of length (little-endian), and as many bytes of message;
/// the last may be cut short. The lowest bit of the first byte is the driver's number. The two bits above it give the kind of
/// message: 0 a [`Control`] of the driver, 1 a request of one of its users, 2 a [`Hello`], 3 no message: the connections of
/// both drivers are lost, and others take their numbers. A message that cannot be read ends its connection, as it does over a
/// network. No driver is waited for, so a round of several drivers does not begin.
pub fn rehearse<W: SharedWorkload>(
    offer: Offer<'_>,
    options: ServerOptions,
    clock: &dyn Clock,
    script: &[u8],
) -> Vec<Vec<u8>> {
    let options = ServerOptions { gather: Duration::ZERO, ..options };
    let stop = AtomicBool::new(false);
    let shared = Shared::<W>::new(options, offer, clock, &stop, &|_| {});
    let mut said = Vec::new();
    let mut script = script;
    let mut user_spec = 0;
    while !script.is_empty() {
        // Drivers that were lost make room for others: a script of any length has two at a time.
        let drivers: [Driver<W>; DRIVERS] = Default::default();
        user_spec += 1;
        script = until_lost(&shared, &drivers, user_spec, script, &mut said);
    }
    said
}

/// Performs steps until a driver is lost; returns the steps that are left.
fn until_lost<'b, W: SharedWorkload>(
    shared: &Shared<'_, W>,
    drivers: &[Driver<W>; DRIVERS],
    user_spec: u64,
    mut script: &'b [u8],
    said: &mut Vec<Vec<u8>>,
) -> &'b [u8] {
    let from = Peer::Unix { process: 1, user: local::own_user() };
    let mut states = drivers.each_ref().map(|driver| DialogState::new(driver, from));
    let random = Cell::new(SplitMix::new(user_spec));
    let mut lost = false;
    while let Some((who, bytes, rest)) = step(script).filter(|_| !lost) {
        script = rest;
        let number = usize::from(who & 1);
        let (Some(driver), Some(state)) = (drivers.get(number), states.get_mut(number)) else { break };
        let mut frame = Vec::new();
        let spoken = match who >> 1 & 3 {
            0 => control(shared, state, bytes, &mut frame),
            1 => request(shared, driver, user_spec * 2 + u64::from(who & 1), bytes, &random, &mut frame).map(|()| true),
            2 => hello(shared, from, bytes, &mut frame).map(|()| true),
            _ => Ok(false),
        };
        if !frame.is_empty() {
            said.push(frame);
        }
        // A user's or an outsider's connection ends by itself; a driver's takes its place in the round with it.
        lost = !matches!(who >> 1 & 3, 1 | 2) && !matches!(spoken, Ok(true));
    }
    let ended = Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    states.into_iter().for_each(|state| state.end(shared, &ended));
    if lost { script } else { &[] }
}

/// Splits the next step off: the sender's byte, the message, and the rest.
fn step(script: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let ([who, low, high], rest) = script.split_first_chunk::<3>()?;
    let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
    let (bytes, rest) = rest.split_at_checked(length)?;
    Some((*who, bytes, rest))
}

/// Refuses a message above a size limit, as frames are bounded on a wire.
fn within(bytes: &[u8], limit: usize) -> Result<&[u8], ServeError> {
    if bytes.len() > limit {
        return Err(CodecError::TooLarge { bytes: bytes.len(), limit }.into());
    }
    Ok(bytes)
}

/// Handles a driver's message; returns whether its connection stays open.
fn control<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    state: &mut DialogState<'_, W>,
    bytes: &[u8],
    frame: &mut Vec<u8>,
) -> Result<bool, ServeError> {
    let asked: Control = codec::message(within(bytes, REQUEST_BYTES)?)?;
    let mut nobody = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
    match state.answer(shared, asked, &mut nobody)? {
        Answer::News(news) => codec::frame(&news, REPLY_BYTES, frame)?,
        Answer::Nothing => {}
        Answer::Farewell => return Ok(false),
    }
    Ok(true)
}

fn request<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    driver: &Driver<W>,
    owner: u64,
    bytes: &[u8],
    random: &Cell<SplitMix>,
    frame: &mut Vec<u8>,
) -> Result<(), ServeError> {
    let request: W::Request = codec::message(within(bytes, REQUEST_BYTES)?)?;
    let (reply, engine_ns, _place) = user::answer(shared, driver, owner, &request, random);
    codec::timed_frame(&reply, REPLY_BYTES, frame)?;
    Times { server_ns: engine_ns, engine_ns }.stamp(frame);
    Ok(())
}

fn hello<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    from: Peer,
    bytes: &[u8],
    frame: &mut Vec<u8>,
) -> Result<(), ServeError> {
    let hello: Hello = codec::message(within(bytes, GREETING_BYTES)?)?;
    let admission = match listener::admit(from, shared.options.token.as_ref(), &[0; 32], &hello) {
        Ok(()) => Admission::User,
        Err(refusal) => Admission::from(&refusal),
    };
    Ok(codec::frame(&admission, GREETING_BYTES, frame)?)
}
