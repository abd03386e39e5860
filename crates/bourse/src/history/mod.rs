//! Results of earlier runs (`bourse runs`, an index page by `bourse report`), and their databases (`bourse data`).

mod data;
mod runs;

pub(crate) use data::data;
pub(crate) use runs::{folders, index, is_results_folder, named, run_files, run_folders, runs};
