//! SQLite through the seam.

mod conforms;
mod files;
mod targets;
