//! Tables that were published as charts, drawn as charts.

use super::view::figure_of;
use crate::charts::{ByRow, ByRowUnit, Curve, Size, by_row};
use bourse_suite::document::{MEAN_ROW, TableResult};
use bourse_suite::measure::Unit;

/// A chart in each size.
pub(super) struct Drawn {
    pub(super) title: String,
    pub(super) about: String,
    pub(super) drawings: Vec<(&'static str, String)>,
}

/// One chart for each measure, of a table that was published as charts.
pub(super) fn charts(table: &TableResult, nth: usize) -> Vec<Drawn> {
    if !table.charted {
        return Vec::new();
    }
    let rows = || table.rows.iter().filter(|row| row.id != MEAN_ROW);
    let cell = |row: &str, column: &str| table.cells.iter().find(|cell| cell.row == row && cell.column == column);
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
            drawn.push(Drawn { title: title.clone(), about: about.clone(), drawings });
        }
    }
    drawn
}
