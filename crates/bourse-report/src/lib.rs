//! Run files to terminal, HTML, CSV; pure functions.
