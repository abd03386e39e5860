//! One driver's connection: its place in a round.

use super::round::{Gone, Member, Round, Waiting};
use super::{Driver, Event, Shared, lock};
use crate::protocol::codec::{REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::resources::{Io, Sizes};
use crate::protocol::{Control, News};
use crate::wire::Wire;
use crate::{Peer, ServeError};
use bourse_record::ProcessUse;
use bourse_tpce::sut::BrokerageHouse;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The round that a driver is in.
type InRound = (Arc<Round>, Arc<Member>);

/// Answers a driver, until it goes or must go; a driver that goes in a round has vanished.
///
/// # Errors
/// How the connection ended.
pub(super) fn serve(shared: &Shared<'_>, wire: &mut Wire, driver: &Driver, from: Peer) -> Result<(), ServeError> {
    let mut round = None;
    let ended = answer(shared, wire, driver, from, &mut round);
    driver.gone.store(true, Ordering::Relaxed);
    if let Some((round, member)) = round
        && shared.rounds.vanish(shared, &round, &member)
    {
        let why = match &ended {
            Ok(()) => "it left in the middle of the round".to_owned(),
            Err(error) => error.to_string(),
        };
        (shared.tell)(Event::Vanished { from, number: member.number, of: member.of, why });
    }
    ended
}

fn answer(
    shared: &Shared<'_>,
    wire: &mut Wire,
    driver: &Driver,
    from: Peer,
    round: &mut Option<InRound>,
) -> Result<(), ServeError> {
    loop {
        let heard = Instant::now();
        let in_round = round.is_some();
        let asked: Control = wire.receive(REQUEST_BYTES, &mut || {
            if shared.stopping() {
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the server is closing").into());
            }
            let silence = if in_round { shared.options.silence } else { shared.options.idle };
            if heard.elapsed() > silence {
                let words = format!("nothing was heard of it for {} s", silence.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, words).into());
            }
            Ok(())
        })?;
        let news = match asked {
            Control::Leave => return Ok(()),
            Control::Alive => continue,
            Control::Footprint => match shared.offer.engine.footprint() {
                Ok(footprint) => News::Footprint(Sizes::from(footprint).with(ProcessUse::now())),
                Err(error) => News::Refused(error.to_string()),
            },
            Control::IoCounts => match shared.offer.engine.io_counts() {
                Ok(counts) => News::IoCounts(counts.map(|counts| Box::new(Io::from(counts)))),
                Err(error) => News::Refused(error.to_string()),
            },
            // Between rounds the database may be put back, which no session must see.
            Control::PendingOrders if round.is_none() => News::Refused("this driver is in no round".to_owned()),
            Control::PendingOrders => match BrokerageHouse::pending_orders(shared.offer.engine) {
                Ok(pending) => News::PendingOrders(pending),
                Err(error) => News::Refused(error.to_string()),
            },
            Control::Open(_) if round.is_some() => News::Refused("this driver is in a round already".to_owned()),
            Control::Open(terms) => {
                let mut came = |member: &Arc<Member>| {
                    (shared.tell)(Event::Joined { from, number: member.number, of: member.of });
                };
                match shared.rounds.join(shared, terms, &mut came, &mut teller(wire)) {
                    Ok((joined, member, opened)) => {
                        *lock(&driver.member) = Some(Arc::clone(&member));
                        *round = Some((joined, member));
                        News::Opened(Box::new(opened))
                    }
                    Err(gone) => refusal(gone)?,
                }
            }
            Control::Close(told) => match round.take() {
                None => News::Refused("this driver is in no round".to_owned()),
                Some((ending, member)) => {
                    *lock(&driver.member) = None;
                    match shared.rounds.finish(shared, &ending, &member, told, &mut teller(wire)) {
                        Ok(closed) => News::Closed(Box::new(closed)),
                        Err(gone) => refusal(gone)?,
                    }
                }
            },
        };
        wire.send(&news, REPLY_BYTES)?;
    }
}

fn refusal(gone: Gone) -> Result<News, ServeError> {
    match gone {
        Gone::Driver(error) => Err(error),
        Gone::Refused(why) => Ok(News::Refused(why)),
    }
}

/// Tells a driver that waits, once a second; and how one that is gone is noticed at once.
fn teller(wire: &mut Wire) -> impl FnMut(Waiting) -> Result<(), ServeError> {
    let mut told = Instant::now();
    move |Waiting { ready, of, what }| {
        // Who waits has nothing to say: what comes is its farewell, or the end of the connection.
        if wire.is_heard() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it gave up while it waited").into());
        }
        if told.elapsed() < Duration::from_secs(1) {
            return Ok(());
        }
        told = Instant::now();
        wire.send(&News::Waiting { ready, of, what }, REPLY_BYTES)
    }
}
