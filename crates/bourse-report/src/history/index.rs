//! The list of stored runs in each form, and the page with its trends.

use super::trend::Trend;
use super::{StoredFigure, StoredRun};
use crate::charts::{History, HistoryPoint, Size, history};
use crate::documents::{Cell, Part, Sheet, sheet_csv, sheet_markdown, sheet_terminal};
use crate::html::{Carried, STYLE, render};
use crate::text::CsvText;
use crate::units::{self, command_line, printable};
use minijinja::value::Serde;
use minijinja::{Value, context};

/// The list for a terminal of `width` columns: a line for each case of each run, the latest run last.
pub fn history_terminal(runs: &[StoredRun], width: usize, color: bool) -> String {
    sheet_terminal(&sheet(runs), width, color)
}

/// The list as Markdown.
pub fn history_markdown(runs: &[StoredRun]) -> String {
    sheet_markdown(&sheet(runs))
}

/// The list as CSV.
pub fn history_csv(runs: &[StoredRun], texts: CsvText) -> String {
    let heads = [
        "folder",
        "started_at",
        "document",
        "workload",
        "target",
        "engine",
        "durability",
        "figure",
        "figure_low",
        "figure_high",
        "unit",
        "checks",
        "revision",
        "bourse",
        "machine",
        "folder_bytes",
    ];
    let plain = |value: Option<f64>| value.map(|it| it.to_string()).unwrap_or_default();
    let line = |run: &StoredRun, of: Option<&StoredFigure>| {
        let text = |of: Option<&String>| of.cloned().unwrap_or_default();
        let cells = [
            run.folder.clone(),
            run.started_at.clone(),
            run.document.file_name().trim_end_matches(".json").to_owned(),
            text(of.map(|it| &it.workload)),
            text(of.map(|it| &it.target)),
            text(of.map(|it| &it.engine)),
            text(of.map(|it| &it.durability)),
            plain(of.and_then(|it| it.value)),
            plain(of.and_then(|it| it.low)),
            plain(of.and_then(|it| it.high)),
            text(of.map(|it| &it.unit)),
            text(of.map(|it| &it.checks)),
            text(run.revision.as_ref()),
            run.bourse.clone(),
            run.machine.clone(),
            run.bytes.to_string(),
        ];
        cells.map(Cell::Text).to_vec()
    };
    let rows = runs.iter().flat_map(|run| lines_of(run).into_iter().map(move |of| line(run, of))).collect();
    let table = Part::Table { heads: heads.map(str::to_owned).to_vec(), rows };
    sheet_csv(&Sheet { parts: vec![table], ..Sheet::default() }, texts)
}

/// The figures of a run, or one line without a figure.
fn lines_of(run: &StoredRun) -> Vec<Option<&StoredFigure>> {
    if run.figures.is_empty() { vec![None] } else { run.figures.iter().map(Some).collect() }
}

/// A figure with its interval, in readable form.
fn result(figure: &StoredFigure) -> String {
    let Some(value) = figure.value else {
        return if figure.failed { "VOID".to_owned() } else { units::NOTHING.to_owned() };
    };
    let interval = figure.low.zip(figure.high);
    let interval = interval.map(|(low, high)| format!(" ({} to {})", units::number(low), units::number(high)));
    format!("{} {}{}", units::number(value), figure.unit, interval.unwrap_or_default())
}

/// Date and minute of a time: `2026-11-23 08:05`.
fn minute(started_at: &str) -> String {
    started_at.chars().take(16).collect::<String>().replace('T', " ")
}

fn sheet(runs: &[StoredRun]) -> Sheet {
    let mut rows = Vec::new();
    for run in runs {
        for (nth, of) in lines_of(run).into_iter().enumerate() {
            let first = |text: String| if nth == 0 { text } else { String::new() };
            let case = of.map_or_else(
                || run.document.file_name().trim_end_matches(".json").to_owned(),
                |it| format!("{} {}", it.workload, it.target),
            );
            let mut said: Vec<String> = Vec::new();
            said.extend(of.map(result));
            said.extend(of.map(|it| it.durability.clone()));
            said.extend(of.filter(|it| it.failed).map(|it| it.checks.clone()));
            said.extend(run.interrupted.then(|| "interrupted".to_owned()));
            rows.push(vec![Cell::Code(first(run.folder.clone())), Cell::Text(case), Cell::Text(said.join(" · "))]);
        }
    }
    let bytes: u64 = runs.iter().map(|run| run.bytes).sum();
    let count = units::counted(runs.len() as u64, "result folder", "result folders");
    let heads = ["run", "case", "result"].map(str::to_owned).to_vec();
    Sheet {
        title: "Runs".to_owned(),
        version: String::new(),
        parts: vec![Part::Table { heads, rows }, Part::Paragraph(format!("{count}, {}", units::bytes(bytes as f64)))],
    }
}

/// The index page: trends with their changes, then every run with a link to its page. `links` are the paths of the folders
/// relative to the page.
pub fn history_html(runs: &[StoredRun], version: &str) -> String {
    let trends: Vec<Value> = Trend::all(runs).iter().enumerate().map(|(nth, trend)| trend_value(nth, trend)).collect();
    let rows: Vec<Value> = runs
        .iter()
        .rev()
        .map(|run| {
            let cases: Vec<Value> = run
                .figures
                .iter()
                .map(|it| {
                    context! {
                        name => printable(&format!("{} on {}", it.workload, it.target)),
                        result => printable(&result(it)),
                        engine => printable(&it.engine),
                        durability => it.durability.clone(),
                        checks => it.checks.clone(),
                        bad => it.failed,
                    }
                })
                .collect();
            context! {
                folder => printable(&run.folder),
                link => format!("{}/{}", path_of_link(&run.folder), run.document.page_name()),
                when => minute(&run.started_at),
                command => command_line(&run.command),
                revision => run.revision.as_deref().map(printable),
                kind => run.document.file_name().trim_end_matches(".json"),
                interrupted => run.interrupted,
                cases,
            }
        })
        .collect();
    let css = Value::from_safe_string(STYLE.to_owned());
    let span = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => format!("{} to {}", minute(&first.started_at), minute(&last.started_at)),
        _ => String::new(),
    };
    let carried = Value::from(Serde(Carried::script()));
    let head = context! { css, carried, title => "Runs", version => printable(version) };
    render("history.html", context! { head, trends, rows, span, count => runs.len() })
}

/// A folder's name inside a link: characters with a meaning in URLs are encoded.
fn path_of_link(folder: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    folder.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn trend_value(nth: usize, trend: &Trend<'_>) -> Value {
    let percent = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    // Runs of one day are distinguished by their time.
    let day = |run: &StoredRun| run.started_at.chars().skip(5).take(5).collect::<String>();
    let is_one_day = trend.points.windows(2).all(|pair| day(pair[0].0) == day(pair[1].0));
    let points = trend.points.iter().enumerate().map(|(at, (run, figure, value))| {
        let news = trend.news(at);
        let mut words = vec![run.folder.clone(), minute(&run.started_at), result(figure)];
        words.extend(run.revision.clone());
        words.extend(news.iter().map(|it| format!("new: {it}")));
        HistoryPoint {
            day: if is_one_day { run.started_at.chars().skip(11).take(5).collect() } else { day(run) },
            value: *value,
            interval: figure.low.zip(figure.high),
            words: words.join("\n"),
            is_new: !news.is_empty(),
        }
    });
    let chart = History {
        id: format!("history-{nth}"),
        title: &trend.name,
        unit: trend.unit,
        points: points.collect(),
        changes: trend.changes.iter().map(|it| (it.at, percent(it.ratio.value))).collect(),
    };
    let sizes: Vec<Value> = Size::ALL
        .into_iter()
        .filter_map(|size| {
            Some(context! { class => size.class(), svg => Value::from_safe_string(history(&chart, size)?) })
        })
        .collect();
    let changes: Vec<String> = trend
        .changes
        .iter()
        .map(|change| {
            let (run, ..) = trend.points[change.at];
            let interval = change.ratio.interval.map(|it| {
                let level = units::significant(100.0 * it.level, 3);
                format!(" ({level} % interval {} to {})", percent(it.low), percent(it.high))
            });
            let news = trend.news(change.at);
            let news = if news.is_empty() { String::new() } else { format!("; new in that run: {}", news.join(", ")) };
            printable(&format!(
                "{} from {} on{}{news}",
                percent(change.ratio.value),
                run.folder,
                interval.unwrap_or_default()
            ))
        })
        .collect();
    let data: Vec<Value> = trend
        .points
        .iter()
        .map(|(run, figure, _)| {
            context! {
                folder => printable(&run.folder),
                result => printable(&result(figure)),
                engine => printable(&figure.engine),
                revision => run.revision.as_deref().map(printable),
            }
        })
        .collect();
    context! { name => printable(&trend.name), same => printable(&trend.same), sizes, changes, data }
}
