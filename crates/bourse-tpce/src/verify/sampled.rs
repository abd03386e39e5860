//! TPC-E's transactions as the samples at the end of a run.

use super::{Plan, Stream, TpceSubject, contend, sql_subject};
use crate::model::Model;
use crate::workload::{Egen, Tpce, size_of};
use bourse_egen::driver::Database;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, Result, Session};
use bourse_oltp::verify::{Contention, Sampled, VerifyError};
use bourse_oltp::{Generator, Size, Workload};
use std::sync::atomic::AtomicBool;

/// The transactions on the smallest database of some input data.
#[derive(Debug, Clone, Copy)]
pub struct TpceSample<'i> {
    egen: Egen<'i>,
    requests_per_second: u32,
}

impl<'i> TpceSample<'i> {
    /// So few requests a second that maintenance comes to each of its twelve tables, and that prices reach the limits of
    /// orders.
    pub const fn of(inputs: &'i Inputs) -> Self {
        Self { egen: Egen(inputs), requests_per_second: 2 }
    }

    /// Sets the number of customers' requests in a simulated second.
    #[must_use]
    pub const fn at(self, requests_per_second: u32) -> Self {
        Self { requests_per_second, ..self }
    }

    /// Customers and days of the database.
    pub fn part() -> Part {
        Part::whole(1_000, 1).expect("the smallest database is one")
    }

    /// The database as its emulators have it.
    pub fn database() -> Database {
        let part = Self::part();
        Database::of(part.total_customers(), part.scale_factor(), part.days())
    }
}

impl<'i> Sampled for TpceSample<'i> {
    type Script = Stream<'i>;
    type Reference = Model;

    const SOURCES: [&'static str; 2] = ["Clause 3.3", "Clauses 7.3 and 7.4"];
    const WHOLE_TABLES: bool = false;

    fn workload(&self) -> &dyn Workload {
        &Tpce
    }

    fn generator(&self) -> &dyn Generator {
        &self.egen
    }

    fn size(&self) -> Size {
        size_of(Self::part())
    }

    fn reference(&self) -> Model {
        Model::new(self.egen.0, Self::part())
    }

    fn subject(&self, name: &str, session: Box<dyn Session>) -> Box<TpceSubject> {
        Box::new(sql_subject(name, session, Self::database().first_free_trade()))
    }

    fn script(&self) -> Result<Stream<'i>, VerifyError> {
        Plan { requests_per_second: self.requests_per_second, ..Plan::of(Self::database()) }.stream(self.egen.0)
    }

    fn contend(&self, engine: &dyn Engine, interrupted: &AtomicBool) -> Result<Contention> {
        contend(engine, self.egen.0, Self::part(), interrupted)
    }
}
