//! SQLite through the seam.

mod conforms;
mod counting;
mod files;
mod private;
mod syscalls;
mod targets;
