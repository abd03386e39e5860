//! The specification's domains as Rust types (Clause 2.2.2): text of bounded width, exact decimals, dates, identifiers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// Number of shares: `S_COUNT_T`, up to 12 digits.
pub type Count = i64;
/// Signed number of shares: `S_QTY_T`, up to 6 digits; negative for a short position.
pub type Quantity = i32;

/// Price of one share: `S_PRICE_T`, 8 digits, 2 of them after the point.
pub type Price = Decimal<8, 2>;
/// An amount of money: `VALUE_T`, 10 digits, 2 of them after the point.
pub type Amount = Decimal<10, 2>;
/// A balance: `BALANCE_T`, 12 digits, 2 of them after the point.
pub type Balance = Decimal<12, 2>;
/// A company's aggregate: `FIN_AGG_T`, 15 digits, 2 of them after the point.
pub type FinAgg = Decimal<15, 2>;
/// A commission rate in percent: 5 digits, 2 of them after the point.
pub type CommissionRate = Decimal<5, 2>;
/// A yield in percent: 5 digits, 2 of them after the point.
pub type Yield = Decimal<5, 2>;
/// A tax rate as a fraction: 6 digits, 5 of them after the point.
pub type TaxRate = Decimal<6, 5>;

/// Symbol of a security.
pub type Symbol = Text<15>;
/// Identifier of a status (`ST_ID`): `CMPT`, `ACTV`, `SBMT`, `PNDG` or `CNCL`.
pub type StatusId = Text<4>;
/// Identifier of a trade type (`TT_ID`): `TMB`, `TMS`, `TSL`, `TLS` or `TLB`.
pub type TradeTypeId = Text<3>;
/// Identifier of an exchange (`EX_ID`).
pub type ExchangeId = Text<6>;
/// Identifier of an industry (`IN_ID`).
pub type IndustryId = Text<2>;
/// Identifier of a sector (`SC_ID`).
pub type SectorId = Text<2>;
/// Identifier of a tax rate (`TX_ID`).
pub type TaxId = Text<4>;
/// Zip code (`ZC_CODE`).
pub type ZipCodeId = Text<12>;

/// Text of at most `N` bytes (`N` up to 255), stored in place so that rows need no allocation.
///
/// ```
/// use bourse_schema::Text;
/// let symbol = Text::<15>::new("ZICA").unwrap();
/// assert_eq!(symbol.as_str(), "ZICA");
/// assert!(Text::<3>::new("ZICA").is_err());
/// assert_eq!(Text::<3>::cut("ZICA").as_str(), "ZIC");
/// ```
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    len: u8,
    bytes: [u8; N],
}

/// Error of a text that does not fit its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLong {
    /// Text as given.
    pub text: String,
    /// Maximum length of the column in bytes.
    pub limit: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} has {} bytes, the column takes {}", self.text, self.text.len(), self.limit)
    }
}

impl std::error::Error for TooLong {}

/// Whether any of these bytes is not ASCII.
#[inline]
fn has_high<const SIZE: usize>(piece: &[u8; SIZE]) -> bool {
    let (words, rest) = piece.as_chunks();
    let words = words.iter().fold(0, |sum, word| sum | u64::from_ne_bytes(*word));
    let rest = rest.iter().fold(0, |sum, byte| sum | byte);
    words & 0x8080_8080_8080_8080 != 0 || rest & 0x80 != 0
}

/// Copies bytes into a slice of their length and returns whether all are ASCII. Most texts of a row are so short that
/// calling a library's copy would be the larger part of it: those are copied in two pieces, which overlap if the length
/// is not a whole number of words.
#[inline(always)]
fn copy_short(place: &mut [u8], bytes: &[u8]) -> bool {
    macro_rules! in_pieces_of {
        ($size:literal) => {
            if let (Some(first), Some(last)) = (bytes.first_chunk::<$size>(), bytes.last_chunk::<$size>()) {
                if let Some(start) = place.first_chunk_mut() {
                    *start = *first;
                }
                if let Some(end) = place.last_chunk_mut() {
                    *end = *last;
                }
                return !(has_high(first) | has_high(last));
            }
        };
    }
    if bytes.len() > 64 {
        place.copy_from_slice(bytes);
        return bytes.is_ascii();
    }
    in_pieces_of!(32);
    in_pieces_of!(16);
    in_pieces_of!(8);
    in_pieces_of!(4);
    let mut all = 0;
    for (to, from) in place.iter_mut().zip(bytes) {
        *to = *from;
        all |= from;
    }
    all < 0x80
}

/// Whether bytes are UTF-8; a separate function, so that ASCII is read without that cost.
#[inline(never)]
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

impl<const N: usize> Text<N> {
    /// The empty text.
    pub const EMPTY: Self = Self { len: 0, bytes: [0; N] };

    /// Copies all of `text`.
    ///
    /// # Errors
    /// [`TooLong`] if it has more than `N` bytes.
    #[inline]
    pub fn new(text: &str) -> Result<Self, TooLong> {
        let mut this = Self::EMPTY;
        this.set(text)?;
        Ok(this)
    }

    /// Replaces the contents by all of `text`: cheaper than a new one, since only the text's bytes are written.
    ///
    /// # Errors
    /// [`TooLong`] if it has more than `N` bytes; the contents are then unchanged.
    #[inline]
    pub fn set(&mut self, text: &str) -> Result<(), TooLong> {
        const { assert!(N <= 255, "the length is kept in one byte") }
        // Not by way of `cut`, which looks for the last character that fits: this is how rows are read.
        let Some(place) = self.bytes.get_mut(..text.len()) else {
            return Err(TooLong { text: text.to_owned(), limit: N });
        };
        copy_short(place, text.as_bytes());
        self.len = text.len() as u8;
        Ok(())
    }

    /// Replaces the contents by bytes that may not be UTF-8; returns `false` if they are not or too many, and the text
    /// is then empty.
    #[inline]
    #[must_use]
    pub fn set_bytes(&mut self, bytes: &[u8]) -> bool {
        let is_text = self.bytes.get_mut(..bytes.len()).is_some_and(|place| {
            // ASCII is UTF-8, and is seen on the way.
            copy_short(place, bytes) || is_utf8(bytes)
        });
        self.len = if is_text { bytes.len() as u8 } else { 0 };
        is_text
    }

    /// Copies as much of `text` as fits, cut between characters.
    pub fn cut(text: &str) -> Self {
        let mut this = Self::EMPTY;
        this.push(text);
        this
    }

    /// Appends as much of `text` as still fits, cut between characters.
    pub fn push(&mut self, text: &str) {
        const { assert!(N <= 255, "the length is kept in one byte") }
        let from = usize::from(self.len);
        let mut take = text.len().min(N - from);
        while !text.is_char_boundary(take) {
            take -= 1;
        }
        self.bytes[from..from + take].copy_from_slice(&text.as_bytes()[..take]);
        self.len = (from + take) as u8;
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("only whole characters of a str are ever copied in")
    }

    /// The text's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Bytes of the text with their padding, and their number: a copy of constant size is cheaper than one of just the
    /// text.
    pub const fn padded(&self) -> (&[u8; N], usize) {
        (&self.bytes, self.len as usize)
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Formatting into a `Text` truncates, as the reference generator does.
impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.push(s);
        Ok(())
    }
}

impl<const N: usize> PartialEq for Text<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}
impl<const N: usize> Eq for Text<N> {}
impl<const N: usize> PartialOrd for Text<N> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<const N: usize> Ord for Text<N> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}
impl<const N: usize> std::hash::Hash for Text<N> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}
impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
impl<const N: usize> PartialEq<&str> for Text<N> {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

/// Serialized as a string.
impl<const N: usize> Serialize for Text<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A text that is too long is refused.
impl<'de, const N: usize> Deserialize<'de> for Text<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<const N: usize>;
        impl<const N: usize> de::Visitor<'_> for Visitor<N> {
            type Value = Text<N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "text of at most {N} bytes")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<N>, E> {
                Text::new(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// An exact decimal of `P` digits, `S` of them after the point, stored as a count of its smallest units.
///
/// The declared precision is the column's, not a limit of the type: intermediate sums may be larger.
///
/// ```
/// use bourse_schema::Price;
/// assert_eq!(Price::from_units(2_592).to_string(), "25.92");
/// assert_eq!(Price::from_units(-5).to_string(), "-0.05");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Decimal<const P: u8, const S: u8>(i64);

impl<const P: u8, const S: u8> Decimal<P, S> {
    /// Decimal with a number of smallest units: cents if `S` is 2.
    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    /// Number of smallest units: cents if `S` is 2.
    pub const fn units(self) -> i64 {
        self.0
    }
}

impl<const P: u8, const S: u8> fmt::Display for Decimal<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = 10u64.pow(u32::from(S));
        let magnitude = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:0width$}", magnitude / one, magnitude % one, width = usize::from(S))
    }
}

/// A calendar day, counted from 1970-01-01 (proleptic Gregorian).
///
/// ```
/// use bourse_schema::Date;
/// assert_eq!(Date::from_ymd(2005, 1, 3).to_string(), "2005-01-03");
/// assert_eq!(Date::from_ymd(2005, 1, 3).days(), 12_786);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Date(i32);

impl Date {
    /// Day with a number of days after 1970-01-01.
    pub const fn from_days(days: i32) -> Self {
        Self(days)
    }

    /// Days since 1970-01-01.
    pub const fn days(self) -> i32 {
        self.0
    }

    /// Day of a year, month (1..=12) and day of month.
    pub const fn from_ymd(year: i32, month: u32, day: u32) -> Self {
        // Days are counted in years that begin in March, so that the leap day is the last of its year.
        let y = if month <= 2 { year - 1 } else { year };
        let era = y.div_euclid(400);
        let of_era = y.rem_euclid(400) as u32;
        let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
        let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        Self(era * 146_097 + day_of_era as i32 - 719_468)
    }

    /// Year, month (1..=12) and day of month.
    pub const fn ymd(self) -> (i32, u32, u32) {
        let z = self.0 + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097) as u32;
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        (yoe as i32 + era * 400 + (month <= 2) as i32, month, day)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (y, m, d) = self.ymd();
        write!(f, "{y:04}-{m:02}-{d:02}")
    }
}

/// A day and time in milliseconds since 1970-01-01 00:00, without zone.
///
/// ```
/// use bourse_schema::{Date, Timestamp};
/// let opening = Timestamp::at(Date::from_ymd(2005, 1, 3), 9 * 3_600_000);
/// assert_eq!(opening.to_string(), "2005-01-03 09:00:00.000");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    const DAY: i64 = 86_400_000;

    /// Moment `ms` milliseconds after 1970-01-01 00:00.
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since 1970-01-01 00:00.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Moment `ms_of_day` milliseconds into a day.
    pub const fn at(date: Date, ms_of_day: i64) -> Self {
        Self(date.days() as i64 * Self::DAY + ms_of_day)
    }

    /// Day of the moment.
    pub const fn date(self) -> Date {
        Date::from_days(self.0.div_euclid(Self::DAY) as i32)
    }

    /// Milliseconds since midnight.
    pub const fn ms_of_day(self) -> i64 {
        self.0.rem_euclid(Self::DAY)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.ms_of_day();
        let (h, m, s) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        write!(f, "{} {h:02}:{m:02}:{s:02}.{:03}", self.date(), ms % 1_000)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

ids! {
    /// Identifier of a customer (`C_ID`): the first is 4300000001.
    CustomerId;
    /// Identifier of an account (`CA_ID`): `(customer - 1) * 10 + 1..=10`.
    AccountId;
    /// Identifier of a broker (`B_ID`): the first is 4300000001.
    BrokerId;
    /// Identifier of a company (`CO_ID`): the first is 4300000001.
    CompanyId;
    /// Identifier of an address (`AD_ID`): the first is 4300000001.
    AddressId;
    /// Identifier of a watch list (`WL_ID`).
    WatchListId;
    /// Identifier of a news item (`NI_ID`), the only one without a shift.
    NewsId;
    /// Identifier of a trade (`T_ID`): the first is 200000000000001.
    TradeId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_come_back() {
        let long: String = ('a'..='z').chain('0'..='9').cycle().take(100).collect();
        let mut text = Text::<100>::EMPTY;
        for length in (0..=100).chain((0..100).rev()) {
            let wanted = &long[100 - length..];
            text.set(wanted).unwrap();
            assert_eq!(text.as_str(), wanted);
            assert_eq!(Text::<100>::new(wanted).unwrap(), text);
            assert!(text.set_bytes(wanted.as_bytes()));
            assert_eq!(text.as_str(), wanted);
        }
        assert!(Text::<4>::new("abcde").is_err());
    }

    #[test]
    fn bytes_are_taken_if_they_are_utf8_wherever_they_are_not_ascii() {
        for length in 2..=100 {
            for at in 0..length - 1 {
                let mut bytes = vec![b'a'; length];
                bytes[at..at + 2].copy_from_slice("é".as_bytes());
                let mut text = Text::<100>::EMPTY;
                assert!(text.set_bytes(&bytes), "{length} bytes, é at {at}");
                assert_eq!(text.as_bytes(), bytes);
                bytes[at + 1] = b'a';
                assert!(!text.set_bytes(&bytes), "{length} bytes, half a character at {at}");
                assert_eq!(text, "");
            }
        }
        let mut short = Text::<4>::EMPTY;
        assert!(!short.set_bytes(b"abcde"));
    }
}
