//! Measured figures next to the published ones as marks; tables that were published as charts, drawn as charts.

use super::view::figure_of;
use crate::charts::{ChartFrame, Curve, DrawnChart, Lane, LaneChart, Plot, Thinning, marks};
use crate::html::Drawing;
use crate::units;
use bourse_verdict::suite::document::{CellResult, MEAN_ROW, TableResult};
use bourse_verdict::suite::measure::MeasureFormat;

fn cell_of<'a>(table: &'a TableResult, row: &str, column: &str) -> Option<&'a CellResult> {
    table.cells.iter().find(|cell| cell.row == row && cell.column == column)
}

/// Most lanes of a chart; more are unreadable.
const MOST_LANES: usize = 90;

/// Marks of measured figures next to the published ones, a chart for each measure that has both.
pub(super) fn published(table: &TableResult, nth: usize) -> Vec<Drawing> {
    let mut drawn = Vec::new();
    for measure in &table.measures {
        let mut groups = Vec::new();
        for row in &table.rows {
            let lanes = table.columns.iter().filter_map(|column| {
                let cell = cell_of(table, &row.id, &column.id)?;
                let figure = figure_of(cell, *measure)?;
                let interval = figure.low.zip(figure.high);
                let (measured, published) = (figure.measured, figure.published);
                let lane = Lane { name: column.title.as_str(), measured, interval, published };
                (lane.measured.is_some() || lane.published.is_some()).then_some(lane)
            });
            let lanes: Vec<Lane<'_>> = lanes.collect();
            if !lanes.is_empty() {
                groups.push((row.title.as_str(), lanes));
            }
        }
        if groups.iter().map(|(_, lanes)| lanes.len()).sum::<usize>() > MOST_LANES {
            continue;
        }
        let chart = LaneChart { is_bytes: measure.unit() == MeasureFormat::Bytes, groups };
        let title = units::printable(&format!("Ours and published: {}", measure.title(&table.counted)));
        let id = format!("table-{}-marks-{}", nth + 1, drawn.len() + 1);
        let about = "Our figure with its interval, and the published one on its machine.";
        let frame = ChartFrame { id: &id, title: &title, about };
        drawn.extend(Drawing::if_any("published", &frame, DrawnChart::still(|size| marks(&frame, &chart, size))));
    }
    drawn
}

/// Charts of a table that was published as charts, one for each measure.
pub(super) fn charts(table: &TableResult, nth: usize) -> Vec<Drawing> {
    if !table.charted {
        return Vec::new();
    }
    let rows = || table.rows.iter().filter(|row| row.id != MEAN_ROW);
    let figure = |row: &str, column: &str, measure| figure_of(cell_of(table, row, column)?, measure);
    let mut drawn = Vec::new();
    for measure in &table.measures {
        let points = |column: &str| {
            let measured = rows().map(|row| figure(&row.id, column, *measure)?.measured);
            measured.enumerate().map(|(at, measured)| (at as f64, measured)).collect()
        };
        let curves =
            table.columns.iter().map(|it| Curve::of_points(&it.title, Thinning::Max, points(&it.id))).collect();
        let published = table.columns.iter().filter_map(|column| {
            let mean = figure(MEAN_ROW, &column.id, *measure)?.published?;
            Some((mean, format!("{}: published mean", column.title)))
        });
        let (title, names) = (measure.title(&table.counted), rows().map(|row| row.title.as_str()).collect::<Vec<_>>());
        let is_bytes = measure.unit() == MeasureFormat::Bytes;
        let plot = Plot::over_rows(&title, is_bytes, &names, curves, published.collect());
        let id = format!("table-{}-{}", nth + 1, drawn.len() + 1);
        let frame = ChartFrame { id: &id, title: &title, about: &format!("By {}.", table.rows_are) };
        drawn.extend(Drawing::if_any("by-row", &frame, DrawnChart::plot(plot)));
    }
    drawn
}
