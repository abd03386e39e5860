//! The connection of a driver: its part in a round.

use super::round::{Member, ReportWait, Round, WaitEnd, WaitReport};
use super::{Driver, Event, Shared, lock};
use crate::protocol::codec::{REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::control::Time;
use crate::protocol::{Control, ControlReply};
use crate::wire::Wire;
use crate::{Peer, ServeError};
use bourse_engine::{Footprint, ServerProcess};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::SharedWorkload;
use bourse_record::ProcessUse;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Round that a driver takes part in, and its entry there.
type InRound<W> = (Arc<Round<W>>, Arc<Member<W>>);

/// Answers a driver's requests until the connection ends. A driver whose connection ends during a round is lost.
///
/// # Errors
/// The end of the connection, unless the driver disconnected in good order.
pub(super) fn serve<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    wire: &mut Wire,
    driver: &Driver<W>,
    from: Peer,
) -> Result<(), ServeError> {
    let mut state = DialogState::new(driver, from);
    let ended = converse(shared, wire, &mut state);
    state.end(shared, &ended);
    ended
}

fn converse<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    wire: &mut Wire,
    state: &mut DialogState<'_, W>,
) -> Result<(), ServeError> {
    loop {
        let heard = Instant::now();
        let silence = if state.round.is_some() { shared.options.silence } else { shared.options.idle };
        let asked: Control = wire.receive(REQUEST_BYTES, &mut || {
            if shared.stopping() {
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the server is closing").into());
            }
            if heard.elapsed() > silence {
                let words = format!("nothing was received for {} s", silence.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, words).into());
            }
            Ok(())
        })?;
        let answer = state.answer(shared, asked, &mut progress_sender(wire))?;
        match answer {
            Answer::News(news) => wire.send(&news, REPLY_BYTES)?,
            Answer::Nothing => {}
            Answer::Farewell => return Ok(()),
        }
    }
}

/// State of a driver's connection between its messages.
pub(super) struct DialogState<'d, W: SharedWorkload> {
    driver: &'d Driver<W>,
    from: Peer,
    round: Option<InRound<W>>,
}

/// Answer to a driver's message.
pub(super) enum Answer {
    News(ControlReply),
    /// No answer is due.
    Nothing,
    /// The driver disconnects for good.
    Farewell,
}

impl<'d, W: SharedWorkload> DialogState<'d, W> {
    pub(super) const fn new(driver: &'d Driver<W>, from: Peer) -> Self {
        Self { driver, from, round: None }
    }

    /// Handles a driver's message. `tell` is called while it waits for others.
    ///
    /// # Errors
    /// The reason to close the connection.
    pub(super) fn answer(
        &mut self,
        shared: &Shared<'_, W>,
        asked: Control,
        tell: ReportWait<'_>,
    ) -> Result<Answer, ServeError> {
        let news = match asked {
            Control::Leave => return Ok(Answer::Farewell),
            Control::Alive => return Ok(Answer::Nothing),
            Control::Footprint => match shared.offer.engine.footprint() {
                Ok(footprint) => ControlReply::Footprint(Footprint { server: Some(own_use()), ..footprint }),
                Err(error) => ControlReply::Refused(error.to_string()),
            },
            Control::IoCounts => match shared.offer.engine.io_counts() {
                Ok(counts) => ControlReply::IoCounts(counts.map(|counts| Box::new((counts.source.to_owned(), counts)))),
                Err(error) => ControlReply::Refused(error.to_string()),
            },
            // Between rounds the database may be restored, which no session must see.
            Control::Pending if self.round.is_none() => {
                ControlReply::Refused("this driver is not in a round".to_owned())
            }
            Control::Pending => match W::pending(shared.offer.engine) {
                Ok(pending) => ControlReply::Pending(pending),
                Err(error) => ControlReply::Refused(error.to_string()),
            },
            Control::Open(_) if self.round.is_some() => {
                ControlReply::Refused("this driver is already in a round".to_owned())
            }
            Control::Open(terms) => {
                let from = self.from;
                let mut came = |member: &Arc<Member<W>>| {
                    (shared.tell)(Event::Joined { from, number: member.number, of: member.of });
                };
                match shared.rounds.join(shared, terms, &mut came, tell) {
                    Ok((joined, member, opened)) => {
                        *lock(&self.driver.member) = Some(Arc::clone(&member));
                        self.round = Some((joined, member));
                        ControlReply::Opened(Box::new(opened))
                    }
                    Err(gone) => refusal(gone)?,
                }
            }
            Control::Ready => match &self.round {
                Some((round, member)) if shared.options.coordinates => match round.ready(shared, member, tell) {
                    Ok(at_ns) => ControlReply::Begin { at_ns },
                    Err(gone) => refusal(gone)?,
                },
                _ => ControlReply::Refused("this driver is in no round that is coordinated".to_owned()),
            },
            Control::Clock => {
                ControlReply::Clock(Time { now_ns: shared.clock.now(), calendar_ms: shared.clock.timestamp().millis() })
            }
            Control::Close(reported) => {
                // Counts that cannot be read end the connection, and the driver is lost.
                let reported: Ledger = reported.read()?;
                match self.round.take() {
                    None => ControlReply::Refused("this driver is not in a round".to_owned()),
                    Some((ending, member)) => {
                        *lock(&self.driver.member) = None;
                        match shared.rounds.finish(shared, &ending, &member, reported, tell) {
                            Ok(closed) => ControlReply::Closed(Box::new(closed)),
                            Err(gone) => refusal(gone)?,
                        }
                    }
                }
            }
        };
        Ok(Answer::News(news))
    }

    /// Ends the driver and its users; during a round the driver is lost.
    pub(super) fn end(self, shared: &Shared<'_, W>, ended: &Result<(), ServeError>) {
        self.driver.gone.store(true, Ordering::Relaxed);
        if let Some((round, member)) = self.round
            && shared.rounds.vanish(shared, &round, &member)
            // The round's end names the stop.
            && !shared.stopping()
        {
            let why = match ended {
                Ok(()) => "it left during the round".to_owned(),
                Err(error) => error.to_string(),
            };
            (shared.tell)(Event::Vanished { from: self.from, number: member.number, of: member.of, why });
        }
    }
}

/// Resource usage of this process.
fn own_use() -> ServerProcess {
    let now = ProcessUse::now();
    let ns = |seconds: Option<f64>| seconds.map_or(0, |seconds| (seconds * 1e9) as u64);
    ServerProcess {
        cpu_user_ns: ns(now.cpu_user_s),
        cpu_system_ns: ns(now.cpu_system_s),
        resident_bytes: now.resident_bytes.unwrap_or(0),
        read_bytes: now.read_bytes.unwrap_or(0),
        written_bytes: now.written_bytes.unwrap_or(0),
    }
}

fn refusal(gone: WaitEnd) -> Result<ControlReply, ServeError> {
    match gone {
        WaitEnd::Driver(error) => Err(error),
        WaitEnd::Refused(why) => Ok(ControlReply::Refused(why)),
    }
}

/// Callback that sends a waiting driver the progress once a second, and fails as soon as the driver is gone.
fn progress_sender(wire: &mut Wire) -> impl FnMut(WaitReport) -> Result<(), ServeError> {
    let mut told = Instant::now();
    move |WaitReport { ready, of, what }| {
        // A waiting driver sends nothing: what comes is its farewell, or the end of the connection.
        if wire.has_input() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it disconnected while it waited").into());
        }
        if told.elapsed() < Duration::from_secs(1) {
            return Ok(());
        }
        told = Instant::now();
        wire.send(&ControlReply::Waiting { ready, of, what }, REPLY_BYTES)
    }
}
