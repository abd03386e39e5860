//! The market exchange emulator (EGen `CMEE`).

pub mod timer_wheel;
