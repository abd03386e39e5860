//! Tests of a workload whose users draw transactions by their shares, from its data ([`bourse_oltp::acid`]).
//!
//! The workload's transactions on plain collections judge: of the committed transactions some order must give the outputs that
//! sessions have had, and in the end every row of the database. A transaction that ended before a first one that writes went on
//! comes before it in that order.

use crate::acknowledged::{AcknowledgementListener, AcknowledgingEngine};
use crate::consistency::{self, MAX_ATTEMPTS, SESSIONS, SessionObservation};
use crate::crash;
use crate::pausable_session::HaltCommand;
use crate::scenario::{Performing, Scenario, with_each_ending};
use crate::test_bed::{AcidError, TestBed};
use crate::tests::judged;
use crate::{AcidSubject, AcidWorkload};
use bourse_driver::RealClock;
use bourse_engine::{Access, Engine, EngineError, Result, Session};
use bourse_oltp::Size;
use bourse_oltp::acid::{AcidTests, AcknowledgedKind, Described, Halting, Meeting, TestSpec, TestWork};
use bourse_oltp::check::Check;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::mix::{OnSession, RunOptions, Transactions, retrying, run};
use bourse_oltp::sut::{InProcess, Share};
use bourse_oltp::verify::fields::first_difference;
use bourse_oltp::verify::{Cell, OutputValue, ReferenceTables, RowKey, SqlSubject, Subject};
use bourse_record::acid::{AcidCase, AcidFinding, AcidStep, AcidTest, Property};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// Transactions of each session of the work after which the conditions must hold.
const TRANSACTIONS: usize = 60;

/// A workload with data of its tests, on a database of that size.
#[derive(Debug)]
pub struct MixAcid<T: Transactions> {
    size: Size,
    data: AcidTests<T::Input>,
    specs: Vec<TestSpec>,
}

impl<T: Transactions> MixAcid<T> {
    /// Creates it; `None` if the workload has no such data.
    pub fn new(size: Size) -> Option<Self> {
        let data = T::acid()?;
        let workload = T::default();
        let [id, source] = data.books;
        let of_condition = |check: &Check| {
            let (id, title) = check.name.split_once(' ').unwrap_or((check.name, ""));
            TestSpec { id, property: Property::Consistency, title, source: check.source, demanded: check.words }
        };
        let of = |property| data.tests.iter().map(|(spec, _)| *spec).filter(move |spec| spec.property == property);
        let books = TestSpec { id, source, ..BOOKS };
        let crashes = CRASHES.map(|spec| TestSpec { source: data.crashes, ..spec });
        let specs = of(Property::Atomicity)
            .chain(workload.conditions().iter().map(of_condition))
            .chain([books])
            .chain(of(Property::Isolation))
            .chain(crashes)
            .collect();
        Some(Self { size, data, specs })
    }
}

/// The reconciliation, for the words of any workload.
const BOOKS: TestSpec = TestSpec {
    id: "",
    property: Property::Consistency,
    title: "reconciliation of the work done",
    source: "",
    demanded: "the database has gained what was acknowledged to its users",
};

/// The crashes, for the words of any workload.
const CRASHES: [TestSpec; 3] = {
    let property = Property::Durability;
    [
        TestSpec {
            id: "D1",
            property,
            title: "the engine's process is killed amid its work",
            source: "",
            demanded: "each acknowledged transaction is there, nothing half-done is",
        },
        TestSpec {
            id: "D2",
            property,
            title: "the power fails (simulated disk): the database is whole",
            source: "",
            demanded: "the database recovers undamaged, and nothing half-done is in it",
        },
        TestSpec {
            id: "D3",
            property,
            title: "the power fails (simulated disk): nothing acknowledged is lost",
            source: "",
            demanded: "each acknowledged transaction is there",
        },
    ]
};

/// The transactions on sessions that halt.
pub(crate) struct OnSessions<T>(PhantomData<fn() -> T>);

impl<T: Transactions> Performing for OnSessions<T> {
    type Request = T::Input;
    type Output = OutputValue;
    type Error = EngineError;

    fn once(&self, db: &mut dyn Session, input: &T::Input) -> Result<OutputValue> {
        retrying::<T>(db, input, 1, &mut |_| ()).map(|output| OutputValue::of(T::judge(input, &output).code, &output))
    }

    fn name(input: &T::Input) -> String {
        T::NAMES[T::kind(input)].to_owned()
    }

    fn status(output: &OutputValue) -> (i32, String) {
        let meaning = T::CODES.iter().find(|(code, _)| *code == output.status).map_or("", |(_, meaning)| *meaning);
        (output.status, format!("{} ({meaning})", output.status))
    }

    fn examined_values(output: &OutputValue) -> Vec<String> {
        vec![output.output.to_string()]
    }

    fn engine_error(error: &EngineError) -> Option<&EngineError> {
        Some(error)
    }

    fn of_engine(error: EngineError) -> EngineError {
        error
    }
}

type Bed<'e, T> = TestBed<'e, OnSessions<T>>;

/// The database as it must be, by the committed transactions so far.
struct Model<T: Transactions> {
    tables: RefCell<ReferenceTables>,
    reader: RefCell<SqlSubject<OnSession<T>>>,
}

impl<T: Transactions> Model<T> {
    fn of(engine: &dyn Engine) -> Result<Self, AcidError> {
        let reader = SqlSubject::new("", engine.session()?, OnSession::<T>::new());
        let this = Self { tables: RefCell::default(), reader: RefCell::new(reader) };
        this.tables.replace(this.read()?);
        Ok(this)
    }

    /// The rows of the database.
    fn read(&self) -> Result<ReferenceTables, AcidError> {
        let mut found = ReferenceTables::default();
        let mut reader = self.reader.borrow_mut();
        let reader: &mut dyn Subject<T::Input> = &mut *reader;
        for &table in T::default().tables() {
            reader.each_row(table, &mut |row| found.add(table, row.to_vec()))?;
        }
        Ok(found)
    }

    /// Compares outputs and rows with those of the transactions in one order, which the finding names.
    fn judge(&self, done: &[Done<'_, T::Input>]) -> Result<AcidFinding, AcidError> {
        let found = self.read()?;
        let mut reasons = Vec::new();
        let mut fits = None;
        let orders: Vec<_> = orders(done.len()).into_iter().filter(|order| is_in_time(order, done)).collect();
        let named = |order: &[usize]| order.iter().map(|at| done[*at].name).collect::<Vec<_>>().join(", ");
        for order in &orders {
            let mut tables = self.tables.borrow().clone();
            let wrong = order.iter().find_map(|at| {
                tables.settle();
                let (code, output) = T::expected(&mut tables, done[*at].input);
                let difference = first_difference(&done[*at].output.output, &OutputValue::of(code, &output).output)?;
                Some(format!("output of {}, {difference} in the reference", done[*at].name))
            });
            match wrong.or_else(|| differing_row::<T>(&found, &tables)) {
                None => {
                    fits = Some(named(order));
                    break;
                }
                Some(why) if order.is_empty() => reasons.push(why),
                Some(why) => reasons.push(format!("in the order {}: {why}", named(order))),
            }
        }
        // Later cases begin with the rows that are there, right or wrong.
        self.tables.replace(found);
        let all: Vec<_> = orders.iter().map(|order| named(order)).collect();
        Ok(AcidFinding {
            what: "outputs, and rows of all tables".to_owned(),
            wanted: match done.is_empty() {
                true => "as before".to_owned(),
                false => format!("as after {}", all.join(" or ")),
            },
            holds: fits.is_some(),
            found: match fits {
                Some(_) if done.is_empty() => "as before".to_owned(),
                Some(order) => format!("as after {order}"),
                None => reasons.join("; "),
            },
        })
    }
}

/// A committed transaction.
struct Done<'d, I> {
    /// Name of its session.
    name: &'d str,
    input: &'d I,
    output: &'d OutputValue,
    /// Whether it ended while a first transaction that writes was halted.
    at_once: bool,
}

/// All orders of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..=order.len()).rev().map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

/// Whether transactions that ended at once come before those that had not ended then.
fn is_in_time<I>(order: &[usize], done: &[Done<'_, I>]) -> bool {
    order.iter().map(|at| done[*at].at_once).is_sorted_by(|before, after| before >= after)
}

/// The first difference of rows from those that must be there.
fn differing_row<T: Transactions>(found: &ReferenceTables, wanted: &ReferenceTables) -> Option<String> {
    T::default().tables().iter().find_map(|&table| {
        if found.rows(table).eq(wanted.rows(table)) {
            return None;
        }
        let key = |row: &[Cell]| RowKey::of(table, row);
        for row in found.rows(table) {
            let Some(right) = wanted.row(&key(row)) else {
                return Some(format!("{}: a row {} too much", table.name, key(row)));
            };
            let mut columns = table.columns.iter().zip(row.iter().zip(right));
            if let Some((column, (is, must_be))) = columns.find(|(_, (is, must_be))| is != must_be) {
                let [is, must_be] = [is, must_be].map(|cell| cell.shown(column.column_type).to_string());
                return Some(format!("{} {}: {} is {is}, not {must_be}", table.name, key(row), column.name));
            }
        }
        let missing = wanted.rows(table).find(|row| found.row(&key(row)).is_none())?;
        Some(format!("{}: no row {}", table.name, key(missing)))
    })
}

/// Performs a transaction alone.
fn alone<T: Transactions>(
    bed: &Bed<'_, T>,
    model: &Model<T>,
    (words, input): Described<T::Input>,
) -> Result<AcidCase, AcidError> {
    let mut scenario = bed.scenario();
    scenario.label(words.clone());
    let output = performed::<T>(&mut scenario, words, &input)?;
    scenario.find(model.judge(&[Done { name: "S1", input: &input, output: &output, at_once: false }])?);
    Ok(scenario.done())
}

fn performed<T: Transactions>(
    scenario: &mut Scenario<'_, OnSessions<T>>,
    words: String,
    input: &T::Input,
) -> Result<OutputValue, AcidError> {
    let session = scenario.session()?;
    scenario.start(session, words, input.clone(), None);
    let ended = scenario.end(session)?;
    scenario.settle(session, input.clone(), ended)
}

/// Halts a transaction, undoes it, and performs it again by another session.
fn undone<T: Transactions>(
    bed: &Bed<'_, T>,
    model: &Model<T>,
    ((words, input), point): Halting<T::Input>,
    command: HaltCommand,
) -> Result<AcidCase, AcidError> {
    let mut scenario = bed.scenario();
    scenario.label(format!("{words}, {}", point.name));
    scenario.undo(words.clone(), input.clone(), point, command)?;
    scenario.find(model.judge(&[])?);
    // It waits until a server has noticed that a client vanished.
    let output = performed::<T>(&mut scenario, format!("{words} by another session"), &input)?;
    scenario.find(model.judge(&[Done { name: "S2", input: &input, output: &output, at_once: false }])?);
    Ok(scenario.done())
}

/// Lets transactions meet, the first with that ending.
fn met<T: Transactions>(
    bed: &Bed<'_, T>,
    model: &Model<T>,
    Meeting { label, first: (words, input), halts, others }: Meeting<T::Input>,
    ending: HaltCommand,
) -> Result<AcidCase, AcidError> {
    let mut scenario = bed.scenario();
    scenario.label(format!("{label}, {}", crate::scenario::ending_words(ending)));
    let inputs: Vec<_> = std::iter::once(&input).chain(others.iter().map(|(_, input)| input)).cloned().collect();
    let met = scenario.meet((words, input, halts), others, ending, "the second goes through")?;
    // What a reader has read may have been changed since, by others that come after it.
    let writes = inputs.first().is_some_and(|input| T::demands(T::kind(input)).1 == Access::Write);
    let first = met.first.iter().map(|output| (0, output, false));
    let others = met.others.iter().enumerate().map(|(at, other)| (at + 1, &other.output, other.at_once && writes));
    let names = ["S1", "S2", "S3"];
    let done: Vec<_> = first
        .chain(others)
        .map(|(at, output, at_once)| Done { name: names[at], input: &inputs[at], output, at_once })
        .collect();
    scenario.find(model.judge(&done)?);
    Ok(scenario.done())
}

/// Work of several sessions, with the conditions before and after it.
fn observed<T: Transactions>(bed: &Bed<'_, T>, size: &Size) -> Result<SessionObservation, AcidError> {
    let seed = bed.config.seed;
    let (mut observed, ..) = consistency::observed(bed, &T::default(), size, &|number, session| {
        let (mut ledger, mut retries, mut count) = (Ledger::default(), 0_u32, 0_u64);
        for input in T::emulator(size, seed + number as u64, number).take(TRANSACTIONS) {
            let back_off = &mut |attempt: u32| {
                retries += 1;
                std::thread::sleep(std::time::Duration::from_millis(u64::from(attempt)));
            };
            let output = retrying::<T>(session, &input, MAX_ATTEMPTS, back_off)?;
            count += 1;
            ledger.judged(&T::judge(&input, &output));
        }
        let step = AcidStep {
            session: format!("S{}", number + 1),
            did: "transactions of the mix, one in a few rolled back as designed".to_owned(),
            outcome: format!("{count} ended, {retries} retries"),
            read: Vec::new(),
            statement: None,
        };
        Ok((ledger, step, ()))
    })?;
    observed.words =
        format!("before and after {} transactions on {SESSIONS} sessions at once", SESSIONS * TRANSACTIONS);
    Ok(observed)
}

impl<T: Transactions> AcidWorkload for MixAcid<T> {
    fn tests(&self) -> &[TestSpec] {
        &self.specs
    }

    fn examine(
        &self,
        subject: &AcidSubject<'_>,
        wanted: &dyn Fn(&str) -> bool,
        note: &mut dyn FnMut(AcidTest),
    ) -> Result<(), AcidError> {
        let bed = Bed::<T>::new(subject.engine, subject.config, |db| {
            db.query_text(T::default().trace(&self.size).sql, &[], &mut |_| Ok(()))?;
            Ok(OnSessions(PhantomData))
        })?;
        let model = Model::<T>::of(subject.engine)?;
        let is_over = || subject.interrupted.load(Ordering::Relaxed);
        let of = |property: Property, note: &mut dyn FnMut(AcidTest)| {
            let tests = self.data.tests.iter().filter(|(spec, _)| spec.property == property && wanted(spec.id));
            for (spec, work) in tests {
                if is_over() {
                    return;
                }
                note(judged(spec, |cases| {
                    match work {
                        TestWork::Alone(jobs) => {
                            for job in jobs(&self.size) {
                                cases.push(alone(&bed, &model, job)?);
                            }
                        }
                        TestWork::GivesUp(jobs) | TestWork::Vanishes(jobs) => {
                            let vanishes = matches!(work, TestWork::Vanishes(_));
                            let command = if vanishes { HaltCommand::Vanish } else { HaltCommand::GiveUp };
                            for job in jobs(&self.size) {
                                cases.push(undone(&bed, &model, job, command)?);
                            }
                        }
                        TestWork::Meet(meeting) => with_each_ending(&bed, cases, &mut |ending, turn| {
                            met(&bed, &model, meeting(&self.size, turn), ending)
                        })?,
                    }
                    Ok(())
                }));
            }
        };
        of(Property::Atomicity, &mut *note);
        let of_work: Vec<_> = self.specs.iter().filter(|spec| spec.property == Property::Consistency).collect();
        if of_work.iter().any(|spec| wanted(spec.id)) && !is_over() {
            let tests = consistency::conditions(&of_work, || observed::<T>(&bed, &self.size));
            model.tables.replace(model.read()?);
            if !is_over() {
                tests.into_iter().filter(|test| wanted(&test.id)).for_each(&mut *note);
            }
        }
        of(Property::Isolation, &mut *note);
        Ok(())
    }

    fn conditions(&self) -> (&'static [Check], Vec<(&'static str, String)>) {
        (T::default().conditions(), T::default().holes(&self.size))
    }

    fn load(
        &self,
        engine: &dyn Engine,
        seed: u64,
        interrupt: &AtomicBool,
        listener: AcknowledgementListener,
    ) -> Result<(), String> {
        let (size, plan) = (self.size.clone(), crash::load_plan());
        let options = RunOptions {
            size,
            users: crash::USERS,
            open_loop: None,
            terminals: false,
            plan,
            seed,
            share: Share::WHOLE,
        };
        let telling = AcknowledgingEngine::new(engine, self.data.acknowledged, listener);
        let sut = InProcess::<T>::new(&telling);
        run::<T>(&sut, &options, &RealClock::start(), interrupt, &mut |_| {})
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn load_words(&self) -> (String, usize) {
        (format!("the whole mix, {} users", crash::USERS), crash::USERS)
    }

    fn acknowledged(&self) -> &'static [AcknowledgedKind] {
        self.data.acknowledged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_all_and_those_in_time_remain() {
        assert_eq!(orders(0), [Vec::<usize>::new()]);
        assert_eq!(orders(2), [[0, 1], [1, 0]]);
        let mut three = orders(3);
        assert_eq!(three.len(), 6);
        three.sort();
        three.dedup();
        assert_eq!(three.len(), 6);
        let output = OutputValue::of(0, &());
        let done = [false, true, false].map(|at_once| Done { name: "", input: &(), output: &output, at_once });
        let in_time: Vec<_> = orders(3).into_iter().filter(|order| is_in_time(order, &done)).collect();
        assert_eq!(in_time, [[1, 0, 2], [1, 2, 0]]);
    }
}
