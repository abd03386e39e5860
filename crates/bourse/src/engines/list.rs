//! `bourse engines`: the engines, which of them are available, and the options of each.

use super::{ENGINES, EngineKind};
use crate::args::Engines;
use crate::failure::Failure;
use crate::output::{has_color, print, terminal_width};
use crate::report::{Drawn, texts};
use bourse_engine::did_you_mean;
use bourse_report::{Entry, Part, Sheet, sheet_csv, sheet_html, sheet_markdown, sheet_terminal};
use serde::Serialize;

/// Prints the list of engines, or all options of one; or writes it to a file.
pub(crate) fn list(arguments: &Engines) -> Result<(), Failure> {
    let (document, sheet) = match &arguments.engine {
        None => {
            let listed: Vec<Listed> = ENGINES.iter().map(Listed::of).collect();
            (serde_json::to_value(&listed), listed_sheet(&listed))
        }
        Some(name) => {
            let explained = Explained::of(named(name)?);
            (serde_json::to_value(&explained), explained.sheet())
        }
    };
    if arguments.json {
        let document =
            document.map_err(|error| Failure::usage(format!("cannot make the document of engines: {error}")))?;
        return print(&format!("{document:#}\n"));
    }
    let drawn = Drawn {
        terminal: &|| sheet_terminal(&sheet, terminal_width(), has_color()),
        html: &|| sheet_html(&sheet),
        markdown: &|| sheet_markdown(&sheet),
        csv: &|| sheet_csv(&sheet, texts(arguments.csv)),
    };
    drawn.put(arguments.output.as_deref())
}

fn named(name: &str) -> Result<&'static EngineKind, Failure> {
    ENGINES.iter().find(|kind| kind.scheme == name).ok_or_else(|| {
        let known: Vec<_> = ENGINES.iter().map(|kind| kind.scheme).collect();
        let near = did_you_mean(name, known.iter().copied());
        Failure::usage(format!("unknown engine '{name}'{near}")).hint(format!("engines: {}", known.join(", ")))
    })
}

/// An engine of the list.
#[derive(Debug, Serialize)]
struct Listed {
    /// What its targets begin with.
    engine: &'static str,
    /// What it is.
    summary: &'static str,
    /// How its targets are written.
    example: &'static str,
    /// Its version on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Why it is unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

impl Listed {
    fn of(kind: &EngineKind) -> Self {
        let found = kind.version();
        let (version, unavailable) = match found {
            Ok(version) => (Some(version), None),
            Err(why) => (None, Some(why)),
        };
        Self { engine: kind.scheme, summary: kind.summary, example: kind.example, version, unavailable }
    }

    fn entry(&self) -> Entry {
        // What does not fit the column, as a library's path, goes below like the reason why an engine is unavailable.
        let (state, more) = match (&self.version, &self.unavailable) {
            (Some(version), _) if version.chars().count() <= 11 => (version.as_str(), None),
            (Some(version), _) => ("available", Some(version)),
            (None, why) => ("unavailable", why.as_ref()),
        };
        let lines = [self.summary, self.example].into_iter().map(str::to_owned).chain(more.cloned());
        Entry { name: self.engine.to_owned(), state: state.to_owned(), lines: lines.collect() }
    }
}

fn listed_sheet(listed: &[Listed]) -> Sheet {
    let entries = listed.iter().map(Listed::entry).collect();
    sheet(
        "Engines",
        vec![
            Part::Entries(entries),
            Part::Paragraph("`bourse engines ENGINE` lists the options of its targets.".to_owned()),
        ],
    )
}

fn sheet(title: &str, parts: Vec<Part>) -> Sheet {
    Sheet { title: title.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), parts }
}

/// An engine with its options.
#[derive(Debug, Serialize)]
struct Explained {
    #[serde(flatten)]
    listed: Listed,
    /// Every option of a target.
    options: Vec<TargetOption>,
    /// The options it was compiled with, as the library reports them.
    compile_options: Vec<String>,
}

/// An option of a target.
#[derive(Debug, Serialize)]
struct TargetOption {
    name: String,
    values: String,
    default: String,
    meaning: String,
}

impl Explained {
    fn of(kind: &EngineKind) -> Self {
        let calls = kind.calls();
        let options = calls.as_ref().map(|calls| (calls.options)()).unwrap_or_default().into_iter();
        let options =
            options.map(|[name, values, default, meaning]| TargetOption { name, values, default, meaning }).collect();
        let compile_options = calls.map(|calls| (calls.compiled)()).unwrap_or_default();
        Self { listed: Listed::of(kind), options, compile_options }
    }

    fn sheet(&self) -> Sheet {
        let Listed { engine, summary, example, unavailable, .. } = &self.listed;
        let mut parts = vec![Part::Paragraph(format!("{engine}: {summary}")), Part::Paragraph((*example).to_owned())];
        parts.extend(unavailable.clone().map(Part::Paragraph));
        let options = self.options.iter().map(|TargetOption { name, values, default, meaning }| Entry {
            name: name.clone(),
            state: String::new(),
            lines: vec![format!("{values} [default: {default}]"), meaning.clone()],
        });
        let options: Vec<Entry> = options.collect();
        if !options.is_empty() {
            parts.push(Part::Entries(options));
        }
        if !self.compile_options.is_empty() {
            parts.push(Part::Paragraph("Compile options, as the library reports them:".to_owned()));
            parts.push(Part::Paragraph(self.compile_options.join(" ")));
        }
        sheet(&format!("Engine {engine}"), parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_says_its_version_or_why_it_is_unavailable() {
        let why = "no library libfastdb.so was found: ".to_owned() + &"looked in many places, ".repeat(20);
        let listed = |version: Option<&str>, unavailable: Option<&str>| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let (version, unavailable) = (owned(version), owned(unavailable));
            Listed { version, unavailable, ..Listed::of(&ENGINES[0]) }.entry()
        };
        assert_eq!(listed(Some("3.54.1"), None).state, "3.54.1");
        let long = listed(Some("library /usr/lib/libfastdb.so"), None);
        assert_eq!((long.state.as_str(), long.lines[2].as_str()), ("available", "library /usr/lib/libfastdb.so"));
        let entry = listed(None, Some(&why));
        assert_eq!((entry.state.as_str(), &entry.lines[2]), ("unavailable", &why));
        let text = sheet_terminal(&sheet("Engines", vec![Part::Entries(vec![entry])]), 100, false);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
