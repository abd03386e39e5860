//! Common kinds of options, each with its parser and its format; an engine names the field that it sets.

/// Declares an [`OptionSpec`](crate::target::OptionSpec) of a common kind: its name, the field that it sets, its kind,
/// its values and its meaning. A `switch` and a `path` have the same values everywhere.
///
/// ```
/// use bourse_engine::target::OptionSpec;
/// use bourse_engine::{option_spec, option_words};
/// use std::{path::PathBuf, time::Duration};
///
/// option_words! { pub enum Sync { Off = "off", Full = "full" } }
/// pub struct Options { sync: Sync, late: Option<Sync>, ram: bool, cache_bytes: u64, wait: Duration, most: u32, bloom: Option<u8>, file: Option<PathBuf> }
///
/// static OPTIONS: &[OptionSpec<Options>] = &[
///     option_spec!("sync" => sync: word(Sync), "off, full", "when files are synced"),
///     option_spec!("late_sync" => late: optional_word(Sync), "off, full", "when old files are synced [without it: never]"),
///     option_spec!("ram" => ram: switch, "keep the data in memory"),
///     option_spec!("cache" => cache_bytes: bytes(1 << 20, 1 << 40), "bytes from 1MiB to 1TiB", "page cache"),
///     option_spec!("wait" => wait: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s", "how long a lock is waited for"),
///     option_spec!("sessions" => most: number(1, 100), "a number from 1 to 100", "sessions at once"),
///     option_spec!("bloom" => bloom: number_or("off", 1, 32), "off, or a number from 1 to 32", "bits of a filter"),
///     option_spec!("file" => file: path, "where the data are"),
/// ];
/// assert_eq!(OPTIONS[2].values, "on, off");
/// ```
#[macro_export]
macro_rules! option_spec {
    ($name:literal => $field:ident: switch, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, "on, off", $meaning, $field,
            |text| $crate::target::parse_switch(text), |value| $crate::target::show_switch(*value))
    };
    ($name:literal => $field:ident: path, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, "a path", $meaning, $field,
            |text| $crate::target::parse_path(text), |value| $crate::target::show_path(value.as_ref()))
    };
    ($name:literal => $field:ident: word($type:ident), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $type::parse(text), |value| value.word().to_owned())
    };
    ($name:literal => $field:ident: optional_word($type:ident), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $type::parse(text).map(Some),
            |value| value.map_or_else(String::new, |value| value.word().to_owned()))
    };
    ($name:literal => $field:ident: bytes($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $crate::target::parse_bytes(text, $least, $most), |value| $crate::target::show_bytes(*value))
    };
    ($name:literal => $field:ident: optional_bytes($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $crate::target::parse_bytes(text, $least, $most).map(Some),
            |value| value.map_or_else(String::new, $crate::target::show_bytes))
    };
    ($name:literal => $field:ident: number($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $crate::target::parse_number(text, $least, $most), |value| value.to_string())
    };
    ($name:literal => $field:ident: optional_number($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $crate::target::parse_number(text, $least, $most).map(Some),
            |value| value.map_or_else(String::new, |number| number.to_string()))
    };
    ($name:literal => $field:ident: number_or($none:literal, $least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| if text == $none { Ok(None) } else { $crate::target::parse_number(text, $least, $most).map(Some) },
            |value| value.map_or_else(|| $none.to_owned(), |number| number.to_string()))
    };
    ($name:literal => $field:ident: time($most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $crate::target::parse_time(text, $most), |value| $crate::target::show_time(*value))
    };
    ($name:literal => $field:ident: seconds($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::option_spec!(@of $name, $values, $meaning, $field,
            |text| $crate::target::parse_seconds(text, $least, $most), |value| $crate::target::show_seconds(*value))
    };
    (@of $name:literal, $values:literal, $meaning:literal, $field:ident, |$text:ident| $parse:expr, |$value:ident| $show:expr) => {
        $crate::target::OptionSpec {
            name: $name,
            values: $values,
            meaning: $meaning,
            set: |options, $text| $parse.map(|value| options.$field = value),
            show: |options| {
                let $value = &options.$field;
                $show
            },
        }
    };
}

/// Lifts an [`OptionSpec`](crate::target::OptionSpec) of a part of an engine's options to the whole: the part's own,
/// and the field that holds the part.
///
/// ```
/// use bourse_engine::target::OptionSpec;
/// use bourse_engine::{nested_option, option_spec};
///
/// pub struct Cache { ram: bool }
/// const CACHE: [OptionSpec<Cache>; 1] = [option_spec!("ram" => ram: switch, "keep it in memory")];
/// pub struct Options { cache: Cache }
/// static OPTIONS: &[OptionSpec<Options>] = &[nested_option!(Cache: &CACHE[0] => cache: Options)];
/// let mut options = Options { cache: Cache { ram: false } };
/// assert!((OPTIONS[0].set)(&mut options, "on").is_ok() && options.cache.ram);
/// ```
#[macro_export]
macro_rules! nested_option {
    ($part:ty: $spec:expr => $field:ident: $options:ty) => {{
        const SPEC: &$crate::target::OptionSpec<$part> = $spec;
        $crate::target::OptionSpec {
            name: SPEC.name,
            values: SPEC.values,
            meaning: SPEC.meaning,
            set: |options: &mut $options, text| (SPEC.set)(&mut options.$field, text),
            show: |options: &$options| (SPEC.show)(&options.$field),
        }
    }};
}

/// Declares the options of an engine's targets, each once: the field that holds it, its default, and its name, kind, values and
/// meaning as [`option_spec!`](crate::option_spec) has them. Gives the structure with `DEFAULT`, and the list `OPTIONS` for a
/// grammar. An option of another kind is a whole [`OptionSpec`](crate::target::OptionSpec); a field that holds another structure of
/// options is `nested`, and one that no option sets has none. An option of some builds has their `cfg` twice: on the field, and on
/// the option.
///
/// ```
/// bourse_engine::options! {
///     /// Settings of a target.
///     #[derive(Debug, PartialEq)]
///     pub struct Options;
///
///     /// `cache`, in bytes.
///     cache_bytes: u64 = 64 << 20 => ["cache": bytes(1 << 20, 1 << 40), "bytes from 1MiB to 1TiB", "page cache"];
///
///     /// `sync`.
///     sync: bool = true => ["sync": switch, "sync the log at each commit"];
/// }
/// let mut options = Options::DEFAULT;
/// assert!((OPTIONS[1].set)(&mut options, "off").is_ok());
/// assert_eq!(options, Options { sync: false, ..Options::DEFAULT });
/// ```
#[macro_export]
macro_rules! options {
    (@spec $options:ident $field:ident nested $part:ty: $spec:expr) => {
        $crate::nested_option!($part: $spec => $field: $options)
    };
    (@spec $options:ident $field:ident OptionSpec { $($spec:tt)* }) => {
        $crate::target::OptionSpec { $($spec)* }
    };
    (@spec $options:ident $field:ident $name:literal: $($spec:tt)*) => {
        $crate::option_spec!($name => $field: $($spec)*)
    };
    (
        $(#[$attribute:meta])* pub struct $options:ident;
        $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr $(=> $($(#[cfg($cfg:meta)])? [$($spec:tt)*])+)?;)*
    ) => {
        $(#[$attribute])*
        pub struct $options {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $options {
            /// Default options.
            #[allow(unused_doc_comments, reason = "a field's attributes may be more than its comment")]
            pub const DEFAULT: Self = Self { $($(#[$doc])* $field: $default,)* };
        }

        /// Every option, in the order of help and documents.
        pub(crate) const OPTIONS: &[$crate::target::OptionSpec<$options>] =
            &[$($($($(#[cfg($cfg)])? $crate::options!(@spec $options $field $($spec)*),)+)?)*];
    };
}
