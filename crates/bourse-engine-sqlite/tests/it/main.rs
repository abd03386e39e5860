//! SQLite through the seam.

mod files;
mod targets;
