//! Transactions of a mix one after the other, for comparing systems in lockstep.

use super::Transactions;
use crate::verify::{OutputValue, Perform, Performance, Script, Step};
use crate::workload::Size;
use bourse_engine::{ErrorKind, Result, Session};
use bourse_schema::{Date, Timestamp};
use std::marker::PhantomData;

/// Simulated time of the first transaction.
const START: Timestamp = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
/// Tries of a transaction that finds another in its way: there is none, unless another program uses the database.
const ATTEMPTS: u32 = 3;

/// One user's transactions and rare ones between them, the same for the same seed.
pub struct Sequence<T: Transactions> {
    emulator: T::Emulator,
    /// Rare inputs that follow the last one of the user.
    rare: Vec<T::Input>,
    number: u64,
}

impl<T: Transactions> Sequence<T> {
    /// Creates the sequence of a seed on a database of that size.
    pub fn new(size: &Size, seed: u64) -> Self {
        Self { emulator: T::emulator(size, seed, 0), rare: Vec::new(), number: 0 }
    }
}

impl<T: Transactions> Script for Sequence<T> {
    type Request = T::Input;

    const KINDS: &'static [&'static str] = T::NAMES;

    fn next_step(&mut self) -> Step<T::Input> {
        let request = self.rare.pop().unwrap_or_else(|| {
            let drawn = self.emulator.next().expect("an emulator has inputs without end");
            self.rare = T::rare(&drawn);
            drawn
        });
        self.number += 1;
        let now = Timestamp::from_millis(START.millis() + self.number as i64);
        Step { number: self.number, now, name: T::NAMES[T::kind(&request)], request }
    }
}

/// The transactions on a session.
#[derive(Debug, Clone, Copy, Default)]
pub struct OnSession<T>(PhantomData<T>);

impl<T> OnSession<T> {
    /// Creates it.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Transactions> Perform<T::Input> for OnSession<T> {
    fn perform(&mut self, session: &mut dyn Session, request: &T::Input, _: Timestamp) -> Performance {
        let outcome = retrying::<T>(session, request, ATTEMPTS, &mut |_| ());
        let answer = |output| OutputValue::of(T::judge(request, &output).code, &output);
        Performance { outcome: outcome.map(answer).map_err(|error| error.to_string()), sent: Vec::new() }
    }
}

/// Performs a transaction, and again while it conflicts with another; calls `back_off` with the number of each further try.
///
/// # Errors
/// The engine's, of the last try; the transaction is rolled back.
pub fn retrying<T: Transactions>(
    session: &mut dyn Session,
    input: &T::Input,
    attempts: u32,
    back_off: &mut dyn FnMut(u32),
) -> Result<T::Output> {
    let mut attempt = 1;
    loop {
        let error = match T::perform(session, input) {
            Ok(output) => return Ok(output),
            Err(error) => error,
        };
        // If even this fails the next statement reports it; the first error is the one to show.
        let _ = session.rollback();
        if error.kind() != ErrorKind::Conflict || attempt == attempts {
            return Err(error);
        }
        attempt += 1;
        back_off(attempt);
    }
}
