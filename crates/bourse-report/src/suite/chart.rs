//! Measured figures next to the published ones as marks; tables that were published as charts, drawn as charts.

use super::view::figure_of;
use crate::charts::{ByRow, ByRowUnit, Curve, Frame, Lane, Marks, MarksUnit, Size, by_row, marks};
use crate::units;
use bourse_suite::document::{CellResult, MEAN_ROW, TableResult};
use bourse_suite::measure::Unit;

/// A chart in each size.
pub(super) struct Drawn {
    pub(super) key: &'static str,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) about: String,
    pub(super) drawings: Vec<(&'static str, String)>,
}

fn cell_of<'a>(table: &'a TableResult, row: &str, column: &str) -> Option<&'a CellResult> {
    table.cells.iter().find(|cell| cell.row == row && cell.column == column)
}

/// Most lanes of a chart; more are unreadable.
const MOST_LANES: usize = 90;

/// Marks of measured figures next to the published ones, a chart for each measure that has both.
pub(super) fn published(table: &TableResult, nth: usize) -> Vec<Drawn> {
    let mut drawn = Vec::new();
    for measure in &table.measures {
        let mut groups = Vec::new();
        for row in &table.rows {
            let lanes = table.columns.iter().filter_map(|column| {
                let cell = cell_of(table, &row.id, &column.id)?;
                let figure = figure_of(cell, *measure)?;
                let interval = figure.low.zip(figure.high);
                let (ours, published) = (figure.ours, figure.published);
                let lane = Lane { name: column.title.as_str(), ours, interval, published };
                (lane.ours.is_some() || lane.published.is_some()).then_some(lane)
            });
            let lanes: Vec<Lane<'_>> = lanes.collect();
            if !lanes.is_empty() {
                groups.push((row.title.as_str(), lanes));
            }
        }
        if groups.iter().map(|(_, lanes)| lanes.len()).sum::<usize>() > MOST_LANES {
            continue;
        }
        let unit = if measure.unit() == Unit::Bytes { MarksUnit::Bytes } else { MarksUnit::Count };
        let chart = Marks { unit, groups };
        let title = units::printable(&format!("Ours and published: {}", measure.title(&table.counted)));
        let id = format!("table-{}-marks-{}", nth + 1, drawn.len() + 1);
        let about = "Our figure with its interval, and the published one on its machine.".to_owned();
        let frame = Frame { id: &id, title: &title, about: &about };
        let drawings: Vec<_> =
            Size::ALL.into_iter().filter_map(|size| Some((size.class(), marks(&frame, &chart, size)?))).collect();
        if !drawings.is_empty() {
            drawn.push(Drawn { key: "published", id, title, about, drawings });
        }
    }
    drawn
}

/// Charts of a table that was published as charts, one for each measure.
pub(super) fn charts(table: &TableResult, nth: usize) -> Vec<Drawn> {
    if !table.charted {
        return Vec::new();
    }
    let rows = || table.rows.iter().filter(|row| row.id != MEAN_ROW);
    let cell = |row: &str, column: &str| cell_of(table, row, column);
    let mut drawn = Vec::new();
    for measure in &table.measures {
        let curves = table.columns.iter().map(|column| Curve {
            name: &column.title,
            values: rows().map(|row| figure_of(cell(&row.id, &column.id)?, *measure)?.ours).collect(),
            published: cell(MEAN_ROW, &column.id)
                .and_then(|cell| figure_of(cell, *measure))
                .and_then(|figure| figure.published),
        });
        let title = measure.title(&table.counted);
        let about = format!("By {}.", table.rows_are);
        let chart = ByRow {
            id: format!("table-{}-{}", nth + 1, drawn.len() + 1),
            title: &title,
            about: &about,
            unit: if measure.unit() == Unit::Bytes { ByRowUnit::Bytes } else { ByRowUnit::Count },
            rows: rows().map(|row| row.title.as_str()).collect(),
            curves: curves.collect(),
        };
        let drawings: Vec<_> =
            Size::ALL.into_iter().filter_map(|size| Some((size.class(), by_row(&chart, size)?))).collect();
        if !drawings.is_empty() {
            drawn.push(Drawn { key: "by-row", id: chart.id, title: title.clone(), about: about.clone(), drawings });
        }
    }
    drawn
}
