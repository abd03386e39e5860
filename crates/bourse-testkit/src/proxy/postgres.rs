//! Messages of PostgreSQL's protocol.

use super::{FaultMoment, Requests, moment_of, quoted};
use std::io;

/// Codes in place of a version number by which a client requests encryption; its real first message follows.
const ENCRYPTION: [i32; 2] = [80_877_103, 80_877_104];

/// Forwards a client's requests.
pub(super) fn requests(requests: &mut Requests<'_>) -> io::Result<()> {
    while first(requests)? {}
    let mut together = Vec::new();
    loop {
        let at = together.len();
        together.resize(at + 5, 0);
        requests.read(&mut together[at..])?;
        let kind = together[at];
        let length = u32::from_be_bytes([together[at + 1], together[at + 2], together[at + 3], together[at + 4]]);
        together.resize(at + 1 + length as usize, 0);
        requests.read(&mut together[at + 5..])?;
        // Parse, bind, describe, execute and close wait for the sync behind them.
        if matches!(kind, b'P' | b'B' | b'D' | b'E' | b'C') {
            continue;
        }
        let moment = match (together[0], kind) {
            (b'Q', _) => moment_of(&together[5..]),
            (b'B', b'S') => Some(FaultMoment::Statement),
            _ => None,
        };
        requests.pass_at(moment, &together, raise)?;
        together.clear();
    }
}

/// Forwards the first message, which has no type byte; returns whether it requests encryption, so that another one follows.
fn first(requests: &Requests<'_>) -> io::Result<bool> {
    let mut bytes = vec![0; 8];
    requests.read(&mut bytes)?;
    let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
    let version = i32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    bytes.resize(length.max(8), 0);
    requests.read(&mut bytes[8..])?;
    requests.pass(&bytes)?;
    Ok(ENCRYPTION.contains(&version))
}

/// Message of a query that fails with that error, whatever the state of the transaction.
fn raise(code: &str, message: &str) -> Vec<u8> {
    let sql = format!(
        "DO $bourse$ BEGIN RAISE EXCEPTION USING ERRCODE = {}, MESSAGE = {}; END $bourse$",
        quoted(code),
        quoted(message)
    );
    let mut bytes = vec![b'Q'];
    bytes.extend((sql.len() as u32 + 5).to_be_bytes());
    bytes.extend(sql.as_bytes());
    bytes.push(0);
    bytes
}
