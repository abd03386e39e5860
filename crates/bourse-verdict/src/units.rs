//! Numbers in readable form: three significant figures, a unit of fitting size, never a bare `NaN`.

use bourse_record::grouped;

/// Text for a missing value.
pub const NOTHING: &str = "–";

/// A number with `figures` significant figures, thousands separated; in exponent form if it has too many zeros to count.
pub fn significant(value: f64, figures: i32) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-9..1e15).contains(&value.abs()) {
        return format!("{value:.2e}");
    }
    let magnitude = |value: f64| value.abs().log10().floor() as i32;
    let places = |value: f64| (figures - 1 - magnitude(value)).clamp(0, 12) as usize;
    // 99.96 becomes 100.0 with three figures by its first magnitude, so the magnitude is computed again after rounding.
    let rounded: f64 = format!("{value:.*}", places(value)).parse().expect("a formatted number parses");
    group(&format!("{value:.*}", places(rounded)))
}

/// Decimal number with commas between its thousands; before the point it has at most 15 digits.
fn group(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    format!("{sign}{}{fraction}", grouped(whole.parse().expect("a formatted number has digits before its point")))
}

/// A count.
pub fn count(value: u64) -> String {
    grouped(value)
}

/// `3 checks`, `1 check`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// A rate or another plain number: four figures, since headlines are compared.
pub fn number(value: f64) -> String {
    significant(value, 4)
}

/// A rate in few columns: `5.49k`, `2.16M`.
///
/// ```
/// use bourse_verdict::units::short;
/// assert_eq!([0.5, 999.4, 999.6, 5_486.0, 2_162_706.0].map(short), ["0.500", "999", "1.00k", "5.49k", "2.16M"]);
/// ```
pub fn short(value: f64) -> String {
    let (number, prefix) = scaled(value);
    format!("{number}{prefix}")
}

/// A number in three figures of thousands, millions or billions, with the prefix of these.
fn scaled(value: f64) -> (String, &'static str) {
    let (factor, prefix) = match value.abs() {
        small if small < 999.5 => (1.0, ""),
        kilo if kilo < 999.5e3 => (1e3, "k"),
        mega if mega < 999.5e6 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    (significant(value / factor, 3), prefix)
}

/// Instructions of an operation: seven figures, since they are the same every time.
pub fn instructions(value: f64) -> String {
    significant(value, 7)
}

/// An interval with its true level.
pub fn interval(interval: &bourse_record::Interval, text: impl Fn(f64) -> String) -> String {
    format!("{} interval {} to {}", level(interval.level), text(interval.low), text(interval.high))
}

/// Level of an interval: `96.1 %`, `95 %`.
pub fn level(level: f64) -> String {
    format!("{:.1} %", 100.0 * level).replace(".0 %", " %")
}

/// A share that a user set, to its full precision: `5 %`, `0.05 %`.
pub fn share(part: f64) -> String {
    // The rounding error of the typed percentage is far smaller.
    format!("{} %", (100.0 * part * 1e9).round() / 1e9)
}

/// A number that a user set: without decimals if it is whole.
pub fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { group(&format!("{value:.0}")) } else { number(value) }
}

/// A duration in nanoseconds, from `ns` to `s`.
pub fn duration_ns(nanoseconds: f64) -> String {
    if !nanoseconds.is_finite() {
        return NOTHING.to_owned();
    }
    // The bounds lie where three figures round up to 1000: 999.6 µs reads 1.00 ms.
    let (value, unit) = match nanoseconds.abs() {
        0.0 => return "0".to_owned(),
        below if below < 999.5 => (nanoseconds, "ns"),
        below if below < 999.5e3 => (nanoseconds / 1e3, "µs"),
        below if below < 999.5e6 => (nanoseconds / 1e6, "ms"),
        _ => (nanoseconds / 1e9, "s"),
    };
    format!("{} {unit}", significant(value, 3))
}

/// More than a duration in nanoseconds: `> 1.20 ms`.
pub fn beyond_ns(nanoseconds: u64) -> String {
    format!("> {}", duration_ns(nanoseconds as f64))
}

/// A length of time in seconds: `30 s`, `12.5 s`, `2 h 5 min`.
pub fn seconds(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value == 0.0 {
        return "0 s".to_owned();
    }
    if value.abs() < 1.0 {
        return duration_ns(value * 1e9);
    }
    if value < 119.5 {
        let tenths = (value * 10.0).round() / 10.0;
        return format!("{tenths} s");
    }
    let whole = value.round() as u64;
    let parts = [(whole / 3600, "h"), (whole / 60 % 60, "min"), (whole % 60, "s")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(amount, _)| *amount > 0)
        .map(|(amount, unit)| format!("{} {unit}", count(*amount)))
        .collect();
    parts.join(" ")
}

/// Bytes in binary units.
pub fn size(bytes: u64) -> String {
    self::bytes(bytes as f64)
}

/// Bytes in units of 1,024.
pub fn bytes(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = value;
    let mut unit = 0;
    while value.abs() >= 1023.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    // A part of a byte is only ever an average.
    format!("{} {}", significant(value, 3), units[unit])
}

/// Bytes in thousands and millions, as publications print sizes.
pub fn decimal_bytes(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let (number, prefix) = scaled(value);
    format!("{number} {prefix}B")
}

/// A percentage, as `10.02 %`.
pub fn percent(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value.abs() >= 1000.0 { format!("{} %", significant(value, 3)) } else { format!("{value:.2} %") }
}

/// Text from outside in printable form, in one line: control characters, and those that turn the reading direction, made
/// visible.
///
/// ```
/// assert_eq!(bourse_verdict::units::printable("jour\u{1b}[1mnal=wal"), "jour\\u{1b}[1mnal=wal");
/// ```
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // An error names its statement in a second line.
    for character in text.replace("\n  statement: ", "; statement: ").chars() {
        match character {
            '\n' | '\t' => out.push(' '),
            '\r' => {}
            _ if is_invisible(character) => out.extend(character.escape_unicode()),
            _ => out.push(character),
        }
    }
    out
}

/// Whether a character controls a terminal or turns the reading direction.
fn is_invisible(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns
}

/// A command line quoted for a POSIX shell; an argument that was not UTF-8 was recorded in quotes, `$'…\377…'`.
pub fn command_line(arguments: &[String]) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=@%+,".contains(character);
    let quoted = arguments.iter().map(|argument| {
        let is_quoted = argument.starts_with("$'") && argument.ends_with('\'') && argument.contains('\\');
        if is_quoted || (!argument.is_empty() && argument.chars().all(plain)) {
            argument.clone()
        } else if argument.contains(is_invisible) {
            format!("$'{}'", argument.chars().map(escaped).collect::<String>())
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A character as it is written between `$'` and `'`.
fn escaped(character: char) -> String {
    match character {
        '\n' => r"\n".to_owned(),
        '\\' | '\'' => format!("\\{character}"),
        _ if is_invisible(character) => {
            character.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}")).collect()
        }
        _ => character.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_and_its_statement_are_two_parts_of_a_line() {
        assert_eq!(printable("server disconnected\n  statement: COMMIT"), "server disconnected; statement: COMMIT");
        assert_eq!(printable("SELECT 1\n  FROM t"), "SELECT 1   FROM t");
    }

    #[test]
    fn durations_take_the_unit_that_fits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.00 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (12_340.0, "12.3 µs"),
            (999_600.0, "1.00 ms"),
            (4_560_000.0, "4.56 ms"),
            (1.5e9, "1.50 s"),
            (3.6e12, "3,600 s"),
            (f64::NAN, "–"),
        ];
        for (nanoseconds, expected) in cases {
            assert_eq!(duration_ns(nanoseconds), expected, "{nanoseconds}");
        }
    }

    #[test]
    fn numbers_keep_their_figures_and_group_thousands() {
        let cases = [
            (0.0, "0"),
            (0.001_234_56, "0.001235"),
            (9.999_96, "10.00"),
            (312.44, "312.4"),
            (-1_234_567.0, "-1,234,567"),
            (1e-20, "1.00e-20"),
            (2.5e18, "2.50e18"),
            (f64::INFINITY, "–"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected, "{value}");
        }
    }

    #[test]
    fn bytes_and_lengths_of_time() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(1023.0), "1,023 B");
        assert_eq!(bytes(1024.0 * 1023.9), "1.00 MiB");
        assert_eq!(bytes(f64::MAX).split(' ').next_back(), Some("PiB"));
        assert_eq!(seconds(30.0), "30 s");
        assert_eq!(seconds(12.46), "12.5 s");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(7500.0), "2 h 5 min");
    }

    #[test]
    fn outside_text_cannot_steer_a_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{202e}"), "a\\u{1b}[2Jb c\\u{202e}");
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let arguments =
            ["bourse", "tpce", "sqlite:x.db?journal=wal&sync=full", "it's", "", r"$'a\377'"].map(str::to_owned);
        assert_eq!(command_line(&arguments), r"bourse tpce 'sqlite:x.db?journal=wal&sync=full' 'it'\''s' '' $'a\377'");
        // A shell reads them as they were.
        let odd = ["two\nlines", "\u{1b}[1m", "it's\\\u{202e}"].map(str::to_owned);
        assert_eq!(command_line(&odd), r"$'two\nlines' $'\x1b[1m' $'it\'s\\\xe2\x80\xae'");
    }
}
