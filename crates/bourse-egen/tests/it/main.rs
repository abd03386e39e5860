//! The generator against reference data: files named by `BOURSE_GOLDEN` and `BOURSE_FLAT_IN`, skipped without them.

mod builtin;
mod driver;
mod driver_customer;
mod driver_maintenance;
mod driver_market;
mod driver_properties;
mod driver_seeds;
mod files;
mod golden;
mod inputs;
mod layers;
mod price;
mod primitives;
mod tables;
mod trades;
