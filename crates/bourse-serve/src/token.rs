//! The access token of a server.
//!
//! It never crosses the network: the server sends a number used once, the driver answers with its HMAC-SHA-256 under the token,
//! and the server compares in constant time. The messages that follow are not encrypted: on an untrusted network, run both ends
//! through a tunnel.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::ServeError;
use crate::server::random_number;
use bourse_engine::open_once;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use std::fmt;
use std::path::Path;

/// Number used once.
pub type Nonce = [u8; 32];
/// Proof of knowledge of the token.
pub type Proof = [u8; 32];

/// Secret of 8 to 4,096 bytes. Never shown: not by `Debug`, not in a run file.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Vec<u8>);

impl Token {
    /// Environment variable that can contain the token.
    pub const VARIABLE: &'static str = "BOURSE_TOKEN";
    const SHORTEST: usize = 8;
    const LONGEST: usize = 4_096;

    /// Token in `text`, without surrounding white space; `origin` names its source in errors.
    ///
    /// # Errors
    /// [`ServeError::Token`] if it is too short to be safe, or too long.
    pub fn new(text: &str, origin: &str) -> Result<Self, ServeError> {
        let bytes = text.trim().as_bytes();
        let refuse = |why: String| Err(ServeError::Token { origin: origin.to_owned(), why });
        match bytes.len() {
            0..Self::SHORTEST => refuse(format!("{} bytes are too few, {} are needed", bytes.len(), Self::SHORTEST)),
            Self::SHORTEST..=Self::LONGEST => Ok(Self(bytes.to_vec())),
            more => refuse(format!("{more} bytes are too many, {} are allowed", Self::LONGEST)),
        }
    }

    /// Text of a token that cannot be guessed, for processes that one program starts.
    pub fn random_text() -> String {
        format!("{:016x}{:016x}", random_number(), random_number())
    }

    /// Token in a file, or in the environment if no file is named.
    ///
    /// # Errors
    /// [`ServeError::Token`].
    pub fn find(file: Option<&Path>) -> Result<Option<Self>, ServeError> {
        if let Some(path) = file {
            let origin = path.display().to_string();
            let text = open_once(path)
                .and_then(std::io::read_to_string)
                .map_err(|error| ServeError::Token { origin: origin.clone(), why: error.to_string() })?;
            return Self::new(&text, &origin).map(Some);
        }
        match std::env::var(Self::VARIABLE) {
            Ok(text) => Self::new(&text, Self::VARIABLE).map(Some),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(ServeError::Token { origin: Self::VARIABLE.to_owned(), why: "it is not UTF-8".to_owned() })
            }
        }
    }

    /// Proves knowledge of the token to the sender of `nonce`.
    pub fn prove(&self, nonce: &Nonce) -> Proof {
        self.mac(nonce).finalize().into_bytes().into()
    }

    /// Whether a proof is right, in a time that does not depend on how wrong it is.
    pub fn verify(&self, nonce: &Nonce, proof: &Proof) -> bool {
        self.mac(nonce).verify_slice(proof).is_ok()
    }

    fn mac(&self, nonce: &Nonce) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(b"bourse driver");
        mac.update(nonce);
        mac
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_token_and_its_number_only() {
        let token = Token::new(" correct horse\n", "a test").unwrap();
        let proof = token.prove(&[1; 32]);
        assert!(token.verify(&[1; 32], &proof));
        assert!(!token.verify(&[2; 32], &proof));
        assert!(!Token::new("correct hors", "a test").unwrap().verify(&[1; 32], &proof));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_token_that_keeps_nobody_out_is_refused() {
        let error = Token::new("short \n", "tokens/mine").unwrap_err().to_string();
        assert_eq!(error, "invalid token in tokens/mine: 5 bytes are too few, 8 are needed");
        assert!(Token::new(&"x".repeat(4_097), "a test").is_err());
    }
}
