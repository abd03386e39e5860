//! SCRAM-SHA-256 (RFC 5802, RFC 7677): both sides prove that they know a password, without sending it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bourse_engine::EngineError;
use hmac::{Hmac, Mac};
use sha2::{Digest as _, Sha256};

/// Name of the mechanism in a server's offer.
pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";

/// Header for no channel binding, as without TLS.
const HEADER: &str = "n,,";

/// Largest number of rounds; an honest server requests fewer.
const MOST_ROUNDS: u32 = 10_000_000;

type Key = [u8; 32];

/// The client's side of one dialogue.
pub(crate) struct Scram<'p> {
    password: &'p str,
    nonce: String,
    /// Signature expected from the server, once it is computable.
    expected: Option<Key>,
}

impl<'p> Scram<'p> {
    /// Starts a dialogue, with a nonce that an outsider cannot guess.
    pub(crate) fn new(password: &'p str) -> Result<Self, EngineError> {
        let mut random = [0; 18];
        getrandom::fill(&mut random).map_err(|e| failed(&format!("no random numbers: {e}")))?;
        Ok(Self { password, nonce: BASE64.encode(random), expected: None })
    }

    /// First message of the client. The server knows the user's name from the start of the session.
    pub(crate) fn first(&self) -> String {
        format!("{HEADER}n=,r={}", self.nonce)
    }

    /// Answer of the client to the server's salt and nonce.
    pub(crate) fn answer(&mut self, server_first: &str) -> Result<String, EngineError> {
        self.answer_as("", server_first)
    }

    fn answer_as(&mut self, user: &str, server_first: &str) -> Result<String, EngineError> {
        let field = |name: &str| server_first.split(',').find_map(|field| field.strip_prefix(name));
        let (nonce, salt, rounds) = match (field("r="), field("s="), field("i=")) {
            (Some(nonce), Some(salt), Some(rounds)) => (nonce, salt, rounds),
            _ => return Err(failed("the server's first answer is incomplete")),
        };
        if !nonce.starts_with(&self.nonce) {
            return Err(failed("the server does not repeat the client's nonce"));
        }
        let salt = BASE64.decode(salt).map_err(|_| failed("the server's salt is no base64"))?;
        let rounds: u32 = rounds.parse().map_err(|_| failed("the number of rounds is no number"))?;
        if !(1..=MOST_ROUNDS).contains(&rounds) {
            return Err(failed("the number of rounds is out of range"));
        }
        let salted = stretched(self.password.as_bytes(), &salt, rounds);
        let client_key = keyed(&salted, &[b"Client Key"]);
        let without_proof = format!("c={},r={nonce}", BASE64.encode(HEADER));
        let said = format!("n={user},r={},{server_first},{without_proof}", self.nonce);
        let stored: Key = Sha256::digest(client_key).into();
        let signature = keyed(&stored, &[said.as_bytes()]);
        let proof: Vec<u8> = client_key.iter().zip(signature).map(|(key, signed)| key ^ signed).collect();
        self.expected = Some(keyed(&keyed(&salted, &[b"Server Key"]), &[said.as_bytes()]));
        Ok(format!("{without_proof},p={}", BASE64.encode(proof)))
    }

    /// Checks that the server knows the password too.
    pub(crate) fn verify(&self, server_final: &str) -> Result<(), EngineError> {
        let signature = server_final.split(',').find_map(|field| field.strip_prefix("v="));
        let signature = signature.and_then(|text| BASE64.decode(text).ok());
        match (signature, &self.expected) {
            (Some(signature), Some(expected)) if signature == expected => Ok(()),
            _ => Err(failed("the server does not show that it knows the password")),
        }
    }
}

fn failed(why: &str) -> EngineError {
    crate::error::broken(&format!("a wrong word while logging in by {MECHANISM}: {why}"))
}

/// Keyed hash of the concatenated parts.
fn keyed(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Key stretched from a password, so that guessing is costly: the first block of PBKDF2.
fn stretched(password: &[u8], salt: &[u8], rounds: u32) -> Key {
    let mut last = keyed(password, &[salt, &1u32.to_be_bytes()]);
    let mut result = last;
    for _ in 1..rounds {
        last = keyed(password, &[&last]);
        result.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example of RFC 7677.
    #[test]
    fn the_published_dialogue_comes_out() {
        let mut scram = Scram { password: "pencil", nonce: "rOprNGfwEbeRWgbNEkqO".to_owned(), expected: None };
        let first = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let answer = scram.answer_as("user", first).unwrap();
        assert_eq!(
            answer,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        scram.verify("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").unwrap();
        for wrong in ["v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=", "e=other-error", ""] {
            assert!(scram.verify(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_server_that_makes_no_sense_is_refused() {
        let mut scram = Scram::new("secret").unwrap();
        assert!(scram.verify("v=").is_err(), "nothing was said yet");
        let nonce = scram.nonce.clone();
        for first in ["", "r=other,s=AAAA,i=1", &format!("r={nonce}x,s=?,i=1"), &format!("r={nonce}x,s=AAAA,i=0")] {
            assert!(scram.answer(first).is_err(), "{first}");
        }
        assert_ne!(scram.nonce, Scram::new("secret").unwrap().nonce);
    }
}
