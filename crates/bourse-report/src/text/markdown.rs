use crate::comparison::Compared;
use crate::tables::{self, Align, Cell, Table, Tone};
use crate::units;
use crate::view::{CaseView, Standing, case_words, latency_case, not_tpce, notices, warnings};
use bourse_record::RunFile;

/// The answer of a run as Markdown, short enough for a message: the figure with its remarks and its transactions, or the
/// cases side by side.
pub(crate) fn answer(file: &RunFile) -> String {
    let mut out = String::new();
    let views = CaseView::all(file);
    head(&mut out, file);
    if let Some(compared) = Compared::of_run(file) {
        out.push_str(&format!("\n{}", compared.markdown()));
    }
    for table in tables::comparisons(&views) {
        section(&mut out, 2, &table);
    }
    if let [only] = views.as_slice() {
        headline(&mut out, only);
        section(&mut out, 3, &tables::transactions(only));
    }
    out.push_str(&format!("\n{}\n", code(&units::command_line(&file.provenance.command))));
    for notice in notices(file) {
        out.push_str(&format!("\n*{}*\n", escaped(notice)));
    }
    out
}

fn head(out: &mut String, file: &RunFile) {
    let interrupted = if file.interrupted { " (interrupted)" } else { "" };
    out.push_str(&format!(
        "# Bourse: {}, {}{interrupted}\n",
        escaped(&file.name),
        escaped(&file.provenance.started_at)
    ));
}

/// A run as Markdown (with tables in GitHub's form), to be pasted into an issue or a page. Ends with a line feed.
pub fn markdown(file: &RunFile) -> String {
    let mut out = String::new();
    let views = CaseView::all(file);
    head(&mut out, file);
    if let Some(compared) = Compared::of_run(file) {
        out.push_str(&format!("\n{}", compared.markdown()));
    }
    for table in tables::comparisons(&views) {
        section(&mut out, 2, &table);
    }
    if views.is_empty() {
        out.push_str("\n**Nothing was run.**\n");
    }
    for view in &views {
        case(&mut out, view);
    }
    section(&mut out, 2, &tables::time_spent(file));
    for machine in tables::machines(file) {
        section(&mut out, 2, &machine);
    }
    let warnings = warnings(file);
    if !warnings.is_empty() {
        out.push_str("\n## Warnings\n\n");
        for warning in warnings {
            out.push_str(&format!("- {}\n", escaped(&warning)));
        }
    }
    out.push_str(&format!("\n## Again\n\n{}\n", code(&units::command_line(&file.provenance.command))));
    for notice in notices(file) {
        out.push_str(&format!("\n*{}*\n", escaped(notice)));
    }
    out
}

/// A case's figure, and its remarks.
fn headline(out: &mut String, view: &CaseView<'_>) {
    let engine = &view.case.engine;
    let unit = escaped(view.unit());
    let sure = view.sure().map(|it| format!(" {it}")).unwrap_or_default();
    out.push_str(&format!("\n## {}\n\n", escaped(&view.case.label)));
    let headline = match (view.valid_figure(), view.standing()) {
        (Some(figure), _) => format!("{} {unit}{sure}", units::number(figure)),
        (None, Standing::Void) => format!("VOID: no {unit}"),
        (None, _) => format!("no {unit}: nothing measured"),
    };
    let class = engine.durability;
    let on = format!("{} · {}", code(&engine.target), escaped(&case_words(view.case)));
    let results = view.results().map(|results| format!(" · {}", escaped(&results))).unwrap_or_default();
    out.push_str(&format!("**{headline}** · {class}{results} · {on}\n\n"));
    if let Some(spread) = view.spread() {
        out.push_str(&format!("- {spread}\n"));
    }
    for remark in view.remarks() {
        out.push_str(&format!("- {}\n", toned(remark.tone, &escaped(&remark.text))));
    }
    if let Some(limit) = view.limited_by() {
        out.push_str(&format!("- {}\n", escaped(&limit.sentence())));
    }
    if let Some(waits) = view.waits() {
        out.push_str(&format!("- {}\n", toned(waits.tone, &escaped(&waits.text))));
    }
    if let Some(line) = not_tpce(view) {
        out.push_str(&format!("- {}\n", escaped(&line)));
    }
}

fn case(out: &mut String, view: &CaseView<'_>) {
    headline(out, view);
    if let Some(case) = latency_case(view) {
        section(out, 3, &tables::latency(&CaseView::new(view.file, &case)));
    }
    let make: [fn(&CaseView<'_>) -> Table; 17] = [
        tables::transactions,
        tables::quantiles,
        tables::service_times,
        tables::under_way,
        tables::server_times,
        tables::outcomes,
        tables::time_split,
        tables::resources,
        tables::checks,
        tables::rules_kept,
        tables::steadiness,
        tables::search,
        tables::rounds,
        tables::parameters,
        tables::engine_settings,
        tables::compile_options,
        tables::round_facts,
    ];
    for table in make {
        section(out, 3, &table(view));
    }
}

/// Writes a table below its title; nothing for a table without rows.
fn section(out: &mut String, level: usize, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let mut table = table.clone();
    let none = table.fold();
    out.push_str(&format!("\n{} {}\n\n", "#".repeat(level), escaped(&table.title)));
    row(out, table.heads.iter().map(|head| head.title.to_owned()));
    row(out, table.heads.iter().map(|head| if head.align == Align::Right { "---:" } else { "---" }.to_owned()));
    for cells in &table.rows {
        row(out, cells.iter().map(|cell: &Cell| toned(cell.tone, &escaped(&cell.text))));
    }
    if !none.is_empty() {
        out.push_str(&format!("\nNone: {}.\n", none.join(", ")));
    }
}

/// Appends a row of a table in GitHub's form; the cells are [escaped] already.
pub(crate) fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push('|');
    for cell in cells {
        out.push_str(&format!(" {cell} |"));
    }
    out.push('\n');
}

fn toned(tone: Tone, text: &str) -> String {
    match tone {
        Tone::Bad if !text.is_empty() => format!("**{text}**"),
        _ => text.to_owned(),
    }
}

/// Text from outside, without characters that have a meaning in Markdown or HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in units::printable(text).chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
    out
}

/// Inline code, fenced by more backticks than it contains in a row. Text like a tag or a link is [escaped] instead: some
/// readers of Markdown interpret those between backticks.
pub(crate) fn code(text: &str) -> String {
    if text.contains('<') || text.contains("](") {
        return format!("<code>{}</code>", escaped(text));
    }
    let text = units::printable(text);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}
