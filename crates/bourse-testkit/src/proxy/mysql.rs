//! Packets of MySQL's protocol.

use super::{FaultMoment, Requests, moment_of, quoted};
use std::io;

/// Command bytes by which moments are recognized.
const QUERY: u8 = 0x03;
const EXECUTE: u8 = 0x17;

/// Forwards a client's requests.
pub(super) fn requests(requests: &mut Requests<'_>) -> io::Result<()> {
    loop {
        let mut packet = vec![0; 4];
        requests.read(&mut packet)?;
        let length = u32::from_le_bytes([packet[0], packet[1], packet[2], 0]) as usize;
        // Packets of a login continue the server's numbering; a command starts at 0.
        let is_command = packet[3] == 0;
        packet.resize(4 + length, 0);
        requests.read(&mut packet[4..])?;
        let moment = match packet.get(4) {
            Some(&QUERY) if is_command => requests.named(refused_of(&packet[5..])).or_else(|| moment_of(&packet[5..])),
            Some(&EXECUTE) if is_command => Some(FaultMoment::Statement),
            _ => None,
        };
        requests.pass_at(moment, &packet, raise)?;
    }
}

/// Moments of a text that products speaking MySQL's protocol may refuse.
fn refused_of(text: &[u8]) -> Vec<FaultMoment> {
    let text = String::from_utf8_lossy(text);
    let found = [
        (FaultMoment::Serializable, text.contains("ISOLATION LEVEL SERIALIZABLE")),
        (FaultMoment::SeveralStatements, text.contains(';')),
        (FaultMoment::ReadOnly, text.contains("TRANSACTION READ ONLY")),
    ];
    found.into_iter().filter(|(_, is_it)| *is_it).map(|(moment, _)| moment).collect()
}

/// Packet of a query that fails with that error; the transaction stays as it is.
fn raise(code: &str, message: &str) -> Vec<u8> {
    let sql = format!("SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = {}", quoted(message));
    let mut bytes = (sql.len() as u32 + 1).to_le_bytes().to_vec();
    // The length has three bytes; the fourth is the packet's number.
    bytes[3] = 0;
    bytes.push(QUERY);
    bytes.extend(sql.as_bytes());
    bytes
}
