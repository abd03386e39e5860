//! `bourse engines`: the engines, which of them are available, and the options of each.

use super::{ENGINES, EngineKind};
use crate::failure::Failure;
use bourse_engine::did_you_mean;

/// The list of engines, or all options of one.
pub(crate) fn list(engine: Option<&str>) -> Result<String, Failure> {
    let mut text = String::new();
    match engine {
        None => {
            let width = crate::output::terminal_width();
            for kind in ENGINES {
                text.push_str(&entry(kind, kind.version(), width));
            }
            text.push_str("\n`bourse engines ENGINE` lists the options of its targets.\n");
        }
        Some(name) => {
            let kind = ENGINES.iter().find(|kind| kind.scheme == name).ok_or_else(|| {
                let known: Vec<_> = ENGINES.iter().map(|kind| kind.scheme).collect();
                let near = did_you_mean(name, known.iter().copied());
                Failure::usage(format!("unknown engine '{name}'{near}")).hint(format!("engines: {}", known.join(", ")))
            })?;
            text.push_str(&format!("{}: {}\n{}\n", kind.scheme, kind.summary, kind.example));
            let calls = kind.calls();
            if let Err(why) = &calls {
                text.push_str(&format!("\n{why}\n"));
            }
            for [name, values, default, meaning] in calls.as_ref().map(|calls| (calls.options)()).unwrap_or_default() {
                text.push_str(&format!("\n  {name}={values} [default: {default}]\n      {meaning}\n"));
            }
            let compiled = calls.map(|calls| (calls.compiled)()).unwrap_or_default();
            if !compiled.is_empty() {
                text.push_str("\ncompile options, as the library reports them:\n  ");
                write_wrapped(&mut text, &compiled.join(" "), 2, crate::output::terminal_width());
            }
        }
    }
    Ok(text)
}

/// An engine's lines in the list, no wider than `width` where words allow it.
fn entry(kind: &EngineKind, version: Result<String, String>, width: usize) -> String {
    const INDENT: usize = 29;
    // What does not fit the column, as a library's path, goes below like the reason why an engine is unavailable.
    let (state, more) = match version {
        Ok(version) if version.chars().count() <= 11 => (version, None),
        Ok(version) => ("available".to_owned(), Some(version)),
        Err(why) => ("unavailable".to_owned(), Some(why)),
    };
    let mut text = format!("{:<16} {state:<11} ", kind.scheme);
    let below = std::iter::once(kind.example.to_owned()).chain(more);
    for (at, line) in std::iter::once(kind.summary.to_owned()).chain(below).enumerate() {
        if at > 0 {
            text.push_str(&" ".repeat(INDENT));
        }
        write_wrapped(&mut text, &line, INDENT, width);
    }
    text
}

/// Writes words behind `indent` columns, and goes on below where a line would become wider than `width`.
fn write_wrapped(text: &mut String, words: &str, indent: usize, width: usize) {
    let mut column = indent;
    for (nth, word) in words.split_whitespace().enumerate() {
        let wide = word.chars().count();
        if nth > 0 && column + 1 + wide > width {
            text.push_str(&format!("\n{}", " ".repeat(indent)));
            column = indent;
        } else if nth > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += wide;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_keeps_to_the_terminal() {
        let why = "no library libfastdb.so was found: ".to_owned() + &"looked in many places, ".repeat(20);
        for (version, state) in [(Ok("3.54.1".to_owned()), "3.54.1"), (Err(why), "unavailable")] {
            let text = entry(&ENGINES[0], version, 100);
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            assert!(text.contains(state) && text.ends_with('\n'), "{text}");
        }
    }
}
