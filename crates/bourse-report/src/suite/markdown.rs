//! A suite as Markdown, for a comment or a page.

use super::view;
use crate::text::{code, escaped, markdown_row};
use crate::units;
use bourse_suite::SuiteFile;

/// A suite as Markdown: the published tables, each cell measured, published and ratio.
pub fn suite_markdown(file: &SuiteFile) -> String {
    let mut out =
        format!("# {}\n\n{}, {}\n\n", escaped(&file.title), escaped(&file.suite), escaped(&file.provenance.started_at));
    for (_, text) in view::summary(file) {
        out.push_str(&format!("- {}\n", escaped(&text)));
    }
    for table in &file.tables {
        out.push_str(&format!("\n## {}\n\n{}\n", escaped(&table.title), escaped(&view::durability(file, table).0)));
        let (matrices, notes) = view::matrices(table);
        for matrix in &matrices {
            out.push_str(&format!("\n### {}\n\n", escaped(&matrix.title)));
            let heads = matrix.columns.iter().flat_map(|column| {
                let column = escaped(column);
                [format!("{column}: ours"), "published".to_owned(), "ratio".to_owned()]
            });
            markdown_row(&mut out, std::iter::once(escaped(&matrix.rows_are)).chain(heads));
            let aligned = std::iter::once("---").chain(std::iter::repeat_n("---:", matrix.columns.len() * 3));
            markdown_row(&mut out, aligned.map(str::to_owned));
            for (title, cells) in &matrix.rows {
                let cells = cells.iter().flat_map(|cell| {
                    let ours = format!("{} {}", cell.ours, cell.mark);
                    [escaped(ours.trim_end()), escaped(&cell.published), escaped(&cell.ratio)]
                });
                markdown_row(&mut out, std::iter::once(escaped(title)).chain(cells));
            }
        }
        out.push('\n');
        for note in notes.lines().chain(table.notes.iter().cloned()) {
            out.push_str(&format!("- {}\n", escaped(&note)));
        }
    }
    if !file.findings.is_empty() {
        out.push_str("\n## What was found then, and whether it holds here\n\n");
        for finding in &file.findings {
            out.push_str(&format!("- **{}**: {}\n", finding.verdict.words(), escaped(&view::finding_words(finding))));
            for test in &finding.tests {
                out.push_str(&format!("  - {}\n", escaped(&view::test_words(test))));
            }
            if let Some(why) = &finding.untested {
                out.push_str(&format!("  - not tested: {}\n", escaped(why)));
            }
        }
    }
    for (title, items) in [
        ("Published on", &file.published_on),
        ("What is different here", &file.departures),
        ("Doubts about the published figures", &file.notes),
        ("Warnings", &view::warnings(file)),
    ] {
        if !items.is_empty() {
            out.push_str(&format!("\n## {title}\n\n"));
            items.iter().for_each(|item| out.push_str(&format!("- {}\n", escaped(item))));
        }
    }
    out.push_str(&format!("\n## Again\n\n{}\n", code(&units::command_line(&file.provenance.command))));
    if let Some(notice) = &file.notice {
        out.push_str(&format!("\n*{}*\n", escaped(notice)));
    }
    out
}
