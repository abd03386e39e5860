//! Reports as the user sees them, as snapshots; run files come from a small builder.

mod browser;
mod comparing;
mod damaged;
mod data;
mod documents;
mod faults;
mod fixture;
mod history;
mod html;
mod overview;
mod screen;
mod tails;
mod text;
mod waits;
