//! Common kinds of options, each with its parser and its format; an engine names the field that it sets.

/// Declares an [`OptionSpec`](crate::target::OptionSpec) of a common kind: its name, the field that it sets, its kind,
/// its values and its meaning. A `switch` and a `path` have the same values everywhere.
///
/// ```
/// use bourse_engine::target::OptionSpec;
/// use bourse_engine::{option_spec, option_words};
/// use std::{path::PathBuf, time::Duration};
///
/// #[derive(Clone, Copy)]
/// pub enum Sync { Off, Full }
/// option_words!(Sync { Off = "off", Full = "full" });
/// pub struct Options { sync: Sync, late: Option<Sync>, ram: bool, cache_bytes: u64, wait: Duration, most: u32, file: Option<PathBuf> }
///
/// static OPTIONS: &[OptionSpec<Options>] = &[
///     option_spec!("sync" => sync: word(Sync), "off, full", "when files are synced"),
///     option_spec!("late_sync" => late: optional_word(Sync), "off, full", "when old files are synced [without it: never]"),
///     option_spec!("ram" => ram: switch, "keep the data in memory"),
///     option_spec!("cache" => cache_bytes: bytes(1 << 20, 1 << 40), "bytes from 1MiB to 1TiB", "page cache"),
///     option_spec!("wait" => wait: seconds(1, 3_600), "a time in whole seconds from 1s to 3600s", "how long a lock is waited for"),
///     option_spec!("sessions" => most: number(1, 100), "a number from 1 to 100", "sessions at once"),
///     option_spec!("file" => file: path, "where the data are"),
/// ];
/// assert_eq!(OPTIONS[2].values, "on, off");
/// ```
#[macro_export]
macro_rules! option_spec {
    ($name:literal => $field:ident: switch, $meaning:literal $(,)?) => {
        $crate::target::OptionSpec {
            name: $name,
            values: "on, off",
            meaning: $meaning,
            set: |options, text| $crate::target::parse_switch(text).map(|value| options.$field = value),
            show: |options| $crate::target::show_switch(options.$field),
        }
    };
    ($name:literal => $field:ident: path, $meaning:literal $(,)?) => {
        $crate::target::OptionSpec {
            name: $name,
            values: "a path",
            meaning: $meaning,
            set: |options, text| $crate::target::parse_path(text).map(|value| options.$field = value),
            show: |options| $crate::target::show_path(options.$field.as_ref()),
        }
    };
    ($name:literal => $field:ident: word($type:ident), $values:literal, $meaning:literal $(,)?) => {
        $crate::target::OptionSpec {
            name: $name,
            values: $values,
            meaning: $meaning,
            set: |options, text| $type::parse(text).map(|value| options.$field = value),
            show: |options| options.$field.word().to_owned(),
        }
    };
    ($name:literal => $field:ident: optional_word($type:ident), $values:literal, $meaning:literal $(,)?) => {
        $crate::target::OptionSpec {
            name: $name,
            values: $values,
            meaning: $meaning,
            set: |options, text| $type::parse(text).map(Some).map(|value| options.$field = value),
            show: |options| options.$field.map_or_else(String::new, |value| value.word().to_owned()),
        }
    };
    ($name:literal => $field:ident: bytes($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::target::OptionSpec {
            name: $name,
            values: $values,
            meaning: $meaning,
            set: |options, text| $crate::target::parse_bytes(text, $least, $most).map(|value| options.$field = value),
            show: |options| $crate::target::show_bytes(options.$field),
        }
    };
    ($name:literal => $field:ident: seconds($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::target::OptionSpec {
            name: $name,
            values: $values,
            meaning: $meaning,
            set: |options, text| $crate::target::parse_seconds(text, $least, $most).map(|value| options.$field = value),
            show: |options| $crate::target::show_seconds(options.$field),
        }
    };
    ($name:literal => $field:ident: number($least:expr, $most:expr), $values:literal, $meaning:literal $(,)?) => {
        $crate::target::OptionSpec {
            name: $name,
            values: $values,
            meaning: $meaning,
            set: |options, text| $crate::target::parse_number(text, $least, $most).map(|value| options.$field = value),
            show: |options| options.$field.to_string(),
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
