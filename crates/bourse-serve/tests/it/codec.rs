//! Frames and messages: any bytes are read or refused, and every message written is read back.

use crate::world::inputs;
use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database, MaintenanceEmulator};
use bourse_egen::txn::{MarketFeed, TickerEntry, TradeResult};
use bourse_schema::{Price, Symbol, TradeId};
use bourse_serve::protocol::codec::{self, CodecError, HEADER, REPLY_BYTES, REQUEST_BYTES, Times};
use bourse_serve::protocol::control::{Beginning, RoundTerms, Wait};
use bourse_serve::protocol::{Admission, Control, ControlReply, Greeting, Hello, ReplyOf};
use bourse_tpce::transactions::Request;
use bourse_tpce::workload::Tpce;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reply of a server of TPC-E.
type Reply = ReplyOf<Tpce>;

/// Reads any bytes as a message; one that can be read can be written and read again.
fn read_or_refused<M: Serialize + DeserializeOwned + std::fmt::Debug>(bytes: &[u8]) {
    if let Ok(message) = codec::message::<M>(bytes) {
        let mut frame = Vec::new();
        codec::frame(&message, REPLY_BYTES, &mut frame).expect("no message is larger than what it was read from");
        let again: M = codec::message(&frame[HEADER..]).expect("what is written can be read");
        // A number that is none is not equal to itself: compare what a person would see.
        assert_eq!(format!("{again:?}"), format!("{message:?}"));
    }
}

fn all_kinds(bytes: &[u8]) {
    read_or_refused::<Greeting>(bytes);
    read_or_refused::<Hello>(bytes);
    read_or_refused::<Admission>(bytes);
    read_or_refused::<Control>(bytes);
    read_or_refused::<ControlReply>(bytes);
    read_or_refused::<Request>(bytes);
    read_or_refused::<Reply>(bytes);
    let _ = codec::timed_message::<Reply>(bytes);
}

fn requests() -> Vec<Request> {
    let database = Database::of(1_000, 500, 10);
    let mut customers = CustomerEmulator::new(inputs(), &CustomerConfig::of(database), 1, 2).expect("a customer");
    let mut maintenance = MaintenanceEmulator::new(inputs(), database, 3).expect("maintenance");
    let mut requests: Vec<Request> = (0..1_000).map(|_| customers.next().into()).collect();
    requests.extend((0..24).map(|_| Request::from(maintenance.next())));
    requests.push(maintenance.trade_cleanup().into());
    requests.push(TradeResult { trade_id: TradeId(7), trade_price: Price::from_units(2_592) }.into());
    let symbol = Symbol::new("ZICA").expect("a short symbol");
    let entry = TickerEntry { symbol, price_quote: Price::from_units(-1), trade_qty: i32::MAX };
    requests.push(MarketFeed { entries: vec![entry; 20], unique_symbols: 1 }.into());
    requests
}

#[test]
fn every_request_of_the_emulators_is_read_back_and_fits() {
    let mut frame = Vec::new();
    for request in requests() {
        codec::frame(&request, REQUEST_BYTES, &mut frame).expect("requests are small");
        let header = *frame.first_chunk().expect("a header");
        assert_eq!(codec::length(header, REQUEST_BYTES), Ok(frame.len() - HEADER));
        assert_eq!(codec::message::<Request>(&frame[HEADER..]), Ok(request));
    }
}

#[test]
fn what_is_too_large_left_over_or_out_of_its_domain_is_refused() {
    let too_large = CodecError::TooLarge { bytes: u32::MAX as usize, limit: REQUEST_BYTES };
    assert_eq!(codec::length([0xff; 4], REQUEST_BYTES), Err(too_large));
    let mut frame = Vec::new();
    let refused = codec::frame(&vec![0_u8; 100], 100, &mut frame);
    assert_eq!(refused, Err(CodecError::TooLarge { bytes: 101, limit: 100 }));
    codec::frame(&Control::Footprint, 100, &mut frame).expect("a small message");
    frame.push(0);
    assert_eq!(codec::message::<Control>(&frame[HEADER..]), Err(CodecError::Trailing { left: 1 }));
    // A symbol longer than its column; a table that maintenance does not know.
    let mut long = Vec::new();
    codec::frame(&"SYMBOL-OF-SIXTEEN".to_owned(), 100, &mut long).expect("a small message");
    assert!(codec::message::<Symbol>(&long[HEADER..]).unwrap_err().to_string().contains("not the expected message"));
    let request = requests().into_iter().find(|request| matches!(request, Request::DataMaintenance(_)));
    codec::frame(&request.expect("there is one"), 1_000, &mut frame).expect("a small message");
    let at = frame.windows(7).position(|text| text == b"ACCOUNT").expect("the first table is ACCOUNT_PERMISSION");
    frame[at] = b'B';
    assert!(codec::message::<Request>(&frame[HEADER..]).is_err());
}

#[test]
fn times_stand_before_a_reply() {
    let news = ControlReply::Waiting { ready: 1, of: 2, what: Wait::Ending };
    let mut frame = Vec::new();
    codec::timed_frame(&news, 100, &mut frame).expect("a small message");
    let times = Times { server_ns: 0x0102_0304_0506_0708, engine_ns: 9 };
    times.stamp(&mut frame);
    assert_eq!(codec::timed_message(&frame[HEADER..]), Ok((times, news)));
    assert!(codec::timed_message::<ControlReply>(&frame[HEADER..HEADER + 15]).is_err());
}

#[test]
fn terms_that_a_driver_makes_up_are_bounded() {
    let terms = RoundTerms {
        number: 1,
        of: 2,
        warm_up_ns: u64::MAX,
        measure_ns: 0,
        beginning: Beginning::PutBack { copy: 7 },
        retries: u32::MAX,
        first_back_off_ns: u64::MAX,
        longest_back_off_ns: u64::MAX,
        sessions: u32::MAX,
    };
    assert_eq!((terms.retry().retries, terms.retry().longest_ns), (1_000, 1_000_000_000));
    assert!(terms.share().is_some() && RoundTerms { number: 3, ..terms }.share().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        all_kinds(&bytes);
    }

    /// Corrupted messages: bytes that were a message once are nearer to one than random bytes.
    #[test]
    fn messages_with_bytes_changed_are_read_or_refused(
        which in 0_usize..1_000,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let requests = requests();
        let mut frame = Vec::new();
        codec::frame(&requests[which % requests.len()], REQUEST_BYTES, &mut frame).expect("requests are small");
        for (at, byte) in changes {
            let at = at.index(frame.len());
            frame[at] = byte;
        }
        all_kinds(&frame[HEADER..]);
        all_kinds(&frame[HEADER..][..cut.index(frame.len() - HEADER)]);
    }
}
