//! A server's state machine driven by bytes: a round from beginning to end, and any bytes at all.

use crate::world::{Database, assert_sound, inputs, options, part, terms};
use bourse_driver::{RealClock, SimulatedClock};
use bourse_egen::driver;
use bourse_engine::{Engine, NullEngine};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::load::Fingerprint;
use bourse_serve::protocol::codec::{self, HEADER, REQUEST_BYTES};
use bourse_serve::protocol::control::RoundTerms;
use bourse_serve::protocol::{Admission, Control, ControlReply, Hello, PROTOCOL, Payload, Purpose, ReplyOf};
use bourse_serve::server::{Offer, rehearse};
use bourse_tatp::{Tatp, size_of};
use bourse_tpce::load::{Constraints, fingerprint};
use bourse_tpce::verify::Stream;
use bourse_tpce::workload::Tpce;
use proptest::prelude::*;

const CONTROL: u8 = 0;
const REQUEST: u8 = 2;
const HELLO: u8 = 4;
const LOST: u8 = 6;

/// Encodes one step of a script.
fn step(who: u8, message: &impl serde::Serialize) -> Vec<u8> {
    let mut frame = Vec::new();
    codec::frame(message, REQUEST_BYTES, &mut frame).expect("a small message");
    let length = u16::try_from(frame.len() - HEADER).expect("a small message").to_le_bytes();
    [&[who], &length[..], &frame[HEADER..]].concat()
}

fn said(engine: &dyn Engine, clock: &dyn bourse_driver::Clock, script: &[u8]) -> Vec<Vec<u8>> {
    let fingerprint = fingerprint(engine, inputs(), part(), Constraints::Full).unwrap();
    rehearse::<Tpce>(Offer { engine, fingerprint: &fingerprint, history: "" }, options(), clock, script)
}

fn news(frame: &[u8]) -> ControlReply {
    codec::message(&frame[HEADER..]).expect("news")
}

#[test]
fn a_round_is_driven_by_bytes_alone() {
    let database = Database::new("rehearsed.db");
    let sizes = driver::Database::of(part().total_customers(), part().scale_factor(), part().days());
    let mut stream = Stream::new(inputs(), sizes, 11, 20).expect("a valid database");
    let first = stream.next_step();
    let clock = SimulatedClock::at(first.now);
    let hello = Hello { protocol: PROTOCOL, program: "1.2.3".to_owned(), proof: None, purpose: Purpose::Driver };
    let open = Control::Open(RoundTerms::from(&terms(1, 1)));
    let two = Control::Open(RoundTerms::from(&terms(1, 2)));
    let close = Control::Close(Payload::of(&Ledger::default(), REQUEST_BYTES).expect("small"));
    let script = [
        step(HELLO, &hello),
        step(REQUEST, &first.request),
        step(CONTROL, &two),
        step(CONTROL, &open),
        // Another driver comes too late, and its user has no round.
        step(CONTROL | 1, &open),
        step(REQUEST | 1, &first.request),
        step(CONTROL, &Control::Alive),
        step(CONTROL, &Control::Pending),
        step(REQUEST, &first.request),
        step(CONTROL, &close),
    ]
    .concat();
    let said = said(&database.engine, &clock, &script);
    assert_eq!(said.len(), 9, "all but the one that wants no answer");
    assert_eq!(codec::message::<Admission>(&said[0][HEADER..]), Ok(Admission::User));
    let reply = |at: usize| codec::timed_message::<ReplyOf<Tpce>>(&said[at][HEADER..]).expect("a reply").1;
    assert!(reply(1).outcome.is_err(), "no round is open yet");
    assert!(matches!(news(&said[2]), ControlReply::Refused(why) if why.contains("1 of 2 drivers have come")));
    assert!(matches!(news(&said[3]), ControlReply::Opened(_)));
    assert!(matches!(news(&said[4]), ControlReply::Refused(why) if why.contains("comes too late")));
    assert!(reply(5).outcome.is_err(), "the second driver is in no round");
    assert!(matches!(news(&said[6]), ControlReply::Pending(Some(_))));
    let answer = reply(7).outcome.expect("is performed");
    assert_eq!(answer.output.transaction(), first.request.transaction());
    let ControlReply::Closed(closed) = news(&said[8]) else { panic!("a round closed") };
    assert!(closed.checks.len() > 90);
    assert_sound(&closed.checks[1..]);
}

#[test]
fn a_driver_that_is_lost_makes_room_for_the_next() {
    let database = Database::new("rehearsed-lost.db");
    let open = Control::Open(RoundTerms::from(&terms(1, 1)));
    let script =
        [step(CONTROL, &open), vec![LOST, 0, 0], step(CONTROL, &open), vec![CONTROL, 1, 0, 0xff], step(CONTROL, &open)];
    let said = said(&database.engine, &RealClock::start(), &script.concat());
    assert_eq!(said.len(), 3);
    assert!(
        said.iter().all(|frame| matches!(news(frame), ControlReply::Opened(_))),
        "{:?}",
        said.iter().map(|it| news(it)).collect::<Vec<_>>()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn any_script_is_followed_to_its_end(steps in prop::collection::vec((0..8_u8, prop::collection::vec(any::<u8>(), 0..40)), 0..30)) {
        let mut script = Vec::new();
        for (who, bytes) in steps {
            script.push(who);
            script.extend((bytes.len() as u16).to_le_bytes());
            script.extend(bytes);
        }
        said(&NullEngine, &RealClock::start(), &script);
        let tatp = Fingerprint::of(&NullEngine, &Tatp, &Tatp, &size_of(1_000), Constraints::Full).expect("takes statements");
        let offer = Offer { engine: &NullEngine, fingerprint: &tatp, history: "" };
        rehearse::<Tatp>(offer, options(), &RealClock::start(), &script);
    }
}
