use crate::Value;
use crate::types::*;

/// Domain of a column, from which each dialect derives its physical type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Identifier of up to 15 digits: `IDENT_T` and `TRADE_T`.
    Ident,
    /// Count of up to 12 digits: `S_COUNT_T`.
    Count,
    /// Signed number of up to 9 digits, such as `S_QTY_T`.
    Integer,
    /// A number of up to 4 digits.
    Small,
    /// An exact decimal.
    Decimal {
        /// Total number of digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// A binary floating-point number of 64 bits; no TPC-E column has this type.
    Real,
    /// Boolean.
    Bool,
    /// Calendar day.
    Date,
    /// Day and time in milliseconds.
    Timestamp,
    /// Text with a maximum number of characters.
    Text(usize),
    /// Bytes with a maximum length.
    Lob(usize),
}

/// A Rust type for a column, with its domain, its flat-file form and its value.
pub trait Field {
    /// Domain of the type.
    const TYPE: ColumnType;
    /// Whether the type can represent NULL.
    const NULLABLE: bool = false;

    /// Appends the form of the reference generator's flat files.
    fn write_flat(&self, out: &mut Vec<u8>);

    /// Value for an engine.
    fn value(&self) -> Value<'_>;
}

/// Two decimal digits of each number below a hundred.
pub(crate) static DIGITS: [[u8; 2]; 100] = {
    let mut table = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        table[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    table
};

/// Appends a whole number in plain decimal.
pub(crate) fn write_int(out: &mut Vec<u8>, value: i64) {
    let mut buffer = [0u8; 20];
    let mut at = buffer.len();
    let mut rest = value.unsigned_abs();
    while rest >= 100 {
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&DIGITS[(rest % 100) as usize]);
        rest /= 100;
    }
    if rest >= 10 {
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&DIGITS[rest as usize]);
    } else {
        at -= 1;
        buffer[at] = b'0' + rest as u8;
    }
    if value < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    out.extend_from_slice(&buffer[at..]);
}

fn write_date(out: &mut Vec<u8>, date: Date) {
    let (y, m, d) = date.ymd();
    let (c, y) = (DIGITS[(y / 100) as usize], DIGITS[(y % 100) as usize]);
    let (m, d) = (DIGITS[m as usize], DIGITS[d as usize]);
    out.extend_from_slice(&[c[0], c[1], y[0], y[1], b'-', m[0], m[1], b'-', d[0], d[1]]);
}

macro_rules! whole_number {
    ($($type:ty => $domain:ident),* $(,)?) => {$(
        impl Field for $type {
            const TYPE: ColumnType = ColumnType::$domain;
            fn write_flat(&self, out: &mut Vec<u8>) {
                write_int(out, i64::from(*self));
            }
            fn value(&self) -> Value<'_> {
                Value::Int(i64::from(*self))
            }
        }
    )*};
}
whole_number!(u8 => Small, u16 => Small, i32 => Integer, i64 => Count);

macro_rules! identifier {
    ($($type:ty),* $(,)?) => {$(
        impl Field for $type {
            const TYPE: ColumnType = ColumnType::Ident;
            fn write_flat(&self, out: &mut Vec<u8>) {
                write_int(out, self.0);
            }
            fn value(&self) -> Value<'_> {
                Value::Int(self.0)
            }
        }
        impl From<$type> for Value<'_> {
            fn from(id: $type) -> Self {
                Value::Int(id.0)
            }
        }
    )*};
}
identifier!(AccountId, AddressId, BrokerId, CompanyId, CustomerId, NewsId, TradeId, WatchListId);

impl Field for bool {
    const TYPE: ColumnType = ColumnType::Bool;
    fn write_flat(&self, out: &mut Vec<u8>) {
        out.push(if *self { b'1' } else { b'0' });
    }
    fn value(&self) -> Value<'_> {
        Value::Bool(*self)
    }
}

impl Field for Date {
    const TYPE: ColumnType = ColumnType::Date;
    fn write_flat(&self, out: &mut Vec<u8>) {
        write_date(out, *self);
    }
    fn value(&self) -> Value<'_> {
        Value::Date(*self)
    }
}

impl Field for Timestamp {
    const TYPE: ColumnType = ColumnType::Timestamp;
    fn write_flat(&self, out: &mut Vec<u8>) {
        write_date(out, self.date());
        let ms = self.ms_of_day() as usize;
        let [h, m, s] = [DIGITS[ms / 3_600_000], DIGITS[ms / 60_000 % 60], DIGITS[ms / 1_000 % 60]];
        let (tens, ones) = (DIGITS[ms % 1_000 / 10], b'0' + (ms % 10) as u8);
        out.extend_from_slice(&[b' ', h[0], h[1], b':', m[0], m[1], b':', s[0], s[1], b'.', tens[0], tens[1], ones]);
    }
    fn value(&self) -> Value<'_> {
        Value::Timestamp(*self)
    }
}

impl<const P: u8, const S: u8> Field for Decimal<P, S> {
    const TYPE: ColumnType = ColumnType::Decimal { precision: P, scale: S };
    fn write_flat(&self, out: &mut Vec<u8>) {
        let magnitude = self.units().unsigned_abs();
        if self.units() < 0 {
            out.push(b'-');
        }
        if S == 2 {
            write_int(out, (magnitude / 100) as i64);
            let cents = DIGITS[(magnitude % 100) as usize];
            out.extend_from_slice(&[b'.', cents[0], cents[1]]);
        } else {
            let one = 10u64.pow(u32::from(S));
            write_int(out, (magnitude / one) as i64);
            out.push(b'.');
            let mut place = one / 10;
            while place > 0 {
                out.push(b'0' + (magnitude / place % 10) as u8);
                place /= 10;
            }
        }
    }
    fn value(&self) -> Value<'_> {
        Value::Decimal { units: self.units(), scale: S }
    }
}

impl<const N: usize> Field for Text<N> {
    const TYPE: ColumnType = ColumnType::Text(N);
    fn write_flat(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
    fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }
}

/// A news item's body: the one large object of the schema, at most 100,000 bytes.
impl Field for Box<[u8]> {
    const TYPE: ColumnType = ColumnType::Lob(100_000);
    fn write_flat(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn value(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl<T: Field> Field for Option<T> {
    const TYPE: ColumnType = T::TYPE;
    const NULLABLE: bool = true;
    fn write_flat(&self, out: &mut Vec<u8>) {
        if let Some(present) = self {
            present.write_flat(out);
        }
    }
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::value)
    }
}

macro_rules! into_value {
    ($($type:ty),* $(,)?) => {$(
        impl From<$type> for Value<'_> {
            fn from(value: $type) -> Self {
                Value::Int(i64::from(value))
            }
        }
    )*};
}
into_value!(u8, u16, u32, i32, i64);

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}
impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}
impl From<Date> for Value<'_> {
    fn from(value: Date) -> Self {
        Value::Date(value)
    }
}
impl From<Timestamp> for Value<'_> {
    fn from(value: Timestamp) -> Self {
        Value::Timestamp(value)
    }
}
impl<const P: u8, const S: u8> From<Decimal<P, S>> for Value<'_> {
    fn from(value: Decimal<P, S>) -> Self {
        Value::Decimal { units: value.units(), scale: S }
    }
}
impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value)
    }
}
impl<'a, const N: usize> From<&'a Text<N>> for Value<'a> {
    fn from(value: &'a Text<N>) -> Self {
        Value::Text(value.as_str())
    }
}
impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Value::Blob(value)
    }
}
