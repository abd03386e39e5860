//! Driver and server apart: messages on the network, access, and rounds that survive losses.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod codec;
mod coordinated;
mod hostile;
mod local;
mod mix;
mod rehearsed;
mod rounds;
mod same;
mod world;
