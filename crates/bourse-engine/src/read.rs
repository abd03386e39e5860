use crate::{EngineError, ErrorKind, Row, Value};
use bourse_schema::{
    AccountId, AddressId, BrokerId, CompanyId, CustomerId, Date, Decimal, NewsId, Text, Timestamp, TradeId, WatchListId,
};

/// A value that is not of the requested type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongType {
    /// The requested type.
    pub wanted: &'static str,
    /// The value that was found.
    pub found: String,
}

impl WrongType {
    #[cold]
    fn new(wanted: &'static str, value: Value<'_>) -> Self {
        Self { wanted, found: format!("{value:?}") }
    }

    /// Converts it to an error that names the column.
    #[cold]
    pub fn in_column(self, index: usize) -> EngineError {
        EngineError::new(
            ErrorKind::Other,
            format!("column {index} of a result: wanted {}, found {}", self.wanted, self.found),
        )
    }
}

/// A Rust type that can be read from a [`Value`].
///
/// A decimal may come as such (scales are brought together) or as a plain integer of its smallest units, a date as days
/// and a timestamp as milliseconds since 1970, since SQLite stores them so.
pub trait FromValue: Sized {
    /// Converts a value.
    ///
    /// # Errors
    /// [`WrongType`] if the value cannot be one.
    fn from_value(value: Value<'_>) -> Result<Self, WrongType>;

    /// Reads column `index` of a row into `place` if it has the form that nearly all columns of this type have, without
    /// a [`Value`] or a copy on the way. Returns `false` if it has another form; `place` then has an unspecified value.
    #[inline]
    fn read_plain(_place: &mut Self, _row: &dyn Row, _index: usize) -> bool {
        false
    }
}

/// Stores a plain integer, converted by `of`, in `place`.
#[inline]
fn whole<T>(place: &mut T, row: &dyn Row, index: usize, of: impl FnOnce(i64) -> Option<T>) -> bool {
    row.int(index).and_then(of).map(|value| *place = value).is_some()
}

impl FromValue for i64 {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Int(number) => Ok(number),
            Value::Bool(flag) => Ok(i64::from(flag)),
            // Sums and counts of some engines come as decimals without fraction.
            Value::Decimal { units, scale: 0 } => Ok(units),
            other => Err(WrongType::new("an integer", other)),
        }
    }

    #[inline]
    fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
        whole(place, row, index, Some)
    }
}

macro_rules! narrower {
    ($($type:ty),*) => {$(
        impl FromValue for $type {
            #[inline]
            fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
                i64::from_value(value)?.try_into().map_err(|_| WrongType::new(stringify!($type), value))
            }

            #[inline]
            fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
                whole(place, row, index, |number| number.try_into().ok())
            }
        }
    )*};
}
narrower!(u8, u16, u32, u64, i32);

macro_rules! identifiers {
    ($($type:ident),*) => {$(
        impl FromValue for $type {
            #[inline]
            fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
                Ok($type(i64::from_value(value)?))
            }

            #[inline]
            fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
                whole(place, row, index, |number| Some($type(number)))
            }
        }
    )*};
}
identifiers!(AccountId, AddressId, BrokerId, CompanyId, CustomerId, NewsId, TradeId, WatchListId);

impl FromValue for bool {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Bool(flag) => Ok(flag),
            Value::Int(number) => Ok(number != 0),
            other => Err(WrongType::new("a flag", other)),
        }
    }

    #[inline]
    fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
        whole(place, row, index, |number| Some(number != 0))
    }
}

impl FromValue for f64 {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Real(number) => Ok(number),
            Value::Int(number) => Ok(number as f64),
            Value::Decimal { units, scale } => Ok(units as f64 / 10f64.powi(i32::from(scale))),
            other => Err(WrongType::new("a number", other)),
        }
    }
}

impl<const P: u8, const S: u8> FromValue for Decimal<P, S> {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Int(units) => Ok(Self::from_units(units)),
            Value::Decimal { units, scale } if scale == S => Ok(Self::from_units(units)),
            Value::Decimal { units, scale } if scale < S => units
                .checked_mul(10i64.pow(u32::from(S - scale)))
                .map(Self::from_units)
                .ok_or_else(|| WrongType::new("an exact decimal", value)),
            Value::Decimal { units, scale } => {
                let surplus = 10i64.pow(u32::from(scale - S));
                if units % surplus == 0 {
                    Ok(Self::from_units(units / surplus))
                } else {
                    Err(WrongType::new("an exact decimal without further digits", value))
                }
            }
            other => Err(WrongType::new("an exact decimal", other)),
        }
    }

    #[inline]
    fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
        whole(place, row, index, |number| Some(Self::from_units(number)))
    }
}

impl FromValue for Date {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Date(date) => Ok(date),
            Value::Int(days) => days.try_into().map(Date::from_days).map_err(|_| WrongType::new("a date", value)),
            other => Err(WrongType::new("a date", other)),
        }
    }

    #[inline]
    fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
        whole(place, row, index, |number| number.try_into().ok().map(Self::from_days))
    }
}

impl FromValue for Timestamp {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Timestamp(moment) => Ok(moment),
            Value::Int(ms) => Ok(Timestamp::from_millis(ms)),
            other => Err(WrongType::new("a timestamp", other)),
        }
    }

    #[inline]
    fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
        whole(place, row, index, |number| Some(Timestamp::from_millis(number)))
    }
}

impl<const N: usize> FromValue for Text<N> {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Text(text) => Text::new(text).map_err(|_| WrongType::new("a shorter text", value)),
            other => Err(WrongType::new("text", other)),
        }
    }

    #[inline]
    fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
        row.text_bytes(index).is_some_and(|bytes| place.set_bytes(bytes))
    }
}

impl FromValue for String {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Text(text) => Ok(text.to_owned()),
            other => Err(WrongType::new("text", other)),
        }
    }
}

impl FromValue for Vec<u8> {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Blob(bytes) => Ok(bytes.to_vec()),
            Value::Text(text) => Ok(text.as_bytes().to_vec()),
            other => Err(WrongType::new("bytes", other)),
        }
    }
}

impl<T: FromValue + Default> FromValue for Option<T> {
    #[inline]
    fn from_value(value: Value<'_>) -> Result<Self, WrongType> {
        match value {
            Value::Null => Ok(None),
            present => T::from_value(present).map(Some),
        }
    }

    #[inline]
    fn read_plain(place: &mut Self, row: &dyn Row, index: usize) -> bool {
        T::read_plain(place.get_or_insert_default(), row, index)
    }
}
