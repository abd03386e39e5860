//! Curves over the rows of a table: one for each column.

use super::Size;
use super::axis::{Scale, Unit};
use super::svg::{Anchor, Svg};

/// Contents of a drawing: rows from left to right, a curve for each column.
pub(crate) struct ByRow<'a> {
    /// Begins the drawing's ids.
    pub(crate) id: String,
    pub(crate) title: &'a str,
    pub(crate) about: &'a str,
    pub(crate) unit: ByRowUnit,
    pub(crate) rows: Vec<&'a str>,
    pub(crate) curves: Vec<Curve<'a>>,
}

/// Quantity of the vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByRowUnit {
    /// Bytes in thousands and millions, as in the table next to the drawing.
    Bytes,
    Count,
}

/// A curve, with its published level.
pub(crate) struct Curve<'a> {
    pub(crate) name: &'a str,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) published: Option<f64>,
}

const PALETTE: usize = 6;
const PLOT: f64 = 190.0;
const LINE: f64 = 17.0;

/// The drawing; `None` if no curve has a value.
pub(crate) fn by_row(chart: &ByRow<'_>, size: Size) -> Option<String> {
    let measured = chart.curves.iter().flat_map(|curve| curve.values.iter().flatten());
    measured.clone().next()?;
    let high = measured.copied().chain(chart.curves.iter().filter_map(|curve| curve.published)).fold(0.0, f64::max);
    let unit = match chart.unit {
        ByRowUnit::Bytes => Unit::DecimalBytes,
        ByRowUnit::Count => Unit::Count,
    };
    let scale = Scale::linear(unit, high, 4.0);
    let (left, width) = (64.0, size.width());
    let plot = width - left - 12.0;
    let top = 10.0 + LINE * chart.curves.len() as f64;
    let x = |at: usize| left + plot * (at as f64 + 0.5) / chart.rows.len() as f64;
    let y = |value: f64| top + PLOT * (1.0 - scale.place(value));
    let mut svg = Svg::new();
    for (value, label) in &scale.ticks {
        svg.line("grid", (left, y(*value)), (left + plot, y(*value)));
        svg.text("tick", (left - 6.0, y(*value) + 4.0), Anchor::End, label);
    }
    svg.line("axis", (left, top + PLOT), (left + plot, top + PLOT));
    let every = chart.rows.len().div_ceil(if size == Size::Wide { 14 } else { 5 }).max(1);
    for (at, row) in chart.rows.iter().enumerate().step_by(every) {
        svg.text("tick", (x(at), top + PLOT + 16.0), Anchor::Middle, row);
    }
    let mut told = String::from(chart.about);
    for (nth, curve) in chart.curves.iter().enumerate() {
        let colour = nth % PALETTE + 1;
        let legend = 10.0 + LINE * nth as f64;
        svg.line(&format!("curve s{colour}"), (left, legend), (left + 26.0, legend));
        let published = curve.published.map(|value| format!(" (published mean {}, dashed)", unit.text(value)));
        let name = format!("{}{}", curve.name, published.unwrap_or_default());
        svg.text("label", (left + 32.0, legend + 4.0), Anchor::Start, &name);
        if let Some(value) = curve.published {
            svg.line("mark", (left, y(value)), (left + plot, y(value)));
        }
        let mut path = String::new();
        let mut drawing = false;
        for (at, value) in curve.values.iter().enumerate() {
            if let Some(value) = value {
                path.push_str(&format!("{}{:.1},{:.1}", if drawing { "L" } else { "M" }, x(at), y(*value)));
                svg.circle(&format!("f{colour}"), (x(at), y(*value)), 2.6);
                told.push_str(&format!(" {} {}: {}.", curve.name, chart.rows[at], unit.text(*value)));
            }
            drawing = value.is_some();
        }
        svg.path(&format!("curve s{colour}"), &path);
    }
    Some(svg.finish(&format!("{}-{}", chart.id, size.class()), (width, top + PLOT + 26.0), chart.title, &told))
}
