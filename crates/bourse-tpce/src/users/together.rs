//! A round whose users were in several processes, merged: figures, counts, and the checks of the sum.

use super::{Ran, RunOptions, reconciled, specs};
use crate::sut::Opened;
use crate::transactions::Transaction;
use bourse_driver::Fault;
use bourse_record::{HistogramError, NameValue, Recorder, of_processes};

/// The rounds of all processes as one, reconciled with the sum of their counts.
///
/// # Errors
/// A histogram that cannot be read.
///
/// # Panics
/// Without any round.
pub fn together(parts: Vec<Ran>, opened: &Opened, options: &RunOptions) -> Result<Ran, HistogramError> {
    let rounds: Vec<_> = parts.iter().map(|part| part.round.clone()).collect();
    let mut round = of_processes(&rounds)?.expect("there is a process at least");
    let fault = (1..).zip(&parts).find_map(|(number, part)| {
        let fault = Box::new(part.fault.clone()?);
        Some(Fault::InProcess { number, fault })
    });
    let interrupted = parts.iter().any(|part| part.interrupted);
    let mut parts = parts.into_iter();
    let mut sum = parts.next().expect("there is a process at least");
    for part in parts {
        sum.acknowledged.add(&part.acknowledged);
        sum.counted.add(&part.counted);
    }
    // Trade-Cleanup came before the round: no process counted it.
    let mut counted = round.operations.clone();
    let nothing = Recorder::new(specs::specs().into(), |_| false).figures();
    for (operation, nothing) in counted.iter_mut().zip(nothing).skip(Transaction::TradeCleanup as usize).take(1) {
        *operation = nothing;
    }
    round.checks.extend(sum.counted.reconcile(&counted));
    let headline = Transaction::TradeResult as usize;
    let valid = round.operations.get(headline).map_or(0, bourse_record::Operation::valid);
    round.headline = if round.measured_s > 0.0 { valid as f64 / round.measured_s } else { 0.0 };
    bourse_driver::void(&mut round, &sum.counted, &specs::specs(), Some(headline));
    round.checks.push(reconciled::acknowledgements(&sum.acknowledged, &sum.counted.ledger));
    round.checks.push(reconciled::mix_of_requests(&sum.counted.ledger, &options.tunables.mix));
    let orders = [
        ("Trade-Orders committed in the whole round", sum.acknowledged.orders),
        ("Trade-Results committed in the whole round", sum.acknowledged.results),
    ];
    round.facts.extend(orders.map(|(name, count)| NameValue { name: name.to_owned(), value: count.to_string() }));
    Ok(Ran { round, before: opened.before, acknowledged: sum.acknowledged, counted: sum.counted, interrupted, fault })
}
