//! A document as Markdown, with tables in GitHub's form.

use crate::documents::{
    LinePlace, RepeatCommand, Sheet, SheetAnswer, SheetFold, SheetLine, SheetPart, ShownForms, entries,
};
use crate::tables::{CellAlign, CellForm, SheetTable, TableCell, Tone, take_queue};
use crate::units;

/// The document, to be pasted into an issue or a page. Ends with a line feed.
pub(crate) fn markdown_sheet(sheet: &Sheet) -> String {
    let [name, started_at] = sheet.run.each_ref().map(|text| escaped(text));
    let interrupted = if sheet.interrupted { " (interrupted)" } else { "" };
    let title = escaped(&sheet.title);
    let mut out = match name.is_empty() {
        true => format!("# {title}\n"),
        false if title.eq_ignore_ascii_case(&name) => format!("# Bourse: {title}, {started_at}{interrupted}\n"),
        false => format!("# Bourse: {name}, {started_at}{interrupted}\n\n## {title}\n"),
    };
    draw(&mut out, &sheet.parts);
    sheet.notices.iter().for_each(|notice| out += &format!("\n*{}*\n", escaped(notice)));
    out
}

/// Parts of a document, without its title.
pub(crate) fn markdown_parts(parts: &[SheetPart]) -> String {
    let mut out = String::new();
    draw(&mut out, parts);
    out.trim_start().to_owned()
}

fn draw(out: &mut String, parts: &[SheetPart]) {
    parts.iter().for_each(|it| part(out, it));
}

fn part(out: &mut String, part: &SheetPart) {
    match part {
        SheetPart::Paragraph(text) => *out += &format!("\n{text}\n"),
        SheetPart::Heading(level, _, text) => *out += &format!("\n{} {}\n", "#".repeat((*level).into()), escaped(text)),
        SheetPart::Answer(SheetAnswer { figure, unit, class, beside, .. }) => {
            let figure = format!("**{}**", escaped([figure.as_str(), unit].join(" ").trim_end()));
            let beside = [class].into_iter().chain(beside).filter(|it| !it.is_empty()).map(|it| escaped(it));
            *out += &format!("\n{}\n", [figure].into_iter().chain(beside).collect::<Vec<_>>().join(" · "));
        }
        SheetPart::Line(SheetLine { place, tone, class, text, .. }) => {
            let class = if class.is_empty() { String::new() } else { format!("**{}**: ", escaped(class)) };
            let tone = if *place == LinePlace::Sentence { Tone::Bad } else { *tone };
            *out += &format!("\n{class}{}\n", toned(tone, &escaped(text)));
        }
        SheetPart::List(lines) => {
            *out += if lines.is_empty() { "" } else { "\n" };
            for (level, remark) in lines {
                let indent = "  ".repeat((*level).into());
                *out += &format!("{indent}- {}\n", toned(remark.tone, &escaped(&remark.text)));
            }
        }
        SheetPart::Table(it) => table(out, it),
        SheetPart::Entries(all) => table(out, &entries(all)),
        SheetPart::Fold(SheetFold { summary, case, parts, .. }) => {
            let is_titled = matches!(parts.as_slice(), [SheetPart::Table(first), ..] if !first.title.is_empty());
            *out += &match case {
                Some(_) => format!("\n## {}\n", escaped(summary)),
                None if is_titled => String::new(),
                None => format!("\n**{}**\n", escaped(summary)),
            };
            draw(out, parts);
        }
        SheetPart::Pair(left, right) => {
            draw(out, left);
            draw(out, right);
        }
        SheetPart::Again(RepeatCommand { name, command, on }) => {
            let name = if name.is_empty() { String::new() } else { format!(": {}", escaped(name)) };
            *out += &format!("\n## Again{name}\n\n{}\n", code(&units::command_line(command)));
            *out += &if on.is_empty() { String::new() } else { format!("\n{}\n", escaped(on)) };
        }
        SheetPart::Pre(lines) => {
            *out += "\n";
            lines.iter().for_each(|line| *out += &format!("- {}\n", code(line)));
        }
        SheetPart::Only(ShownForms::Whole, parts) => draw(out, parts),
        SheetPart::Only(..) | SheetPart::Charts(_) => {}
    }
}

/// Writes a table below its title; nothing for a table without rows.
fn table(out: &mut String, table: &SheetTable) {
    if table.rows.is_empty() {
        return;
    }
    let mut table = table.clone();
    let queue = take_queue(&mut table);
    let none = table.fold();
    if !table.title.is_empty() {
        *out += &format!("\n### {}\n", escaped(&table.title));
    }
    *out += "\n";
    let wide = (table.heads.len() - 1).checked_div(table.group.len());
    row(
        out,
        table.heads.iter().enumerate().map(|(at, head)| match (at, wide) {
            (1.., Some(wide)) if (at - 1) % wide == 0 => {
                escaped(&format!("{}: {}", table.group[(at - 1) / wide], head.title))
            }
            _ => escaped(&head.title),
        }),
    );
    row(out, table.heads.iter().map(|head| if head.align == CellAlign::Right { "---:" } else { "---" }.to_owned()));
    for cells in &table.rows {
        row(out, cells.iter().map(cell));
    }
    *out += &queue.map(|queue| format!("\n{}\n", escaped(&queue))).unwrap_or_default();
    if !none.is_empty() {
        *out += &format!("\nZero in every row: {}.\n", none.join(", "));
    }
}

fn cell(cell: &TableCell) -> String {
    let text = escaped(&cell.text.replace('\n', "; "));
    match &cell.form {
        CellForm::Plain | CellForm::Link(_) => toned(cell.tone, &text),
        CellForm::Code if cell.text.is_empty() || cell.text.contains(['`', '|', '<']) => text,
        CellForm::Code => format!("`{}`", cell.text),
        CellForm::Strong(more) => format!("**{text}**{}", escaped(more)),
    }
}

/// Appends a row of a table in GitHub's form; the cells are [escaped] already.
fn row(out: &mut String, cells: impl Iterator<Item = String>) {
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
fn escaped(text: &str) -> String {
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
fn code(text: &str) -> String {
    if text.contains('<') || text.contains("](") {
        return format!("<code>{}</code>", escaped(text));
    }
    let text = units::printable(text);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}
