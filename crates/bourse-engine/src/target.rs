//! Targets: `SCHEME:PLACE?key=value&…`, checked whole before anything is opened.
//!
//! An engine states its settings once, as a table of [`OptionSpec`]s in a [`Grammar`]; parsing, help, documents and what a
//! refusal lists follow from it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

/// One setting: how it is written, what it means and where it goes.
pub struct OptionSpec<O: 'static> {
    /// Its key in a target's query.
    pub name: &'static str,
    /// The values it takes.
    pub values: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Reads a value.
    pub set: fn(&mut O, &str) -> Result<(), Wanted>,
    /// The value it has, as it would be written.
    pub show: fn(&O) -> String,
}

/// How the targets of an engine are written.
pub struct Grammar<O: 'static> {
    /// The engine's name for a person.
    pub engine: &'static str,
    /// The targets' scheme, without its colon.
    pub scheme: &'static str,
    /// The forms a target has, as "`lmdb:PATH`".
    pub forms: &'static str,
    /// Every setting, in the order of help and documents.
    pub options: &'static [OptionSpec<O>],
}

/// A target that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<O> {
    /// As it was given.
    pub text: String,
    /// What stands between scheme and settings, decoded.
    pub place: String,
    /// Settings, with the defaults where nothing was said.
    pub options: O,
    /// Keys of the settings that were said.
    pub given: Vec<&'static str>,
}

/// What a value should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// One of the values listed.
    Listed,
    /// The right kind of value, but too small or too large.
    InRange,
}

/// Why a target is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not of this engine.
    #[error("`{target}` is no {engine} target: wanted {forms}")]
    Scheme {
        /// As given.
        target: String,
        /// The engine.
        engine: &'static str,
        /// What is wanted.
        forms: &'static str,
    },
    /// No place.
    #[error("`{target}` names no place: wanted {forms}")]
    NoPlace {
        /// As given.
        target: String,
        /// What is wanted.
        forms: &'static str,
    },
    /// `%` without two hexadecimal digits, or bytes that are no text.
    #[error(
        "`{text}` in `{target}` has a `%` that is not followed by the two digits of a character; a `%` itself is `%25`"
    )]
    Escape {
        /// The part in question.
        text: String,
        /// As given.
        target: String,
    },
    /// Not `key=value`.
    #[error("`{text}` in `{target}` is not of the form `key=value`")]
    NotAPair {
        /// The part in question.
        text: String,
        /// As given.
        target: String,
    },
    /// An unknown key.
    #[error("{engine} targets have no option `{name}`{hint}\nknown options:\n{known}")]
    UnknownOption {
        /// The key.
        name: String,
        /// The engine.
        engine: &'static str,
        /// `; did you mean …`, or nothing.
        hint: String,
        /// What there is.
        known: String,
    },
    /// A key given twice.
    #[error("option `{name}` is given twice in `{target}`")]
    Twice {
        /// The key.
        name: &'static str,
        /// As given.
        target: String,
    },
    /// A value that is none.
    #[error("`{value}` is no value of option `{name}`{}: wanted {values}", if *wanted == Wanted::InRange { " (out of range)" } else { "" })]
    BadValue {
        /// The key.
        name: &'static str,
        /// The value as given.
        value: String,
        /// What was wrong.
        wanted: Wanted,
        /// The values the option takes.
        values: &'static str,
    },
    /// Settings that cannot go together.
    #[error("`{what}` cannot be had with {with}: {why}")]
    Impossible {
        /// The setting, as `journal=wal`.
        what: String,
        /// What it clashes with.
        with: &'static str,
        /// Why.
        why: &'static str,
    },
}

impl<O> Grammar<O> {
    /// Reads a target; what was not said is as in `defaults`.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what is known.
    pub fn parse(&self, text: &str, defaults: O) -> Result<Parsed<O>, TargetError> {
        let target = || text.to_owned();
        let wrong_scheme = || TargetError::Scheme { target: target(), engine: self.engine, forms: self.forms };
        let rest = text.strip_prefix(self.scheme).and_then(|rest| rest.strip_prefix(':')).ok_or_else(wrong_scheme)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        // `lmdb:///absolute` and `lmdb://relative` are what other tools write.
        let place = decode(place.strip_prefix("//").unwrap_or(place), text)?;
        if place.is_empty() {
            return Err(TargetError::NoPlace { target: target(), forms: self.forms });
        }
        let mut options = defaults;
        let mut given: Vec<&'static str> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let not_a_pair = || TargetError::NotAPair { text: pair.to_owned(), target: target() };
            let (name, value) = pair.split_once('=').ok_or_else(not_a_pair)?;
            let option =
                self.options.iter().find(|option| option.name == name).ok_or_else(|| self.unknown_option(name))?;
            if given.contains(&option.name) {
                return Err(TargetError::Twice { name: option.name, target: target() });
            }
            let value = decode(value, text)?;
            (option.set)(&mut options, &value).map_err(|wanted| TargetError::BadValue {
                name: option.name,
                value,
                wanted,
                values: option.values,
            })?;
            given.push(option.name);
        }
        Ok(Parsed { text: target(), place, options, given })
    }

    /// A setting as it would be written, as `commit=full`.
    pub fn written(&self, name: &str, options: &O) -> String {
        let value = self.options.iter().find(|option| option.name == name).map(|option| (option.show)(options));
        format!("{name}={}", value.unwrap_or_default())
    }

    fn unknown_option(&self, name: &str) -> TargetError {
        let line = |option: &OptionSpec<O>| format!("  {} ({}): {}", option.name, option.values, option.meaning);
        let known: Vec<_> = self.options.iter().map(line).collect();
        let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
        let wanted = plain(name);
        let is_near = |option: &&OptionSpec<O>| {
            let candidate = plain(option.name);
            wanted.len() >= 3 && (candidate.contains(&wanted) || wanted.contains(&candidate))
        };
        let near = self.options.iter().find(is_near);
        TargetError::UnknownOption {
            name: name.to_owned(),
            engine: self.engine,
            hint: near.map_or_else(String::new, |option| format!("; did you mean `{}`?", option.name)),
            known: known.join("\n"),
        }
    }
}

/// A switch: `on` or `off`.
///
/// # Errors
/// [`Wanted::Listed`] if it is neither.
pub fn parse_switch(text: &str) -> Result<bool, Wanted> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(Wanted::Listed),
    }
}

/// A switch as it is written.
pub fn show_switch(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// Gives an enum the words that its values have in targets: `ALL`, `word` and `parse`.
#[macro_export]
macro_rules! option_words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As it is written in a target.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub(crate) fn parse(text: &str) -> Result<Self, $crate::target::Wanted> {
                Self::ALL.iter().copied().find(|value| value.word() == text).ok_or($crate::target::Wanted::Listed)
            }
        }
    };
}

/// The units of sizes, largest first.
const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// A number of bytes as people write it, as `64MiB`.
///
/// # Errors
/// [`Wanted`]: it is none, or not within `least..=most`.
pub fn parse_bytes(text: &str, least: u64, most: u64) -> Result<u64, Wanted> {
    let unit = UNITS.iter().find_map(|&(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number: u64 = digits.parse().map_err(|_| Wanted::Listed)?;
    let bytes = number.checked_mul(1 << shift).ok_or(Wanted::InRange)?;
    if (least..=most).contains(&bytes) { Ok(bytes) } else { Err(Wanted::InRange) }
}

/// A number of bytes in the largest unit that divides it.
pub fn show_bytes(bytes: u64) -> String {
    match UNITS.iter().find(|&&(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift)) {
        Some(&(unit, shift)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// Undoes `%41` in a part of a target; `None` if a `%` is not followed by two hexadecimal digits, or what comes out is no
/// text or has a zero byte.
///
/// ```
/// assert_eq!(bourse_engine::target::unescape("my%20data").as_deref(), Some("my data"));
/// assert_eq!(bourse_engine::target::unescape("100%"), None);
/// ```
pub fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let (digits, tail) = tail.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = tail;
    }
    if bytes.contains(&0) { None } else { String::from_utf8(bytes).ok() }
}

fn decode(text: &str, target: &str) -> Result<String, TargetError> {
    unescape(text).ok_or_else(|| TargetError::Escape { text: text.to_owned(), target: target.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Options {
        map_bytes: u64,
    }

    static GRAMMAR: Grammar<Options> = Grammar {
        engine: "Example",
        scheme: "ex",
        forms: "`ex:PATH`",
        options: &[OptionSpec {
            name: "map_size",
            values: "bytes from 1MiB to 1TiB",
            meaning: "what is mapped",
            set: |options, text| {
                options.map_bytes = parse_bytes(text, 1 << 20, 1 << 40)?;
                Ok(())
            },
            show: |options| show_bytes(options.map_bytes),
        }],
    };
    const DEFAULTS: Options = Options { map_bytes: 1 << 30 };

    #[track_caller]
    fn check(text: &str, place: &str, map_bytes: u64) {
        let parsed = GRAMMAR.parse(text, DEFAULTS).unwrap();
        assert_eq!((parsed.place.as_str(), parsed.options.map_bytes), (place, map_bytes), "{text}");
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let message = GRAMMAR.parse(text, DEFAULTS).expect_err(text).to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }

    #[test]
    fn a_target_is_a_place_and_its_settings() {
        check("ex:a.db", "a.db", 1 << 30);
        check("ex:///a/b.db?map_size=2MiB", "/a/b.db", 2 << 20);
        check("ex:a%3Fb%25?&map_size=1073741824&", "a?b%", 1 << 30);
        assert_eq!(GRAMMAR.written("map_size", &DEFAULTS), "map_size=1GiB");
        assert_eq!(show_bytes(1_000), "1000");
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_is_known() {
        refused("exe:a", "`exe:a` is no Example target: wanted `ex:PATH`");
        refused("ex:?map_size=1MiB", "names no place");
        refused("ex:a?mapsize=1MiB", "did you mean `map_size`?\nknown options:\n  map_size (bytes from");
        refused("ex:a?map_size=1KiB", "`1KiB` is no value of option `map_size` (out of range)");
        refused("ex:a?map_size=99999999999TiB", "(out of range)");
        refused("ex:a?map_size=1MB", "`1MB` is no value of option `map_size`: wanted bytes");
        refused("ex:a?map_size=1MiB&map_size=1MiB", "given twice");
        refused("ex:a?map_size", "`key=value`");
        refused("ex:a%zz", "`%25`");
        refused("ex:a%00", "followed by");
    }
}
