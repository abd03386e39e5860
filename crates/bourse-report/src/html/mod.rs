//! One HTML page that opens offline: no script, no font, no picture from anywhere.
//!
//! `page.html` is the page, filled by minijinja, which escapes all it is given; only our own drawings are trusted, and
//! they escape for themselves. `page.css` stands inside the page.

mod page;

use bourse_record::RunFile;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};

/// The style of our pages, light or dark as the reader's system is.
pub const STYLE: &str = include_str!("page.css");

/// A run as one self-contained HTML page.
///
/// The answer comes first; light or dark as the reader's system is; made to be printed and to be read on a phone.
pub fn html(file: &RunFile) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().expect("the usual delimiters differ from one another"));
    environment.add_template("page.html", include_str!("page.html")).expect("our own template is well-formed");
    let template = environment.get_template("page.html").expect("it was just added");
    template.render(Serde(page::page(file))).expect("the template asks only for what the page has")
}
