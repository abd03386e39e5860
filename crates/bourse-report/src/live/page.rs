//! The page that follows a run: constant but for a part that is redrawn each second from the run's state.

use super::{LIVE_HEADS, LivePoint, LiveRun};
use crate::charts::{ChartFrame, DrawnChart, escaped, live_panels};
use crate::documents::{LinePlace, SheetAnswer, SheetPart};
use crate::html::{Drawing, STYLE, draw};
use crate::tables::{ColumnHead, SheetTable, TableCell, Tone, heads, row};

/// The page's script: fetches the redrawn part each second, inserts it and draws its curves.
pub const LIVE_SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("../html/script/numbers.js"),
    include_str!("../html/script/plot.js"),
    include_str!("live.js")
);

/// The page's style, the same as of all pages.
pub const LIVE_STYLE: &str = STYLE;

/// The page, to be served with the script and the style.
pub fn live_page(run: &LiveRun, version: &str) -> String {
    let [title, version] = [run.text().title.as_str(), version].map(escaped);
    let now = live_fragment(run);
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="generator" content="Bourse {version}"/>
<title>{title}</title>
<link rel="stylesheet" href="live.css"/>
</head>
<body>
<main id="now">{now}</main>
<p id="state" class="doubtful" role="status"></p>
<footer><p>Bourse {version}. Drawn anew each second until the run ends; its report is written then.</p></footer>
<script src="live.js"></script>
</body>
</html>
"#
    )
}

/// The part of the page that is redrawn.
pub fn live_fragment(run: &LiveRun) -> String {
    let text = run.text();
    let heads = LIVE_HEADS.iter().enumerate();
    let heads = heads.map(|(at, head)| if at == 0 { ColumnHead::left(*head) } else { ColumnHead::right(*head) });
    let about = "By operation: response times of the last second, and since the round began";
    let mut operations = SheetTable::new(about, heads.collect());
    for row in &text.operations {
        let mut cells = row.each_ref().map(|cell| TableCell::text(cell));
        let failed = &mut cells[LIVE_HEADS.len() - 1];
        failed.tone = if failed.text == "0" { Tone::Plain } else { Tone::Bad };
        operations.push(cells.to_vec());
    }
    let mut resources = SheetTable::new("Resources now", heads![left "resource", right "used"]);
    text.resources.iter().for_each(|(name, used)| resources.push(row![name, used]));
    let frame = ChartFrame { id: "live", title: "The last ten minutes", about: "By seconds since the first of them." };
    let chart = Drawing::if_any("live", &frame, DrawnChart::plot(live_panels(&run.points)));
    let parts = [
        SheetPart::Answer(SheetAnswer { figure: text.throughput, ..SheetAnswer::default() }),
        SheetPart::at(LinePlace::Verdict, Tone::Plain, text.phase),
        SheetPart::Charts(chart.into_iter().collect()),
        SheetPart::Table(operations),
        SheetPart::Table(resources),
    ];
    let ended = if run.ended.is_some() { " data-ended=\"true\"" } else { "" };
    let round = if text.round.is_empty() { String::new() } else { format!(" · {}", escaped(&text.round)) };
    let (time, title) = (escaped(&text.time), escaped(&text.title));
    let mut out = format!("<div{ended}>\n<p class=\"run\">{time}{round}</p>\n<h1>{title}</h1>\n");
    draw(&mut out, &parts);
    out.push_str("</div>\n");
    out
}

/// Points with seconds since the first and values; a second in which nothing ended has no value.
pub(crate) fn points_of(points: &[LivePoint], of: impl Fn(&LivePoint) -> Option<f64>) -> Vec<(f64, Option<f64>)> {
    let first = points.first().map_or(0.0, |point| point.time_s);
    points.iter().map(|point| (point.time_s - first, of(point))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::tests::run;

    #[test]
    fn the_page_is_well_formed_asks_nobody_else_and_obeys_no_name() {
        let page = live_page(&run(), "1.2.3");
        let document = page.trim_start().strip_prefix("<!DOCTYPE html>").expect("it is HTML");
        let parsed = roxmltree::Document::parse(document).expect("it is well-formed");
        let asked: Vec<&str> =
            parsed.descendants().filter_map(|node| node.attribute("src").or(node.attribute("href"))).collect();
        assert_eq!(asked, ["live.css", "live.js"]);
        assert!(parsed.descendants().all(|node| node.attribute("style").is_none()), "the policy allows no such style");
        assert!(!page.contains("<x>") && page.contains("&lt;x&gt;") && !page.contains('\u{1b}'), "{page}");
        for shown in ["round 2 of 6", "measuring, 12 of 40 s", "Trade-Order", "12,345", "completed a second", "p99"] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert_eq!(page.matches("number bad").count(), 1, "one operation has failures");
    }

    #[test]
    fn a_run_that_has_not_begun_or_has_ended_is_drawn_too() {
        let begun = LiveRun { phase: "loading".to_owned(), ..LiveRun::default() };
        let fragment = live_fragment(&begun);
        assert!(fragment.contains("loading") && !fragment.contains("<svg"), "{fragment}");
        let ended = live_fragment(&LiveRun { ended: Some("interrupted".to_owned()), ..run() });
        assert!(ended.contains("data-ended") && ended.contains("interrupted"), "{ended}");
        assert!(!fragment.contains("data-ended"));
    }
}
