//! Rows in batches, for a loader: made on several threads, delivered in order to one consumer.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use crate::{Inputs, Part, PartGenerator, RowSink, RowUnit, SinkStopped};
use bourse_schema::{Batch, Rows, Table, TableRow, tables};

/// Rows of a batch of small rows.
const ROWS_PER_BATCH: usize = 2_048;
/// Rows of a batch of NEWS_ITEM, whose rows have a hundred kilobytes.
const NEWS_PER_BATCH: usize = 8;
/// Maximum number of batches of a unit that wait for the consumer.
const MAX_WAITING_BATCHES: usize = 8;

/// Options of generation in batches.
#[derive(Debug, Clone)]
pub struct BatchOptions {
    /// Tables to make; all if `None`.
    pub tables: Option<Vec<&'static Table>>,
    /// Threads that make rows in addition to the consumer's, at least one.
    pub threads: usize,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self { tables: None, threads: 1 }
    }
}

/// Makes a part's rows and passes them to `consume`, always in the same order: rows of one table in the order of the
/// reference's file, tables in the order it makes them in, the eight tables of the trades side by side.
///
/// Threads that are ahead wait: the number of rows made but not consumed is bounded.
///
/// # Errors
/// The consumer's first error, which ends the generation.
pub fn batches<E>(
    inputs: &Inputs,
    part: Part,
    options: &BatchOptions,
    mut consume: impl FnMut(Box<dyn Batch>) -> Result<(), E>,
) -> Result<(), E> {
    let wanted: Vec<&'static Table> = options.tables.clone().unwrap_or_else(|| tables::all().to_vec());
    let generator = PartGenerator::new(inputs, part);
    let mut receivers = VecDeque::new();
    let mut work = VecDeque::new();
    for unit in generator.units(|table| wanted.contains(&table)) {
        let (sender, receiver) = sync_channel(MAX_WAITING_BATCHES);
        work.push_back((unit, sender));
        receivers.push_back(receiver);
    }
    let units = work.len();
    let work = Mutex::new(work);
    std::thread::scope(|scope| {
        scope.spawn(|| make_units(&generator, &wanted, &work));
        // No more threads than there is work for. Where the system refuses one, those that were started do its part.
        for _ in 1..options.threads.min(units) {
            let started = std::thread::Builder::new().spawn_scoped(scope, || make_units(&generator, &wanted, &work));
            if started.is_err() {
                break;
            }
        }
        consume_all(receivers, &mut consume).inspect_err(|_| {
            // Units not begun are dropped; threads at work notice that the receiver is gone.
            work.lock().unwrap_or_else(PoisonError::into_inner).clear();
        })
    })
}

fn consume_all<E>(
    receivers: VecDeque<Receiver<Box<dyn Batch>>>,
    consume: &mut impl FnMut(Box<dyn Batch>) -> Result<(), E>,
) -> Result<(), E> {
    for unit in receivers {
        for batch in unit {
            consume(batch)?;
        }
    }
    Ok(())
}

type BatchWork = Mutex<VecDeque<(RowUnit, SyncSender<Box<dyn Batch>>)>>;

fn make_units(generator: &PartGenerator<'_>, wanted: &[&'static Table], work: &BatchWork) {
    loop {
        let next = work.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((unit, sender)) = next else { return };
        let mut sink = BatchSink { sender, wanted, pending: std::array::from_fn(|_| None) };
        let made = generator.make(unit, &mut sink).and_then(|()| sink.pass_on(true));
        if made.is_err() {
            return;
        }
    }
}

/// Rows of one table that are not yet a batch.
trait PendingRows: Batch {
    fn as_any(&mut self) -> &mut dyn Any;
    fn into_batch(self: Box<Self>) -> Box<dyn Batch>;
}

impl<R: TableRow> PendingRows for Rows<R> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
    fn into_batch(self: Box<Self>) -> Box<dyn Batch> {
        self
    }
}

struct BatchSink<'a> {
    sender: SyncSender<Box<dyn Batch>>,
    wanted: &'a [&'static Table],
    pending: [Option<Box<dyn PendingRows>>; tables::NAMES.len()],
}

impl BatchSink<'_> {
    /// Passes on what makes a batch, or everything.
    fn pass_on(&mut self, everything: bool) -> Result<(), SinkStopped> {
        for slot in &mut self.pending {
            let full = |pending: &mut Box<dyn PendingRows>| {
                let least =
                    if pending.table().name == tables::NewsItem::NAME { NEWS_PER_BATCH } else { ROWS_PER_BATCH };
                everything || pending.len() >= least
            };
            if let Some(pending) = slot.take_if(full)
                && self.wanted.contains(&pending.table())
            {
                self.sender.send(pending.into_batch()).map_err(|_| SinkStopped)?;
            }
        }
        Ok(())
    }
}

impl RowSink for BatchSink<'_> {
    fn row<R: TableRow>(&mut self, row: R) {
        let slot = &mut self.pending[const { tables::number::<R>() }];
        let pending = slot.get_or_insert_with(|| Box::new(Rows::<R>(Vec::new())));
        let rows = pending.as_any().downcast_mut::<Rows<R>>().expect("the place is this table's");
        rows.0.push(row);
    }

    fn chunk_end(&mut self) -> Result<(), SinkStopped> {
        self.pass_on(false)
    }
}
