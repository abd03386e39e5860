//! Tables and drawings as the templates take them.

use crate::charts::{Drawn, Frame};
use crate::tables::{self, Align, Table};
use crate::units;
use minijinja::Value;
use serde::Serialize;

/// A chart with its words.
#[derive(Serialize)]
pub(crate) struct Drawing {
    id: String,
    key: String,
    title: String,
    about: String,
    /// Wide and narrow; empty if nothing was recorded.
    sizes: Vec<Sized>,
    /// Specification from which the page's script redraws it.
    spec: Option<Value>,
}

#[derive(Serialize)]
struct Sized {
    class: &'static str,
    svg: Value,
}

impl Drawing {
    /// A chart of a kind, with an id that is unique in the page.
    pub(crate) fn new(key: &str, frame: &Frame<'_>, drawn: Drawn) -> Self {
        let sized = |(class, svg)| Sized { class, svg: Value::from_safe_string(svg) };
        Self {
            id: frame.id.to_owned(),
            key: key.to_owned(),
            title: units::printable(frame.title),
            about: units::printable(frame.about),
            sizes: drawn.sizes.into_iter().map(sized).collect(),
            spec: drawn.spec.map(Value::from_safe_string),
        }
    }

    /// The drawing, if there is anything to see.
    pub(crate) fn if_any(key: &str, frame: &Frame<'_>, drawn: Drawn) -> Option<Self> {
        (!drawn.sizes.is_empty()).then(|| Self::new(key, frame, drawn))
    }
}

/// A table for the templates.
#[derive(Serialize)]
pub(crate) struct Grid {
    title: String,
    heads: Vec<GridHead>,
    rows: Vec<Vec<GridCell>>,
}

#[derive(Serialize)]
struct GridHead {
    title: &'static str,
    right: bool,
}

#[derive(Serialize)]
struct GridCell {
    text: String,
    class: String,
}

impl From<Table> for Grid {
    fn from(table: Table) -> Self {
        let right: Vec<bool> = table.heads.iter().map(|head| head.align == Align::Right).collect();
        let cell = |(cell, right): (tables::Cell, &bool)| GridCell {
            class: [if *right { "number" } else { "" }, cell.tone.class()].join(" ").trim().to_owned(),
            text: cell.text,
        };
        let rows = table.rows.into_iter().map(|row| row.into_iter().zip(&right).map(cell).collect()).collect();
        let heads = table.heads.iter().zip(&right).map(|(head, right)| GridHead { title: head.title, right: *right });
        Self { title: table.title, heads: heads.collect(), rows }
    }
}
