//! Grammar of an engine's targets, and the parser for it.

use super::percent::unescape;
use super::{ExpectedValue, TargetError};
use crate::{Setting, did_you_mean};

/// One option of a target: its name, its values, its meaning, and how it is read and shown.
pub struct OptionSpec<O: 'static> {
    /// The name before the `=`.
    pub name: &'static str,
    /// The values it takes, as `on, off`.
    pub values: &'static str,
    /// Meaning, in one sentence without full stop.
    pub meaning: &'static str,
    /// Parses a value and stores it.
    pub set: fn(&mut O, &str) -> Result<(), ExpectedValue>,
    /// Formats the value; empty if it is unset.
    pub show: fn(&O) -> String,
}

/// An option of a target, as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionHelp {
    /// The name before the `=`.
    pub name: &'static str,
    /// The values it takes.
    pub values: &'static str,
    /// The default value.
    pub default: String,
    /// Meaning, in one sentence without full stop.
    pub meaning: &'static str,
}

/// One scheme of an engine: the part of a target before the colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme {
    /// The scheme, without its colon.
    pub name: &'static str,
    /// Kind of its targets, as "a private server".
    pub kind: &'static str,
    /// The engine's options that these targets do not have.
    pub without: &'static [&'static str],
    /// Reason why they do not have them.
    pub because: &'static str,
}

impl Scheme {
    /// A scheme whose targets have every option of the engine.
    pub const fn plain(name: &'static str) -> Self {
        Self { name, kind: "", without: &[], because: "" }
    }

    /// Whether its targets have the option of that name.
    pub fn has(&self, option: &str) -> bool {
        !self.without.contains(&option)
    }
}

/// Grammar of an engine's targets.
///
/// ```
/// use bourse_engine::target::{Grammar, Scheme};
/// use bourse_engine::option_spec;
///
/// #[derive(Default)]
/// struct Options { ram: bool }
/// static GRAMMAR: Grammar<Options> = Grammar {
///     engine: "Example",
///     schemes: &[Scheme::plain("example")],
///     forms: "example:PATH",
///     options: &[option_spec!("ram" => ram: switch, "keep the data in memory")],
/// };
/// let parsed = GRAMMAR.parse("example:my%20data?ram=on", Options::default()).unwrap();
/// assert!(parsed.place == "my data" && parsed.options.ram);
/// let error = GRAMMAR.parse("example:data?rom=on", Options::default()).err().unwrap();
/// assert!(error.to_string().contains("did you mean 'ram'?"));
/// ```
pub struct Grammar<O: 'static> {
    /// Name of the engine for a person.
    pub engine: &'static str,
    /// The schemes of its targets.
    pub schemes: &'static [Scheme],
    /// The forms of its targets, as "lmdb:PATH".
    pub forms: &'static str,
    /// Every option, in the order of help and documents.
    pub options: &'static [OptionSpec<O>],
}

/// A target in its parts, not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitTarget<'t> {
    /// The scheme.
    pub scheme: &'static Scheme,
    /// The text between scheme and options.
    pub place: &'t str,
    /// The text behind the `?`.
    pub query: &'t str,
}

/// A parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedTarget<O> {
    /// The target as it was typed.
    pub text: String,
    /// The place between scheme and options, decoded.
    pub place: String,
    /// The given options, and the defaults of all others.
    pub options: O,
    /// The names of the options that were given.
    pub given: Vec<&'static str>,
}

impl<O> Grammar<O> {
    /// Parses a target; options that are not given have their values in `defaults`.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what was expected.
    pub fn parse(&self, text: &str, defaults: O) -> Result<ParsedTarget<O>, TargetError> {
        let split = self.split(text)?;
        // `lmdb:///absolute` and `lmdb://relative` are what other tools write.
        let place = decode(split.place.strip_prefix("//").unwrap_or(split.place))?;
        if place.is_empty() {
            return Err(TargetError::NoPlace { target: text.to_owned(), forms: self.forms });
        }
        self.read(text, split, place, defaults)
    }

    /// Splits a target into scheme, place and options, for an engine that reads the place by rules of its own.
    ///
    /// # Errors
    /// [`TargetError::Scheme`] if it is not this engine's.
    pub fn split<'t>(&self, text: &'t str) -> Result<SplitTarget<'t>, TargetError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let wrong_scheme = || TargetError::Scheme { target: text.to_owned(), engine: self.engine, forms: self.forms };
        let scheme = self.schemes.iter().find(|scheme| scheme.name == name && text.len() > name.len());
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        Ok(SplitTarget { scheme: scheme.ok_or_else(wrong_scheme)?, place, query })
    }

    /// Parses the options of a target whose place is already parsed.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what was expected.
    pub fn read(
        &self,
        text: &str,
        split: SplitTarget<'_>,
        place: String,
        defaults: O,
    ) -> Result<ParsedTarget<O>, TargetError> {
        let mut parsed = ParsedTarget { text: text.to_owned(), place, options: defaults, given: Vec::new() };
        for pair in split.query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(|| TargetError::NotAPair { text: pair.to_owned() })?;
            let value = decode(value)?;
            let option = self.options.iter().find(|option| option.name == name);
            let option = option.ok_or_else(|| self.unknown_option(name, split.scheme))?;
            if parsed.given.contains(&option.name) {
                return Err(TargetError::Twice { name: option.name });
            }
            if !split.scheme.has(option.name) {
                let Scheme { kind: with, because: why, .. } = *split.scheme;
                return Err(TargetError::Impossible { what: option.name.to_owned(), with, why });
            }
            (option.set)(&mut parsed.options, &value).map_err(|wanted| TargetError::BadValue {
                name: option.name,
                value,
                wanted,
                values: option.values,
            })?;
            parsed.given.push(option.name);
        }
        Ok(parsed)
    }

    /// Options of a scheme's targets.
    pub fn help(&self, scheme: &str, defaults: &O) -> Vec<OptionHelp> {
        let scheme = self.schemes.iter().find(|known| known.name == scheme);
        let has = |option: &&OptionSpec<O>| scheme.is_some_and(|scheme| scheme.has(option.name));
        let help = |&OptionSpec { name, values, meaning, show, .. }: &OptionSpec<O>| OptionHelp {
            name,
            values,
            default: show(defaults),
            meaning,
        };
        self.options.iter().filter(has).map(help).collect()
    }

    /// An option with its value, as `commit=full`.
    pub fn written(&self, name: &str, options: &O) -> String {
        let value = self.options.iter().find(|option| option.name == name).map(|option| (option.show)(options));
        format!("{name}={}", value.unwrap_or_default())
    }

    /// Options as settings in force, those whose names `has` accepts.
    pub fn settings(&self, options: &O, has: impl Fn(&str) -> bool) -> Vec<Setting> {
        let shown = self.options.iter().filter(|option| has(option.name));
        shown.map(|option| Setting::new(option.name, (option.show)(options))).collect()
    }

    fn unknown_option(&self, name: &str, scheme: &Scheme) -> TargetError {
        let known = || self.options.iter().filter(|option| scheme.has(option.name));
        let line = |option: &OptionSpec<O>| format!("  {} ({}): {}", option.name, option.values, option.meaning);
        TargetError::UnknownOption {
            name: name.to_owned(),
            engine: self.engine,
            hint: did_you_mean(name, known().map(|option| option.name)),
            known: known().map(line).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// A part of a target, decoded.
///
/// # Errors
/// [`TargetError::Escape`] if it cannot be decoded.
pub(crate) fn decode(text: &str) -> Result<String, TargetError> {
    unescape(text).ok_or_else(|| TargetError::Escape { text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{parse_bytes, parse_switch, show_bytes, show_switch};

    #[derive(Debug, Clone, PartialEq, Eq)]
    struct TestOptions {
        map_bytes: u64,
        own: bool,
    }

    static GRAMMAR: Grammar<TestOptions> = Grammar {
        engine: "Example",
        schemes: &[
            Scheme::plain("ex"),
            Scheme { name: "ex+own", kind: "a server of ours", without: &["own"], because: "it always is" },
        ],
        forms: "ex:PATH",
        options: &[
            OptionSpec {
                name: "map_size",
                values: "bytes from 1MiB to 1TiB",
                meaning: "what is mapped",
                set: |options, text| parse_bytes(text, 1 << 20, 1 << 40).map(|value| options.map_bytes = value),
                show: |options| show_bytes(options.map_bytes),
            },
            OptionSpec {
                name: "own",
                values: "on, off",
                meaning: "whose it is",
                set: |options, text| parse_switch(text).map(|value| options.own = value),
                show: |options| show_switch(options.own),
            },
        ],
    };
    const DEFAULTS: TestOptions = TestOptions { map_bytes: 1 << 30, own: false };

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
    fn a_target_is_a_place_and_its_options() {
        check("ex:a.db", "a.db", 1 << 30);
        check("ex:///a/b.db?map_size=2MiB", "/a/b.db", 2 << 20);
        check("ex:a%3Fb%25?&map_size=1073741824&", "a?b%", 1 << 30);
        check("ex+own:a?map_size=2MiB", "a", 2 << 20);
        assert_eq!(GRAMMAR.written("map_size", &DEFAULTS), "map_size=1GiB");
        assert_eq!(show_bytes(1_000), "1000");
    }

    #[test]
    fn an_invalid_target_is_refused_with_what_was_expected() {
        refused("exe:a", "invalid Example target 'exe:a': expected ex:PATH");
        refused("ex", "invalid Example target 'ex'");
        refused("ex:?map_size=1MiB", "it names no place");
        refused("ex:a?mapsize=1MiB", "for Example; did you mean 'map_size'?\nknown options:\n  map_size (bytes from");
        refused("ex:a?map_sice=1MiB", "did you mean 'map_size'?");
        refused("ex:a?colour=1MiB", "unknown option 'colour' for Example\nknown options:");
        refused("ex:a?map_size=1KiB", "invalid value '1KiB' for 'map_size': out of range; expected bytes from 1MiB");
        refused("ex:a?map_size=99999999999TiB", "out of range");
        refused("ex:a?map_size=1MB", "invalid value '1MB' for 'map_size': expected bytes");
        refused("ex:a?map_size=1MiB&map_size=1MiB", "given twice");
        refused("ex:a?map_size=1MiB&map_size=1MiB", "given twice");
        refused("ex:a?map_size", "invalid option 'map_size': expected OPTION=VALUE");
        refused("ex:a%zz", "'%25'");
        refused("ex:a%00", "invalid '%' in 'a%00'");
        refused("ex+own:a?own=on", "'own' cannot be used with a server of ours: it always is");
    }

    #[test]
    fn options_that_a_scheme_does_not_have_are_not_offered() {
        let message = GRAMMAR.parse("ex+own:a?owm=on", DEFAULTS).unwrap_err().to_string();
        assert!(!message.contains("did you mean") && !message.contains("whose it is"), "{message}");
        let names =
            |scheme| GRAMMAR.help(scheme, &DEFAULTS).into_iter().map(|it| (it.name, it.default)).collect::<Vec<_>>();
        let (size, own) = (("map_size", "1GiB".to_owned()), ("own", "off".to_owned()));
        assert_eq!(names("ex"), [size.clone(), own]);
        assert_eq!(names("ex+own"), [size]);
        assert!(names("exe").is_empty());
    }
}
