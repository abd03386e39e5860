//! SQLite behind the seam.
