//! Compares every published figure of the data files with two independent transcriptions of the publications.

use bourse_verdict::suite::{PublishedFigures, all};
use std::collections::BTreeMap;

/// Figures by cell and kind, as `sqlite-basics/1a/1/private mean_ms`.
type Figures = BTreeMap<String, Vec<f64>>;

const TRANSCRIPTIONS: [(&str, &str); 2] =
    [("first.txt", include_str!("../published/first.txt")), ("second.txt", include_str!("../published/second.txt"))];

fn transcribed(file: &str, text: &str) -> Figures {
    let mut figures = Figures::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let name = [words.next(), words.next()].map(|word| word.unwrap_or_else(|| panic!("{file}: {line}"))).join(" ");
        let values = words.map(|word| word.parse().unwrap_or_else(|error| panic!("{file}: {line}: {error}"))).collect();
        assert!(figures.insert(name, values).is_none(), "{file}: {line}: the cell stands there twice");
    }
    figures
}

fn figures_of(cell: &str, published: &PublishedFigures) -> Vec<(String, Vec<f64>)> {
    let PublishedFigures { rounds_ms, mean_ms, rate, cpu_percent, bytes, memory_bytes, note: _ } = published;
    let one = [
        ("mean_ms", mean_ms),
        ("rate", rate),
        ("cpu_percent", cpu_percent),
        ("bytes", bytes),
        ("memory_bytes", memory_bytes),
    ];
    let one = one.into_iter().filter_map(|(name, value)| Some((name, vec![(*value)?])));
    let rounds = (!rounds_ms.is_empty()).then(|| ("rounds_ms", rounds_ms.clone()));
    one.chain(rounds).map(|(name, values)| (format!("{cell} {name}"), values)).collect()
}

fn in_data_files() -> Figures {
    let mut figures = Figures::new();
    for suite in all().expect("they are whole") {
        let tests = suite.findings.iter().flat_map(|finding| &finding.tests);
        let printed = tests.filter_map(|test| Some((&test.cell, test.published?)));
        figures.extend(printed.map(|(cell, ratio)| (format!("{}/{cell} ratio", suite.name), vec![ratio])));
        for table in &suite.tables {
            let rows = table.rows.iter().map(|row| (row.id.as_str(), &row.published));
            let mean = table.mean.iter().map(|mean| ("mean", &mean.published));
            for (row, columns) in rows.chain(mean) {
                for (column, published) in columns {
                    let cell = format!("{}/{}/{row}/{column}", suite.name, table.id);
                    figures.extend(figures_of(&cell, published));
                }
            }
        }
    }
    figures
}

/// Regression: one figure of 262 was wrong, and a note blamed the publication for it.
#[test]
fn every_published_figure_is_as_it_was_printed() {
    let ours = in_data_files();
    assert!(ours.values().map(Vec::len).sum::<usize>() >= 574, "fewer figures than were published");
    for (file, text) in TRANSCRIPTIONS {
        let printed = transcribed(file, text);
        for (name, values) in &ours {
            assert_eq!(Some(values), printed.get(name), "{name}: the data file, and {file}");
        }
        let absent: Vec<_> = printed.keys().filter(|name| !ours.contains_key(*name)).collect();
        assert_eq!(absent, [""; 0], "{file} has figures that no data file has");
    }
}
