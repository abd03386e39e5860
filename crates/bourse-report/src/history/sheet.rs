//! The stored runs as a document: trends with their changes, then every run.

use super::trend::CaseTrend;
use super::{StoredFigure, StoredRun};
use crate::charts::{ChartFrame, DrawnChart, HistoryChart, HistoryPoint, history};
use crate::documents::{Sheet, SheetPart, ShownForms};
use crate::html::Drawing;
use crate::tables::{SheetTable, TableCell, Tone, heads, row};
use crate::units;

/// The document, with the version of the program that draws it. Links lead to the pages in the runs' folders; `from_page` is the
/// path of the folder of results from that of the page: empty, or ends with `/`.
pub fn runs(runs: &[StoredRun], version: &str, from_page: &str) -> Sheet {
    let bytes: u64 = runs.iter().map(|run| run.bytes).sum();
    let count = units::counted(runs.len() as u64, "result folder", "result folders");
    let span = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => format!(", {} to {}", minute(&first.started_at), minute(&last.started_at)),
        _ => String::new(),
    };
    let count = SheetPart::faint(format!("{count}, {}{span}", units::bytes(bytes as f64)));
    let mut page: Vec<SheetPart> =
        CaseTrend::all(runs).iter().enumerate().flat_map(|(nth, trend)| of_trend(nth, trend)).collect();
    if page.is_empty() {
        page.push(SheetPart::text(
            "No case has figures in two runs yet, so there is no trend to draw. Runs are compared where workload, target, \
             settings, durability class and machine are the same.",
        ));
    }
    let latest_first = SheetTable { title: "Every run".to_owned(), ..table(runs.iter().rev(), from_page) };
    let about = "A change of level is reported where the best cut of the series differs more than in 99 of 100 random orders of \
                 the same figures (rank sums, four runs on either side at least). A larger dot marks a run whose engine, revision \
                 or program is another than before.";
    page.extend([SheetPart::Table(latest_first), SheetPart::faint(about)]);
    let parts = vec![
        SheetPart::Only(
            ShownForms::Brief,
            vec![SheetPart::Table(SheetTable { newest_last: true, ..table(runs.iter(), from_page) })],
        ),
        count,
        SheetPart::Only(ShownForms::Whole, page),
    ];
    Sheet { parts, ..Sheet::new("Runs", version) }
}

/// A row for each case of each run.
fn table<'r>(runs: impl Iterator<Item = &'r StoredRun>, from_page: &str) -> SheetTable {
    let heads = heads![
        left "run", left "began" .rank(2), left "case", right "result", left "interval" .rank(3), left "durability",
        left "verdict", left "revision" .rank(1) .folds(),
    ];
    let mut table = SheetTable::new("", heads);
    for run in runs {
        for (nth, of) in run.lines().into_iter().enumerate() {
            let first = |cell: TableCell| if nth == 0 { cell } else { TableCell::default() };
            let link = path_of_link(&format!("{from_page}{}/{}", run.folder, run.document.page_name()));
            let case = of.map_or_else(|| run.document_name().to_owned(), |it| format!("{} {}", it.workload, it.target));
            let verdict = match run.verdict.as_str() {
                "" => of.map_or("", |it| &it.verdict),
                whole if nth == 0 => whole,
                _ => "",
            };
            let interrupted = if run.interrupted { " (interrupted)" } else { "" };
            let tone = if of.is_some_and(|it| it.failed) { Tone::Bad } else { Tone::Plain };
            table.push(row![
                first(TableCell::text(&format!("{}{interrupted}", run.folder)).link(link)),
                first(TableCell::text(&minute(&run.started_at))),
                &case,
                TableCell::text(&of.map(result).unwrap_or_default()).tone(tone),
                of.and_then(interval).unwrap_or_default(),
                of.map_or("", |it| &it.durability),
                TableCell::text(verdict).tone(tone),
                first(TableCell::text(run.revision.as_deref().unwrap_or_default()))
            ]);
        }
    }
    table
}

/// A figure with its unit, in readable form.
fn result(figure: &StoredFigure) -> String {
    match figure.value {
        Some(value) => format!("{} {}", units::number(value), figure.unit),
        None if figure.failed => "VOID".to_owned(),
        None => units::NOTHING.to_owned(),
    }
}

/// The interval of a figure, in readable form.
fn interval(figure: &StoredFigure) -> Option<String> {
    figure.value?;
    Some(format!("{} to {}", units::number(figure.low?), units::number(figure.high?)))
}

/// Date and minute of a time: `2026-11-23 08:05`.
fn minute(started_at: &str) -> String {
    started_at.chars().take(16).collect::<String>().replace('T', " ")
}

/// A path inside a link: characters with a meaning in URLs are encoded.
fn path_of_link(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn of_trend(nth: usize, trend: &CaseTrend<'_>) -> Vec<SheetPart> {
    let percent = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    let mut parts = vec![SheetPart::heading(2, trend.name.clone()), SheetPart::faint(trend.same.clone())];
    for change in &trend.changes {
        let (run, ..) = trend.points[change.at];
        let interval = change.ratio.interval.map(|it| {
            let level = units::significant(100.0 * it.level, 3);
            format!(" ({level} % interval {} to {})", percent(it.low), percent(it.high))
        });
        let news = trend.changes_at(change.at);
        let news = if news.is_empty() { String::new() } else { format!("; new in that run: {}", news.join(", ")) };
        let (ratio, interval) = (percent(change.ratio.value), interval.unwrap_or_default());
        parts.push(SheetPart::toned(Tone::Doubtful, format!("{ratio} from {} on{interval}{news}", run.folder)));
    }
    parts.push(SheetPart::Charts(chart(nth, trend).into_iter().collect()));
    let row = |(run, figure, _): &(&StoredRun, &StoredFigure, f64)| {
        let revision = run.revision.as_deref().unwrap_or_default();
        [run.folder.as_str(), &result(figure), &figure.engine, revision].map(TableCell::text).to_vec()
    };
    let data = SheetTable::of(&["run", "result", "engine", "revision"], trend.points.iter().map(row).collect());
    parts.push(SheetPart::fold("Data behind the chart", vec![SheetPart::Table(data)]));
    parts
}

fn chart(nth: usize, trend: &CaseTrend<'_>) -> Option<Drawing> {
    // Runs of one day are distinguished by their time.
    let day = |run: &StoredRun| run.started_at.chars().skip(5).take(5).collect::<String>();
    let is_one_day = trend.points.windows(2).all(|pair| day(pair[0].0) == day(pair[1].0));
    let points = trend.points.iter().enumerate().map(|(at, (run, figure, value))| {
        let news = trend.changes_at(at);
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
    let change = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    let of = HistoryChart {
        id: format!("history-{nth}"),
        title: &trend.name,
        unit: trend.unit,
        points: points.collect(),
        changes: trend.changes.iter().map(|it| (it.at, change(it.ratio.value))).collect(),
    };
    let frame = ChartFrame { id: &of.id, title: "From run to run", about: "" };
    Drawing::if_any("history", &frame, DrawnChart::still(|size| history(&of, size)))
}
