use std::fmt::Write as _;

use bourse_schema::{CompanyId, Symbol, Text};

use crate::Inputs;
use crate::ids::{self, COMPANIES, SECURITIES};
use crate::inputs::{CompanyRecord, SecurityRecord};

impl Inputs {
    /// Record in the files of the security with an index: larger databases repeat them.
    #[inline]
    pub fn security(&self, index: i64) -> &SecurityRecord {
        &self.securities[(index % SECURITIES) as usize]
    }

    /// Record in the files of the company with an index.
    #[inline]
    pub fn company(&self, index: i64) -> &CompanyRecord {
        &self.companies[(index % COMPANIES) as usize]
    }

    /// Symbol of a security. Beyond the files' securities the number of the repetition is appended in letters: `-a` to
    /// `-z`, `-aa` and so on.
    pub fn symbol(&self, index: i64) -> Symbol {
        let mut symbol = self.security(index).symbol;
        let mut letters = [0; 14];
        let mut at = letters.len();
        let mut left = index / SECURITIES;
        if left > 0 {
            while left > 0 {
                at -= 1;
                letters[at] = b'a' + ((left - 1) % 26) as u8;
                left = (left - 1) / 26;
            }
            symbol.push("-");
            symbol.push(std::str::from_utf8(&letters[at..]).expect("letters are text"));
        }
        symbol
    }

    /// Index of a symbol's security; `None` if no database has such a symbol.
    pub fn security_index(&self, symbol: &str) -> Option<i64> {
        let (base, letters) = symbol.split_once('-').unwrap_or((symbol, ""));
        let mut repetition = 0i64;
        for letter in letters.bytes() {
            if !letter.is_ascii_lowercase() {
                return None;
            }
            repetition = repetition.checked_mul(26)?.checked_add(i64::from(letter - b'a') + 1)?;
        }
        repetition.checked_mul(SECURITIES)?.checked_add(i64::from(self.base_security(base)?))
    }

    /// Company that issued the security with an index.
    #[inline]
    pub fn issuer(&self, index: i64) -> CompanyId {
        ids::company(self.security(index).company - 1 + index / SECURITIES * COMPANIES)
    }

    /// Name of the company with an index. Beyond the files' companies the number of the repetition is appended.
    pub fn company_name(&self, index: i64) -> Text<60> {
        let mut name = self.company(index).name;
        if index >= COMPANIES {
            write!(name, " #{}", index / COMPANIES).expect("a text cuts, it does not fail");
        }
        name
    }

    /// Name of a security: `ISSUE of COMPANY`.
    pub fn security_name(&self, index: i64) -> Text<70> {
        let mut name = Text::cut(self.security(index).issue.as_str());
        name.push(" of ");
        name.push(self.company_name(ids::company_index(self.issuer(index))).as_str());
        name
    }
}
