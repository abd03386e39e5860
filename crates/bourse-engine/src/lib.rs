//! The seam: engines, sessions, statements, values, errors; the null engine.
