//! What a peer may send: any bytes are a message or are refused; a message that was read can be written and read again.
#![no_main]

use bourse_serve::protocol::codec::{self, HEADER, REPLY_BYTES};
use bourse_serve::protocol::{Admission, Control, Greeting, Hello, News, Reply, Request};
use libfuzzer_sys::fuzz_target;

macro_rules! read {
    ($bytes:expr, $($message:ty),+) => {$(
        if let Ok(message) = codec::message::<$message>($bytes) {
            let mut frame = Vec::new();
            if codec::frame(&message, REPLY_BYTES, &mut frame).is_ok() {
                codec::message::<$message>(&frame[HEADER..]).expect("what is written can be read");
            }
        }
    )+};
}

fuzz_target!(|bytes: &[u8]| {
    read!(bytes, Greeting, Hello, Admission, Control, News, Request, Reply);
    let _ = codec::timed_message::<Reply>(bytes);
    if let Some(header) = bytes.first_chunk::<HEADER>() {
        let _ = codec::length(*header, REPLY_BYTES);
    }
});
