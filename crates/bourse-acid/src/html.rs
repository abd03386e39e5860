//! The examination as one HTML page that opens offline.

use crate::document::{AcidFile, Verdict};
use crate::kept::{CrashFile, CrashRow, HEADS};
use crate::sampled::{SAMPLED_HEADS, SampledStates};
use crate::states::{ABOUT_STATES, FAULT_HEADS, FaultRow, STATES_HEADS};
use bourse_report::words::command_line;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

/// One self-contained page: verdicts first, then each test with its cases, folded away until they are wanted.
pub fn html(file: &AcidFile) -> String {
    let page = context! {
        style => Value::from_safe_string(bourse_report::STYLE.to_owned()),
        file => Value::from(Serde(file)),
        warnings => file.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        passed => file.count(Verdict::Passed),
        failed => file.count(Verdict::Failed),
        not_applicable => file.count(Verdict::NotApplicable),
        notice => bourse_tpce::users::NOTICE,
        command => command_line(&file.provenance.command),
    };
    render("acid.html", page)
}

/// One self-contained page: a row for each target, then every crash with its findings.
pub fn crash_html(file: &CrashFile) -> String {
    let sampled = |it: &SampledStates| {
        let rows: Vec<_> = it.rows().map(|(cells, broken)| context! { cells, broken }).collect();
        context! { about => it.about(), heads => SAMPLED_HEADS, rows }
    };
    let row = |row: &CrashRow| {
        context! { cells => row.cells(), holds => row.holds(), sampled => row.sampled.as_ref().map(sampled) }
    };
    let rows: Vec<_> = file.rows.iter().map(row).collect();
    let states = file.states.as_ref().map(|states| {
        let rows: Vec<_> = states.rows.iter().map(|row| context! { cells => row.cells(), holds => row.holds() }).collect();
        let faults: Vec<_> = states.faults.iter().map(FaultRow::cells).collect();
        let broken: Vec<_> = states.broken_examples().map(|it| context! { state => it.state.as_str(), found => it.found.as_str() }).collect();
        context! { heads => STATES_HEADS, fault_heads => FAULT_HEADS, words => states.words(), about => ABOUT_STATES, rows, faults, broken }
    });
    let page = context! {
        style => Value::from_safe_string(bourse_report::STYLE.to_owned()),
        file => Value::from(Serde(file)),
        heads => HEADS,
        rows,
        states,
        broken => file.broken(),
        about => format!("{} {}", crate::text::ABOUT_CRASHES, file.power_of_sample()),
        notice => bourse_tpce::users::NOTICE,
        command => command_line(&file.provenance.command),
    };
    render("crash.html", page)
}

pub(crate) fn render(name: &str, page: Value) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().expect("the usual delimiters differ from one another"));
    for (name, text) in [
        ("acid.html", include_str!("acid.html")),
        ("crash.html", include_str!("crash.html")),
        ("faults.html", include_str!("faults.html")),
        ("case.html", include_str!("case.html")),
    ] {
        environment.add_template(name, text).expect("our own template is well-formed");
    }
    let template = environment.get_template(name).expect("it was just added");
    template.render(page).expect("the template asks only for what the page has")
}
