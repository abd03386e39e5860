//! The examination as one HTML page that opens offline.

use crate::document::{AcidFile, Verdict};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

/// One self-contained page: verdicts first, then each test with its cases, folded away until they are wanted.
pub fn html(file: &AcidFile) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().expect("the usual delimiters differ from one another"));
    environment.add_template("acid.html", include_str!("acid.html")).expect("our own template is well-formed");
    let template = environment.get_template("acid.html").expect("it was just added");
    let page = context! {
        style => Value::from_safe_string(bourse_report::STYLE.to_owned()),
        file => Value::from(Serde(file)),
        passed => file.count(Verdict::Passed),
        failed => file.count(Verdict::Failed),
        not_applicable => file.count(Verdict::NotApplicable),
        notice => bourse_tpce::users::NOTICE,
    };
    template.render(page).expect("the template asks only for what the page has")
}
