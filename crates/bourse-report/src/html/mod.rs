//! HTML pages that open offline: no font, no picture, no network request.
//!
//! Every page extends `base.html`, filled by minijinja, which escapes all values; only Bourse's own drawings are trusted,
//! and they escape by themselves. `page.css` and the scripts are inside the page, which shows its still charts and tables
//! without them. A script of Bourse redraws the charts from the run file that the page [contains](carried): crates with a
//! chart library add a megabyte and more, the size of several such pages and more than the program's limit allows.

mod carried;
mod grid;
mod page;

pub(crate) use carried::{Carried, json};
pub(crate) use grid::{Drawing, Grid};

use crate::units::{command_line, printable};
use bourse_record::{Provenance, RunFile};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;

/// Style of the pages, light or dark by the reader's system.
pub(crate) const STYLE: &str = include_str!("page.css");

/// Every template.
const TEMPLATES: [(&str, &str); 15] = [
    ("base.html", include_str!("base.html")),
    ("macros.html", include_str!("macros.html")),
    ("page.html", include_str!("page.html")),
    ("suite.html", include_str!("suite.html")),
    ("acid.html", include_str!("acid.html")),
    ("crash.html", include_str!("crash.html")),
    ("faults.html", include_str!("faults.html")),
    ("case.html", include_str!("case.html")),
    ("acid_case.html", include_str!("acid_case.html")),
    ("comparison.html", include_str!("comparison.html")),
    ("verdict.html", include_str!("verdict.html")),
    ("sheet.html", include_str!("sheet.html")),
    ("history.html", include_str!("history.html")),
    ("live.html", include_str!("live.html")),
    ("live_now.html", include_str!("live_now.html")),
];

/// Head of every page, with the command that runs it again.
#[derive(Debug, Serialize)]
pub(crate) struct Head {
    css: Value,
    title: String,
    name: String,
    started_at: String,
    version: String,
    interrupted: bool,
    command: String,
    on: String,
    carried: Carried,
}

impl Head {
    /// The head of a document: its title, its name and the time at which it began.
    pub(crate) fn new(title: &str, name: &str, of: &Provenance, interrupted: bool, style: &str) -> Self {
        let (machine, build) = (&of.machine, &of.build);
        let on = format!("{}, {} cores, {}; {} build", machine.processor, machine.cores, machine.system, build.profile);
        Self {
            css: Value::from_safe_string(format!("{STYLE}{style}")),
            title: printable(title),
            name: printable(name),
            started_at: printable(&of.started_at),
            version: printable(&build.version),
            interrupted,
            command: command_line(&of.command),
            on: printable(&on),
            carried: Carried::script(),
        }
    }

    /// Adds the page's hidden contents.
    pub(crate) fn carrying(self, carried: Carried) -> Self {
        Self { carried, ..self }
    }
}

/// The head of a document that is no run.
pub(crate) fn document_head(title: &str, name: &str, of: &Provenance, interrupted: bool) -> Value {
    Value::from(Serde(Head::new(title, name, of, interrupted, "")))
}

/// A run as one self-contained HTML page.
///
/// The answer comes first; it is light or dark by the reader's system, and suited to print and phones.
pub fn html(file: &RunFile) -> String {
    render("page.html", Value::from(Serde(page::page(file))))
}

/// A page of a template.
pub(crate) fn render(name: &str, page: Value) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().expect("the usual delimiters differ from one another"));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("our own template is well-formed");
    }
    let template = environment.get_template(name).expect("it was just added");
    template.render(context! { ..page }).expect("the template asks only for what the page has")
}
