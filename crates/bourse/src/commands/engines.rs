//! `bourse engines`: the engines, which of them are available, and the options of each.

use super::report::{DocumentPlace, put, texts};
use crate::args::EnginesArgs;
use crate::engines::{of_scheme, schemes};
use crate::failure::{Failure, Result};
use crate::output::print;
use bourse_engine::did_you_mean;
use bourse_engine::target::OptionHelp;
use bourse_report::{Sheet, SheetEntry};
use serde::Serialize;

/// Prints the list of engines, or all options of one; or writes it to a file.
pub(crate) fn list(arguments: &EnginesArgs) -> Result<()> {
    let (document, sheet) = match &arguments.engine {
        None => {
            let listed: Vec<ListedEngine> = schemes().filter_map(ListedEngine::of).collect();
            (serde_json::to_value(&listed), listed_sheet(&listed))
        }
        Some(name) => {
            let explained = ExplainedEngine::of(name).ok_or_else(|| unknown(name))?;
            (serde_json::to_value(&explained), explained.sheet())
        }
    };
    if arguments.json {
        let document =
            document.map_err(|error| Failure::usage(format!("cannot make the document of engines: {error}")))?;
        return print(&format!("{document:#}\n"));
    }
    let EnginesArgs { output, overwrite, csv, .. } = arguments;
    // The options of one engine are looked up: nothing is left out.
    let is_whole = arguments.verbose || arguments.engine.is_some();
    put(&sheet, None, is_whole, &DocumentPlace { output: output.as_deref(), overwrite: *overwrite, texts: texts(*csv) })
}

fn unknown(name: &str) -> Failure {
    let known: Vec<_> = schemes().collect();
    let near = did_you_mean(name, known.iter().copied());
    Failure::usage(format!("unknown engine '{name}'{near}")).hint(format!("engines: {}", known.join(", ")))
}

/// An engine of the list.
#[derive(Debug, Serialize)]
struct ListedEngine {
    /// URL scheme of its targets.
    engine: String,
    /// Description; `None` for an engine that this build leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
    /// Example of a target; `None` for an engine that this build leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'static str>,
    /// Its version on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Reason why it is unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

impl ListedEngine {
    /// The engine of a scheme; `None` if there is no such engine.
    fn of(scheme: &str) -> Option<Self> {
        let kind = of_scheme(scheme)?;
        let (version, unavailable) = match kind.clone().and_then(crate::engines::version) {
            Ok(version) => (Some(version), None),
            Err(why) => (None, Some(why)),
        };
        let kind = kind.ok();
        let (summary, example) = (kind.map(|kind| kind.summary), kind.map(|kind| kind.example));
        Some(Self { engine: scheme.to_owned(), summary, example, version, unavailable })
    }

    fn entry(&self) -> SheetEntry {
        // Text that does not fit the column, such as a library's path, goes below, like the reason why an engine is
        // unavailable.
        let fits = |version: &str| version.chars().count() <= 11;
        let (state, more) = match (self.version.as_deref(), self.unavailable.as_deref()) {
            (Some(version), _) if fits(version) => (version, None),
            (Some(text), _) => match text.split_once(", ") {
                Some((version, rest)) if fits(version) => (version, Some(rest)),
                _ => ("available", Some(text)),
            },
            (None, why) => ("unavailable", why),
        };
        let lines = self.summary.into_iter().chain(self.example).chain(more).map(str::to_owned);
        SheetEntry { name: self.engine.clone(), state: state.to_owned(), lines: lines.collect() }
    }
}

fn listed_sheet(listed: &[ListedEngine]) -> Sheet {
    let (mut here, left_out): (Vec<&ListedEngine>, Vec<&ListedEngine>) =
        listed.iter().partition(|it| it.summary.is_some());
    // A screen has room for the first of them.
    here.sort_by_key(|it| it.unavailable.is_some());
    let sheet = Sheet::new("Engines", env!("CARGO_PKG_VERSION"));
    let sheet = sheet.entries(here.into_iter().map(ListedEngine::entry).collect());
    let names: Vec<&str> = left_out.iter().map(|it| it.engine.as_str()).collect();
    let sheet = match names.as_slice() {
        [] => sheet,
        names => sheet.paragraph(format!(
            "Left out of this build: {}. `cargo install --path crates/bourse --features full` has them all.",
            names.join(", ")
        )),
    };
    sheet.paragraph("`bourse engines ENGINE` lists the options of its targets.")
}

/// An engine with its options.
#[derive(Debug, Serialize)]
struct ExplainedEngine {
    #[serde(flatten)]
    listed: ListedEngine,
    /// Every option of a target.
    options: Vec<TargetOption>,
    /// The options it was compiled with, as the library reports them.
    compile_options: Vec<String>,
}

/// An option of a target.
#[derive(Debug, Serialize)]
struct TargetOption {
    name: &'static str,
    values: &'static str,
    default: String,
    meaning: &'static str,
}

impl ExplainedEngine {
    fn of(scheme: &str) -> Option<Self> {
        let listed = ListedEngine::of(scheme)?;
        let kind = of_scheme(scheme)?.ok();
        let options = kind.map(|kind| (kind.options)(kind.scheme)).unwrap_or_default().into_iter();
        let options = options.map(|OptionHelp { name, values, default, meaning }| TargetOption {
            name,
            values,
            default,
            meaning,
        });
        let compile_options = kind.map(|kind| (kind.compiled)()).unwrap_or_default();
        Some(Self { listed, options: options.collect(), compile_options })
    }

    fn sheet(&self) -> Sheet {
        let ListedEngine { engine, summary, example, unavailable, .. } = &self.listed;
        let first = summary.map_or_else(|| engine.clone(), |summary| format!("{engine}: {summary}"));
        let lines = std::iter::once(first).chain(example.map(str::to_owned)).chain(unavailable.clone());
        let sheet = Sheet::new(&format!("Engine {engine}"), env!("CARGO_PKG_VERSION"));
        let mut sheet = lines.fold(sheet, Sheet::paragraph);
        let with_default = |values: &str, default: &str| match default {
            "" => values.to_owned(),
            _ => format!("{values} [default: {default}]"),
        };
        let options = self.options.iter().map(|TargetOption { name, values, default, meaning }| SheetEntry {
            name: (*name).to_owned(),
            state: String::new(),
            lines: vec![with_default(values, default), (*meaning).to_owned()],
        });
        let options: Vec<SheetEntry> = options.collect();
        if !options.is_empty() {
            sheet = sheet.entries(options);
        }
        if !self.compile_options.is_empty() {
            sheet = sheet.paragraph("Compile options, as the library reports them:");
            sheet = sheet.paragraph(self.compile_options.join(" "));
        }
        sheet
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
            ListedEngine { version, unavailable, ..ListedEngine::of("sqlite").expect("an engine") }.entry()
        };
        assert_eq!(listed(Some("3.54.1"), None).state, "3.54.1");
        let long = listed(Some("library /usr/lib/libfastdb.so"), None);
        assert_eq!((long.state.as_str(), long.lines[2].as_str()), ("available", "library /usr/lib/libfastdb.so"));
        let loaded = listed(Some("1.5.6, library /usr/lib/libduckdb.so"), None);
        assert_eq!((loaded.state.as_str(), loaded.lines[2].as_str()), ("1.5.6", "library /usr/lib/libduckdb.so"));
        let entry = listed(None, Some(&why));
        assert_eq!((entry.state.as_str(), &entry.lines[2]), ("unavailable", &why));
        let text = Sheet::new("Engines", "").entries(vec![entry]).terminal(100, false, false);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
