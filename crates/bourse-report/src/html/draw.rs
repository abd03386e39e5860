//! A document as a page that opens offline.

use super::{Drawing, HiddenContents, STYLE};
use crate::charts::escaped;
use crate::documents::{
    LinePlace, RepeatCommand, Sheet, SheetAnswer, SheetFold, SheetLine, SheetPart, ShownForms, entries,
};
use crate::tables::{CellAlign, CellForm, SheetTable, TableCell, Tone, take_queue};
use crate::units::command_line;
use crate::view::Remark;

/// One self-contained page.
pub(crate) fn page(sheet: &Sheet) -> String {
    let Sheet { title, version, parts, run: [name, started_at], window, interrupted, notices, document, answer } =
        sheet;
    let carried = HiddenContents::new(document.as_ref(), answer.as_ref());
    let (title, version) = (escaped(title), escaped(version));
    let window = window.as_ref().map_or_else(|| title.clone(), |window| escaped(window));
    let mut run = format!("Bourse {version}");
    [name, started_at].into_iter().filter(|it| !it.is_empty()).for_each(|it| run += &format!(" · {}", escaped(it)));
    if *interrupted {
        run += " · <strong class=\"bad\">interrupted</strong>";
    }
    let mut main = String::new();
    draw(&mut main, parts);
    let mut links = String::new();
    contents(&mut links, parts);
    let class = if sheet.window.is_some() { " class=\"label\"" } else { "" };
    let footer: String =
        notices.iter().map(|notice| format!("<footer><p>{}</p></footer>\n", escaped(notice))).collect();
    format!(
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="{policy}"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="generator" content="Bourse {version}"/>
<title>{window}</title>
<style>
{STYLE}</style>
</head>
<body>
<a class="skip" href="#answer">Skip to the answer</a>
<header class="top">
<p class="run">{run}</p>
<nav aria-label="Contents">
{links}</nav>
<p id="tools"></p>
</header>
<main id="answer">
<h1{class}>{title}</h1>
{main}</main>
{footer}{hidden}</body>
</html>
"##,
        policy = HiddenContents::policy(),
        hidden = carried.elements(),
    )
}

/// Links to the headings that have an anchor.
fn contents(out: &mut String, parts: &[SheetPart]) {
    for part in parts {
        match part {
            SheetPart::Heading(2, id, text) if !id.is_empty() => {
                let name = text.split(", ").next().unwrap_or(text);
                *out += &format!("<a href=\"#{id}\">{}</a>\n", escaped(name));
            }
            SheetPart::Only(ShownForms::Html | ShownForms::Whole, parts) => contents(out, parts),
            SheetPart::Again(RepeatCommand { name, .. }) if name.is_empty() => {
                *out += "<a href=\"#again\">Run it again</a>\n"
            }
            _ => {}
        }
    }
}

/// Draws parts one below the other.
pub(crate) fn draw(out: &mut String, parts: &[SheetPart]) {
    parts.iter().for_each(|it| part(out, it));
}

fn class_of(class: &str) -> String {
    if class.trim().is_empty() { String::new() } else { format!(" class=\"{}\"", class.trim()) }
}

fn id_of(id: &str) -> String {
    if id.is_empty() { String::new() } else { format!(" id=\"{id}\"") }
}

fn part(out: &mut String, part: &SheetPart) {
    match part {
        SheetPart::Paragraph(text) => *out += &format!("<p>{}</p>\n", escaped(text)),
        SheetPart::Heading(level, id, text) => {
            *out += &format!("<h{level}{}>{}</h{level}>\n", id_of(id), escaped(text))
        }
        SheetPart::Answer(answer) => figure(out, answer),
        SheetPart::Line(it) => line(out, it),
        SheetPart::List(lines) => list(out, lines),
        SheetPart::Table(it) => table(out, it),
        SheetPart::Entries(all) => table(out, &entries(all)),
        SheetPart::Charts(charts) => {
            let together = charts.len() > 1;
            *out += if together { "<div class=\"charts\">\n" } else { "" };
            charts.iter().for_each(|chart| drawing(out, chart));
            *out += if together { "</div>\n" } else { "" };
        }
        SheetPart::Fold(it) => fold(out, it),
        SheetPart::Pair(left, right) => {
            *out += "<div class=\"pair\">\n<div>\n";
            draw(out, left);
            *out += "</div>\n<div>\n";
            draw(out, right);
            *out += "</div>\n</div>\n";
        }
        SheetPart::Again(RepeatCommand { name, command, on }) => {
            *out += &match name.is_empty() {
                true => "<h2 id=\"again\">Run it again</h2>\n".to_owned(),
                false => format!("<h3>Run it again: {}</h3>\n", escaped(name)),
            };
            *out += &format!("<pre class=\"command\">{}</pre>\n", escaped(&command_line(command)));
            if !on.is_empty() {
                *out += &format!("<p class=\"faint\">{}</p>\n", escaped(on));
            }
        }
        SheetPart::Pre(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
            *out += &format!("<pre>{}</pre>\n", lines.join("\n"));
        }
        SheetPart::Only(shown, parts) => {
            if matches!(shown, ShownForms::Html | ShownForms::Whole) {
                draw(out, parts);
            }
        }
    }
}

fn figure(out: &mut String, SheetAnswer { figure, unit, is_bad, class, beside }: &SheetAnswer) {
    let void = if *is_bad { " void" } else { "" };
    let unit = if unit.is_empty() { String::new() } else { format!(" <span class=\"unit\">{}</span>", escaped(unit)) };
    *out += &format!("<p class=\"figure{void}\">{}{unit}</p>\n", escaped(figure));
    let badge = (!class.is_empty()).then(|| format!("<span class=\"class\">{}</span>", escaped(class)));
    let parts: Vec<String> = badge.into_iter().chain(beside.iter().map(|it| escaped(it))).collect();
    if !parts.is_empty() {
        *out += &format!("<p class=\"beside\">{}</p>\n", parts.join(" · "));
    }
}

fn line(out: &mut String, SheetLine { place, tone, class, text, spans }: &SheetLine) {
    let badge =
        if class.is_empty() { String::new() } else { format!("<span class=\"class\">{}</span> ", escaped(class)) };
    let (text, tone) = (escaped(text), tone.class());
    *out += &match place {
        LinePlace::Text => format!("<p{}>{badge}{text}</p>\n", class_of(tone)),
        LinePlace::Beside => format!("<p{}>{badge}{text}</p>\n", class_of(&format!("beside {tone}"))),
        LinePlace::Target => format!("<p class=\"target\">{text}</p>\n"),
        // Only the parts that are bad are drawn so.
        LinePlace::Verdict if !spans.is_empty() => {
            let span =
                |(tone, text): &(Tone, String)| format!("<span{}>{}</span>", class_of(tone.class()), escaped(text));
            let spans: Vec<String> = spans.iter().map(span).collect();
            format!("<p class=\"verdict\">{}</p>\n", spans.join(" · "))
        }
        LinePlace::Verdict => format!("<p{}>{text}</p>\n", class_of(&format!("verdict {tone}"))),
        LinePlace::Sentence => format!("<p{}><strong>{text}</strong></p>\n", class_of(&format!("sentence {tone}"))),
        LinePlace::Failed => format!("<p class=\"failed bad\" role=\"alert\">{text}</p>\n"),
    };
}

/// Lines of a list; those of level 1 are a list within the one before them.
fn list(out: &mut String, lines: &[(u8, Remark)]) {
    if lines.is_empty() {
        return;
    }
    *out += "<ul class=\"remarks\">\n";
    for (at, (level, remark)) in lines.iter().enumerate() {
        let next = lines.get(at + 1).map_or(0, |(next, _)| *next);
        *out += &format!("<li{}>{}", class_of(remark.tone.class()), escaped(&remark.text));
        *out += match (level, next) {
            (0, 1..) => "\n<ul>\n",
            (1.., 0) => "</li>\n</ul></li>\n",
            _ => "</li>\n",
        };
    }
    *out += "</ul>\n";
}

fn fold(out: &mut String, SheetFold { id, summary, case, is_open, parts }: &SheetFold) {
    let class = if case.is_some() { " class=\"case\"" } else { "" };
    let open = if *is_open { " open=\"open\"" } else { "" };
    let beside = case.as_ref().map(|[figure, class]| {
        format!(" <span class=\"faint\">{}</span> <span class=\"class\">{}</span>", escaped(figure), escaped(class))
    });
    let beside = beside.unwrap_or_default();
    *out += &format!("<details{class}{}{open}><summary>{}{beside}</summary>\n", id_of(id), escaped(summary));
    draw(out, parts);
    *out += "</details>\n";
}

/// A table; nothing without rows. Columns that are zero in every row are named below it.
fn table(out: &mut String, table: &SheetTable) {
    if table.rows.is_empty() {
        return;
    }
    let mut table = table.clone();
    let queue = take_queue(&mut table);
    let zeros = table.fold();
    let SheetTable { title, heads, rows, group, .. } = &table;
    let caption = match title.is_empty() {
        true => "<caption class=\"unseen\">Table</caption>".to_owned(),
        false => format!("<caption><span>{}</span></caption>", escaped(title)),
    };
    let label = if title.is_empty() { "Table".to_owned() } else { escaped(title) };
    *out += &format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n");
    *out += &format!("<table{}>\n{caption}\n<thead>", if group.is_empty() { "" } else { " class=\"grouped\"" });
    if !group.is_empty() {
        let wide = (heads.len() - 1) / group.len();
        let groups: String = group
            .iter()
            .map(|name| format!("<th scope=\"colgroup\" colspan=\"{wide}\" class=\"group\">{}</th>", escaped(name)))
            .collect();
        *out += &format!("<tr><td></td>{groups}</tr>\n");
    }
    let number = |align: CellAlign| if align == CellAlign::Right { "number" } else { "" };
    *out += "<tr>";
    for head in heads {
        *out += &format!("<th scope=\"col\"{}>{}</th>", class_of(number(head.align)), escaped(&head.title));
    }
    *out += "</tr></thead>\n<tbody>\n";
    for row in rows {
        *out += "<tr>";
        for (at, (cell, head)) in row.iter().zip(heads).enumerate() {
            let class = class_of(&format!("{} {}", number(head.align), cell.tone.class()));
            let text = cell_text(cell);
            *out += &match at {
                0 => format!("<th scope=\"row\"{class}>{text}</th>"),
                _ => format!("<td{class}>{text}</td>"),
            };
        }
        *out += "</tr>\n";
    }
    *out += "</tbody>\n</table>\n</div>\n";
    if let Some(queue) = queue {
        *out += &format!("<p class=\"faint\">{}</p>\n", escaped(&queue));
    }
    if !zeros.is_empty() {
        *out += &format!("<p class=\"faint\">Zero in every row: {}.</p>\n", escaped(&zeros.join(", ")));
    }
}

fn cell_text(cell: &TableCell) -> String {
    let text = cell.text.split('\n').map(escaped).collect::<Vec<_>>().join("<br/>");
    match &cell.form {
        CellForm::Plain => text,
        CellForm::Code => format!("<code>{text}</code>"),
        CellForm::Strong(more) => format!("<strong>{text}</strong>{}", escaped(more)),
        CellForm::Link(to) => format!("<a href=\"{}\">{text}</a>", escaped(to)),
    }
}

fn drawing(out: &mut String, Drawing { id, key, title, about, drawn }: &Drawing) {
    let (id, title, about) = (escaped(id), escaped(title), escaped(about));
    *out += &format!("<figure class=\"chart\" id=\"{id}\" data-chart=\"{key}\">\n");
    *out += &format!("<figcaption><h3>{title}</h3><p>{about}</p></figcaption>\n");
    for (class, svg) in &drawn.sizes {
        *out += &format!("<div class=\"{class}\">{svg}</div>\n");
    }
    if let Some((plot, described)) = &drawn.plot {
        *out += &format!("<p class=\"faint described\">{}</p>\n", escaped(described));
        *out += &format!("<script type=\"application/json\" class=\"plot\">{plot}</script>\n");
    } else if drawn.sizes.is_empty() {
        *out += "<p class=\"faint\">Nothing was recorded for this chart.</p>\n";
    }
    *out += "</figure>\n";
}
