//! Driver and server apart: what crosses the network, who comes in, what a round survives.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod codec;
mod coordinated;
mod hostile;
mod local;
mod rehearsed;
mod rounds;
mod same;
mod world;
