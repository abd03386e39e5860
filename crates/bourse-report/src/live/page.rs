//! The page that follows a run: constant but for a part that is redrawn each second from the run's state.

use super::{LIVE_HEADS, LivePoint, LiveRun};
use crate::charts::{Drawn, Frame, live_panels};
use crate::html::{STYLE, render};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

/// The page's script: fetches the redrawn part each second and inserts it.
pub const LIVE_SCRIPT: &str = include_str!("live.js");

/// The page's style, the same as of all pages.
pub const LIVE_STYLE: &str = STYLE;

#[derive(Serialize)]
struct Cell {
    text: String,
    class: &'static str,
}

#[derive(Serialize)]
struct HeadCell {
    title: &'static str,
    right: bool,
}

#[derive(Serialize)]
struct Grid {
    title: &'static str,
    heads: Vec<HeadCell>,
    rows: Vec<Vec<Cell>>,
}

/// The page, to be served with the script and the style.
pub fn live_page(run: &LiveRun, version: &str) -> String {
    let title = run.text().title;
    render("live.html", context! { title, version, now => Value::from_safe_string(live_fragment(run)) })
}

/// The part of the page that is redrawn.
pub fn live_fragment(run: &LiveRun) -> String {
    let text = run.text();
    let number = |at: usize| at > 0;
    let row = |cells: &[String; LIVE_HEADS.len()]| -> Vec<Cell> {
        let cell = |(at, text): (usize, &String)| {
            let has_failed = at + 1 == LIVE_HEADS.len() && text != "0";
            let class = if has_failed {
                "number bad"
            } else if number(at) {
                "number"
            } else {
                ""
            };
            Cell { text: text.clone(), class }
        };
        cells.iter().enumerate().map(cell).collect()
    };
    let operations = Grid {
        title: "By operation: response times of the last second, and since the round began",
        heads: LIVE_HEADS.iter().enumerate().map(|(at, title)| HeadCell { title, right: number(at) }).collect(),
        rows: text.operations.iter().map(row).collect(),
    };
    let resources = Grid {
        title: "Resources now",
        heads: vec![HeadCell { title: "resource", right: false }, HeadCell { title: "used", right: true }],
        rows: text
            .resources
            .iter()
            .map(|(name, text)| {
                vec![Cell { text: (*name).to_owned(), class: "" }, Cell { text: text.clone(), class: "number" }]
            })
            .collect(),
    };
    let frame = Frame { id: "live", title: "The last ten minutes", about: "By seconds since the first of them." };
    let sizes: Vec<(&str, Value)> = Drawn::plot(&frame, live_panels(&run.points))
        .sizes
        .into_iter()
        .map(|(class, svg)| (class, Value::from_safe_string(svg)))
        .collect();
    render(
        "live_now.html",
        context! {
            title => text.title, round => text.round, phase => text.phase, time => text.time,
            throughput => text.throughput, ended => run.ended.is_some(), about => frame.about, name => frame.title,
            operations => Value::from(Serde(operations)), resources => Value::from(Serde(resources)), sizes,
        },
    )
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
