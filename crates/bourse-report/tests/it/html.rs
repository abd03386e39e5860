use crate::fixture;
use base64::Engine as _;
use bourse_record::{Case, Document as _, Durability, RunFile};
use bourse_report::DrawComparison as _;
use bourse_report::html;
use bourse_verdict::comparison::{CasePair, ComparedCases, RunNoise};
use bourse_verdict::suite::SuiteFile;
use roxmltree::{Document, Node, ParsingOptions};
use sha2::Digest as _;
use std::path::Path;
use std::sync::LazyLock;

/// The page is also well-formed XML, so that a strict parser can find misplaced markup.
fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}:\n{page}"))
}

fn elements<'a>(document: &'a Document<'a>, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |node| node.tag_name().name() == name)
}

fn words(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(|node| node.is_text()).filter_map(|node| node.text());
    texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn with_class<'a>(document: &'a Document<'a>, class: &'a str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| node.attribute("class").is_some_and(|all| all.split(' ').any(|each| each == class));
    document.descendants().filter(has).collect()
}

/// A comparison of rounds that took turns, B a tenth faster.
fn comparison() -> String {
    let case = |label: &str, decks: [u64; 8]| {
        let case = fixture::case(label, Durability::Durable, 30);
        Case { rounds: decks.map(fixture::round).to_vec(), ..case }
    };
    let base = case("sqlite:a.db?journal=delete", [30, 31, 29, 30, 32, 28, 30, 31]);
    let head = case("sqlite:b.db?journal=wal", [33, 34, 32, 33, 35, 31, 33, 34]);
    let pair = CasePair { base, head, in_turn: true };
    let compared = ComparedCases::of(&[pair], vec!["a note".to_owned()], 0.05, &RunNoise::Unknown);
    compared.html(&[("A and B", &fixture::normal().provenance)])
}

/// A page of every kind, with its name.
pub(crate) fn pages() -> &'static [(String, String)] {
    static PAGES: LazyLock<Vec<(String, String)>> = LazyLock::new(drawn_pages);
    &PAGES
}

fn drawn_pages() -> Vec<(String, String)> {
    let runs = fixture::all().into_iter().map(|(name, file)| (name.to_owned(), html(&file)));
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/suite_document/suite.json");
    let suite = SuiteFile::read(&seed).expect("a seed of fuzzing is a document");
    let others = [("comparison".to_owned(), comparison()), ("suite".to_owned(), bourse_report::suite_html(&suite))];
    let quick = ("quick".to_owned(), html(&fixture::quick(&["sqlite", "lmdb"])));
    runs.chain(others).chain([quick]).collect()
}

#[test]
fn every_page_begins_with_its_title_and_has_a_caption_for_each_table() {
    for (name, page) in pages() {
        let document = parsed(page);
        assert_eq!(elements(&document, "h1").count(), 1, "{name}");
        let skip = elements(&document, "a").next().expect("a link to skip by");
        assert_eq!((skip.attribute("class"), skip.attribute("href")), (Some("skip"), Some("#answer")), "{name}");
        for table in elements(&document, "table") {
            let first = table.children().find(Node::is_element).expect("a table is not empty");
            assert!(first.tag_name().name() == "caption" && !words(first).is_empty(), "{name}");
        }
    }
}

#[test]
fn a_comparison_has_its_verdict_and_its_picture() {
    let page = comparison();
    let document = parsed(&page);
    assert!(words(with_class(&document, "sentence")[0]).starts_with("B is faster: +"), "{page}");
    let chart = with_class(&document, "chart")[0];
    let about = chart.descendants().find(|node| node.tag_name().name() == "desc").map(words).expect("it is described");
    assert!(about.contains("transactions/s, more is better: +") && about.contains("): faster."), "{about}");
    // An estimate for each metric, the headline's larger.
    let radii: Vec<_> = with_class(&document, "estimate").into_iter().filter_map(|node| node.attribute("r")).collect();
    assert_eq!(radii.len() % 2, 0, "wide and narrow");
    assert_eq!(radii.iter().filter(|radius| **radius == "6.0").count(), 2, "{radii:?}");
}

#[test]
fn a_suite_has_our_figures_beside_the_published_ones() {
    let (_, page) = pages().iter().find(|(name, _)| name == "suite").expect("it is among the pages");
    let document = parsed(page);
    let charts = with_class(&document, "chart");
    let marks: Vec<_> = charts.iter().filter(|chart| chart.attribute("data-chart") == Some("published")).collect();
    assert!(!marks.is_empty());
    for chart in marks {
        let drawn = |class: &str| chart.descendants().filter(|node| node.attribute("class") == Some(class)).count();
        assert!(drawn("then") > 2 && drawn("estimate plain") > 2, "more than the legend's");
    }
}

#[test]
fn several_cases_have_a_chart_a_ranking_and_their_series_over_one_another() {
    let page = html(&fixture::several());
    let document = parsed(&page);
    let of_group = |node: &Node<'_, '_>| node.attribute("id").is_some_and(|id| id.starts_with("group-1-"));
    let charts = document.descendants().filter(of_group).filter_map(|node| node.attribute("data-chart"));
    assert_eq!(charts.collect::<Vec<_>>(), ["comparison", "time", "tail"]);
    let said = words(document.root_element());
    assert!(said.contains(
        "durable: highest: sqlite durable, 1,008 transactions/s; too few rounds for intervals of the ratios (6 needed)"
    ));
    assert!(said.contains("volatile: sqlite in memory: 3,000 transactions/s"), "classes are not ranked together");
    // Units that differ have no axis together.
    let micro = html(&fixture::micro());
    let micro = parsed(&micro);
    let groups = elements(&micro, "h2").filter(|node| node.attribute("id").is_some_and(|id| id.starts_with("group-")));
    assert_eq!(groups.count(), 2);
    assert!(with_class(&micro, "bar").is_empty());
}

#[test]
fn every_page_is_well_formed_and_needs_nothing_from_elsewhere() {
    for (name, page) in pages() {
        let document = parsed(page);
        for node in document.descendants().filter(Node::is_element) {
            let tag = node.tag_name().name();
            let foreign = ["link", "img", "iframe", "object", "embed", "audio", "video", "image", "use", "base"];
            assert!(!foreign.contains(&tag), "{name}: <{tag}>");
            for attribute in node.attributes() {
                let (key, value) = (attribute.name(), attribute.value());
                assert!(!key.starts_with("on") && key != "src" && key != "style", "{name}: {key}={value}");
                assert!(key != "href" || value.starts_with('#'), "{name}: {key}={value}");
            }
        }
        // One script that runs, the same in every page and the one that the policy lets run; the others are data.
        let scripts: Vec<_> = elements(&document, "script").collect();
        let running: Vec<_> = scripts.iter().filter(|script| script.attribute("type").is_none()).collect();
        assert_eq!(running.len(), 1, "{name}");
        let data =
            |script: &&Node<'_, '_>| matches!(script.attribute("type"), Some("application/json" | "application/gzip"));
        assert_eq!(scripts.iter().filter(data).count(), scripts.len() - 1, "{name}");
        let text =
            page.rsplit_once("<script>").and_then(|(_, rest)| rest.split_once("</script>")).expect("it has a script").0;
        let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text));
        let policy = elements(&document, "meta").find_map(|meta| {
            meta.attribute("content").filter(|_| meta.attribute("http-equiv") == Some("Content-Security-Policy"))
        });
        let policy = policy.expect("it has a policy");
        assert!(policy.starts_with(&format!("default-src 'none'; script-src 'sha256-{hash}';")), "{name}: {policy}");
        let css: String = elements(&document, "style").map(words).collect();
        assert!(css.contains("prefers-color-scheme: dark") && css.contains("@media print"), "{name}");
        assert!(!css.contains("url(") && !css.contains("@import"), "{name}");
    }
}

#[test]
fn ids_are_the_pages_only_ones_and_lead_somewhere() {
    for (name, page) in pages() {
        let document = parsed(page);
        let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{name}: an id stands twice");
        for svg in elements(&document, "svg") {
            let labels: Vec<&str> =
                svg.attribute("aria-labelledby").expect("each drawing is labelled").split(' ').collect();
            assert_eq!(labels.len(), 2, "{name}");
            assert!(labels.iter().all(|label| ids.contains(label)), "{name}: {labels:?}");
            let said =
                svg.children().filter(Node::is_element).take(2).map(|node| (node.tag_name().name(), words(node)));
            let said: Vec<_> = said.collect();
            assert!(said[0].0 == "title" && said[1].0 == "desc" && said.iter().all(|(_, words)| !words.is_empty()));
        }
        for link in elements(&document, "a") {
            let target = link.attribute("href").expect("a link leads somewhere").trim_start_matches('#');
            assert!(ids.contains(&target), "{name}: {target}");
        }
    }
}

#[test]
fn every_chart_is_in_the_page() {
    let names = [
        "throughput", "response", "distribution", "percentiles", "time-split", "processor", "memory", "sizes",
        "storage", "waiting",
    ];
    let page = html(&fixture::normal());
    let document = parsed(&page);
    let charts: Vec<Node<'_, '_>> = with_class(&document, "chart");
    let found: Vec<&str> = charts.iter().filter_map(|chart| chart.attribute("data-chart")).collect();
    assert_eq!(found, names);
    // Curves are described to the page's script and to a reader without it; the others are drawn wide and narrow.
    for chart in charts {
        let count = |name: &str| chart.descendants().filter(|node| node.tag_name().name() == name).count();
        let is_still = ["distribution", "time-split"].contains(&chart.attribute("data-chart").expect("a key"));
        assert_eq!((count("svg"), count("script")), if is_still { (2, 0) } else { (0, 1) }, "{}", words(chart));
        assert!(is_still || words(chart).contains(": at most "), "{}", words(chart));
    }
}

/// Checks that passed were once as red as what was not steady.
#[test]
fn only_what_is_bad_is_red_in_the_verdict() {
    let page = html(&fixture::void());
    let document = parsed(&page);
    let verdict = with_class(&document, "verdict")[0];
    let bad = verdict.descendants().filter(|it| it.attribute("class") == Some("bad")).map(words);
    assert_eq!(bad.collect::<Vec<_>>(), ["checks: 1 passed, 1 FAILED"]);
    assert!(words(verdict).ends_with("bottleneck: syncs to disk"), "{}", words(verdict));
}

#[test]
fn what_was_not_recorded_is_said_and_not_drawn() {
    let page = html(&fixture::empty());
    let document = parsed(&page);
    assert_eq!(elements(&document, "svg").count(), 0);
    assert_eq!(page.matches("Nothing was recorded for this chart.").count(), 3, "one for each that is not over time");
    assert_eq!(page.matches("too short for charts over time").count(), 1);
    assert_eq!(words(with_class(&document, "figure")[0]), "no transactions/s: nothing measured");
}

#[test]
fn two_hours_make_no_larger_a_page_than_a_reader_can_load() {
    let page = html(&fixture::long());
    parsed(&page);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn drawings_stay_within_themselves() {
    for (name, page) in pages() {
        let document = parsed(page);
        for svg in elements(&document, "svg") {
            let sizes = svg.attribute("viewBox").expect("each drawing has a size");
            let sizes: Vec<f64> = sizes.split(' ').map(|size| size.parse().expect("a size is a number")).collect();
            for node in
                svg.descendants().filter(|node| ["line", "rect", "circle", "text"].contains(&node.tag_name().name()))
            {
                for (key, most) in
                    [("x", 2), ("x1", 2), ("x2", 2), ("cx", 2), ("y", 3), ("y1", 3), ("y2", 3), ("cy", 3)]
                {
                    let Some(value) = node.attribute(key) else { continue };
                    let value: f64 = value.parse().expect("a place is a number");
                    assert!((0.0..=sizes[most]).contains(&value), "{name}: {node:?}");
                }
            }
            let data = svg.descendants().filter_map(|node| node.attribute("d")).collect::<String>();
            assert!(!data.contains("NaN") && !data.contains("inf"), "{name}: {data}");
        }
    }
}

#[test]
fn a_sweep_has_its_curve_as_a_picture_of_its_own() {
    assert_eq!(bourse_report::svg(&fixture::normal()), None, "one case is no curve");
    let mut swept = fixture::several();
    for (case, users) in swept.cases.iter_mut().zip(1..) {
        case.varied = vec![fixture::pair("users", &users.to_string())];
        case.engine.target = fixture::HOSTILE.to_owned();
    }
    let picture = bourse_report::svg(&swept).expect("two cases and more have a curve");
    let document = parsed(&picture);
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert!(words(document.root_element()).contains("Result by users"));
    assert!(with_class(&document, "f1").len() >= 4, "two points of two panels: {picture}");
    assert!(picture.contains("--paper: #fff"), "it brings its colours");
}

#[test]
fn databases_that_outgrow_their_memory_are_drawn_by_the_part_that_fits() {
    let mut swept = fixture::several();
    for (at, case) in swept.cases.iter_mut().enumerate() {
        case.varied = vec![fixture::pair("rows", &format!("{}k", at + 1))];
        case.engine.target = "sqlite:x.db".to_owned();
        case.conditions.memory_limit_bytes = Some((306 >> at) << 20);
        case.rounds.iter_mut().for_each(|round| round.read_bytes = 1 << 30);
    }
    let picture = bourse_report::svg(&swept).expect("cases of several sizes have a curve");
    assert!(
        picture.contains("size of the database / memory") && picture.contains("misses of an operation"),
        "{picture}"
    );
    let page = html(&swept);
    for words in ["database / memory", "bytes read/op", "306 MiB of memory", "153 MiB of memory"] {
        assert!(page.contains(words), "{words}");
    }
    swept.cases.iter_mut().for_each(|case| case.conditions.memory_limit_bytes = Some(1 << 30));
    let picture = bourse_report::svg(&swept).expect("the option has a curve");
    assert!(!picture.contains("/ memory"), "databases of one size: {picture}");
}

#[test]
fn two_seconds_are_no_course_over_time() {
    let shortened = |rows: usize| {
        let mut file = fixture::normal();
        let series = &mut file.cases[0].rounds[0].series;
        series.time_s.truncate(rows);
        series.columns.iter_mut().for_each(|column| column.values.truncate(rows));
        html(&file)
    };
    let chart = r#"data-chart="throughput""#;
    assert!(shortened(3).contains(chart) && !shortened(2).contains(chart));
}

#[test]
fn hostile_text_is_text() {
    let page = html(&fixture::hostile());
    assert!(
        !page.contains("<script>alert")
            && !page.contains("</script>alert")
            && !page.contains('\u{1b}')
            && !page.contains('\u{202e}')
    );
    let document = parsed(&page);
    let shown = r#"<script>alert('1')</script>"&|`*_\u{1b}[2J\u{202e} x"#;
    for (class, times) in [("label", 1), ("target", 1), ("command", 1), ("failed", 1)] {
        let nodes = with_class(&document, class);
        let nodes: Vec<_> = nodes.into_iter().filter(|node| node.tag_name().name() != "text").collect();
        assert_eq!(nodes.len(), times, "{class}");
        let text = words(nodes[0]);
        assert!(text.contains(shown) || text.contains(r"<script>alert(\'1\')</script>"), "{class}: {text}");
    }
}

#[test]
fn a_failed_check_leaves_no_figure_in_the_page() {
    let page = html(&fixture::void());
    let document = parsed(&page);
    assert_eq!(words(with_class(&document, "figure")[0]), "VOID: no transactions/s");
    assert!(html(&fixture::normal()).contains("result 1,000"));
    assert!(!page.contains(">100.0<") && !page.contains("100.0 TR") && !page.contains("result 1,0"), "{page}");
    let failed = words(with_class(&document, "failed")[0]);
    assert!(failed.contains("holding summary") && failed.contains("Clause 7.3.1.3"), "{failed}");
    assert!(page.contains("account 43000000012 KPNX: summary 400, holdings 300"), "{page}");
    let several = html(&fixture::several());
    assert!(several.contains("VOID: a check failed") && !several.contains("3,000 TR/s"));
}

#[test]
fn every_page_carries_the_notice_and_never_the_councils_metric() {
    for (name, file) in fixture::all() {
        let page = html(&file);
        let document = parsed(&page);
        let footer: String = elements(&document, "footer").map(words).collect();
        assert_eq!(footer.contains("TPC-E-derived workload, unaudited"), name != "micro", "{name}: {footer}");
        // Compressed data may contain any four letters.
        let packed = document.descendants().filter_map(|node| node.text()).map(str::trim);
        let packed = packed.filter(|text| text.len() > 200 && !text.contains(char::is_whitespace));
        let words = packed.fold(page.clone(), |page, packed| page.replace(packed, ""));
        let words = words.to_lowercase();
        let found = words.find("tpse").map(|at| words[at.saturating_sub(60)..].chars().take(120).collect::<String>());
        assert!(found.is_none(), "{name}: {found:?}");
    }
}

#[test]
fn a_run_file_read_back_gives_the_same_page() {
    let file = fixture::several();
    let text = serde_json::to_string(&file).expect("a run file can be written");
    let again: RunFile = serde_json::from_str(&text).expect("and read");
    assert!(html(&again) == html(&file), "drawn from the file alone, the page is the same");
}

/// Hidden contents of a page, inflated, by the id of its element.
fn carried(page: &str, id: &str) -> Vec<u8> {
    let document = parsed(page);
    let held = document.descendants().find(|node| node.attribute("id") == Some(id)).expect("the page carries it");
    let bytes = base64::engine::general_purpose::STANDARD.decode(held.text().expect("it is not empty").trim());
    let mut whole = Vec::new();
    let bytes = bytes.expect("it is base64");
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut whole).expect("it is gzip");
    whole
}

#[test]
fn the_run_inside_a_page_draws_the_same_page() {
    // A figure that is no number has no form in JSON.
    for (name, file) in fixture::all().into_iter().filter(|(name, _)| *name != "extreme") {
        let page = html(&file);
        let run: RunFile = serde_json::from_slice(&carried(&page, "carried")).expect("it is a run file");
        assert!(html(&run) == page, "{name}: drawn from what it carries, the page is the same");
    }
}

#[test]
fn every_curve_of_a_specification_is_in_the_run() {
    for (name, file) in fixture::all() {
        let page = html(&file);
        let document = parsed(&page);
        let plots = elements(&document, "script").filter(|script| script.attribute("class") == Some("plot"));
        let mut curves = 0;
        for plot in plots {
            let spec: serde_json::Value =
                serde_json::from_str(plot.text().expect("it is not empty")).expect("it is JSON");
            for curve in
                spec["panels"].as_array().expect("it has panels").iter().flat_map(|panel| panel["curves"].as_array())
            {
                for curve in curve {
                    curves += 1;
                    let Some(metrics) = curve["metrics"].as_array() else {
                        assert!(!curve["points"].as_array().expect("points of its own").is_empty(), "{name}");
                        continue;
                    };
                    let place = |key: &str| curve[key].as_u64().expect("a place") as usize;
                    let round = &file.cases[place("case")].rounds[place("round")];
                    for metric in metrics {
                        let metric = metric.as_str().expect("a name");
                        assert!(round.series.column(metric).is_some(), "{name}: {metric}");
                    }
                }
            }
        }
        assert_eq!(curves > 0, !["empty", "nothing"].contains(&name), "{name}");
    }
}

/// A run of ten cases of 45 minutes, whose values repeat nowhere.
pub(crate) fn ten_cases() -> RunFile {
    let mut file = fixture::normal();
    let mut random = bourse_stats::SplitMix::new(7);
    file.cases.clear();
    for nth in 0..10 {
        let mut case = fixture::case(&format!("case {nth}"), Durability::Durable, 30);
        let series = &mut case.rounds[0].series;
        series.time_s = (1..=2_700).map(f64::from).collect();
        for column in &mut series.columns {
            let once: Vec<f64> = column.values.iter().flatten().copied().collect();
            column.values = once.iter().cycle().take(2_700).map(|value| Some(value * (0.5 + random.unit()))).collect();
        }
        file.cases.push(case);
    }
    file
}

#[test]
fn an_ordinary_page_is_small_and_a_long_one_can_be_loaded() {
    let ordinary = html(&fixture::normal()).len();
    assert!(ordinary < 600_000, "{ordinary} bytes");
    let long = html(&ten_cases());
    parsed(&long);
    assert!(long.len() < 12_000_000, "{} bytes", long.len());
}

/// Writes every fixture's page into the folder `BOURSE_PAGES`, to be looked at.
#[test]
fn pages_to_look_at() {
    let Some(folder) = std::env::var_os("BOURSE_PAGES") else {
        return bourse_testkit::skipped("pages_to_look_at", "BOURSE_PAGES names no folder");
    };
    let long = [("ten", ten_cases()), ("long", fixture::long())].map(|(name, file)| (name.to_owned(), html(&file)));
    for (name, page) in pages().iter().chain(&long) {
        let path = Path::new(&folder).join(format!("{name}.html"));
        std::fs::write(&path, page).expect("the folder can be written to");
        assert_eq!(std::fs::read_to_string(&path).expect("what was written can be read"), *page);
    }
}
