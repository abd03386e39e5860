use crate::{RowSink, SinkStopped};
use bourse_schema::{TableRow, tables};

use crate::files::flat::Generation;
use crate::files::sequence::UnitSequence;
use crate::files::spool::Spool;
use crate::files::{FlatFormat, GenError, csv};

/// Bytes of one table that are collected before they are written.
///
/// They are few enough that the buffers of the trades' tables stay in a core's own cache until they are written.
const GATHERED_BYTES: usize = 48 << 10;

/// Number of tables.
const TABLES: usize = tables::NAMES.len();

/// Formats the rows of units into buffers, a buffer a table, and passes full ones on.
pub(crate) struct FlatSink<'a> {
    run: &'a Generation<'a>,
    buffers: [Vec<u8>; TABLES],
    wanted: [bool; TABLES],
    csv: Vec<u8>,
    scrap: Vec<u8>,
    /// Unit in progress: its sequence, its index, and its buffered bytes.
    at: Option<UnitInProgress<'a>>,
    failure: Option<GenError>,
}

struct UnitInProgress<'a> {
    sequence: &'a UnitSequence,
    place: usize,
    spools: Option<Vec<Spool>>,
}

impl<'a> FlatSink<'a> {
    pub(crate) fn new(run: &'a Generation<'a>) -> Self {
        Self {
            run,
            buffers: std::array::from_fn(|_| Vec::new()),
            wanted: [false; TABLES],
            csv: Vec::new(),
            scrap: Vec::new(),
            at: None,
            failure: None,
        }
    }

    /// Makes one unit.
    pub(crate) fn unit(&mut self, sequence: &'a UnitSequence, place: usize) -> Result<(), GenError> {
        self.wanted = [false; TABLES];
        for &number in &sequence.numbers {
            self.wanted[number] = true;
        }
        let spools = (sequence.turn() != place).then(|| sequence.spools(place));
        self.at = Some(UnitInProgress { sequence, place, spools });
        let made = self.run.generator.make(sequence.units()[place], self).and_then(|()| self.pass_on(1));
        let at = self.at.take().expect("set above");
        match (made, self.failure.take()) {
            (Ok(()), _) => at.sequence.done(at.place, at.spools),
            (Err(SinkStopped), Some(failure)) => Err(failure),
            (Err(SinkStopped), None) => Err(GenError::Cancelled),
        }
    }

    /// Passes on buffers of at least `least` bytes.
    fn pass_on(&mut self, least: usize) -> Result<(), SinkStopped> {
        let passed = self.try_pass_on(least);
        passed.map_err(|failure| {
            self.failure = Some(failure);
            SinkStopped
        })
    }

    fn try_pass_on(&mut self, least: usize) -> Result<(), GenError> {
        let Some(at) = &mut self.at else { return Ok(()) };
        for (nth, &number) in at.sequence.numbers.iter().enumerate() {
            let buffer = &mut self.buffers[number];
            if buffer.len() < least {
                continue;
            }
            if at.sequence.turn() == at.place
                && let Some(spools) = at.spools.take()
            {
                at.sequence.append(spools)?;
            }
            let bytes = match self.run.format {
                FlatFormat::Flat => &*buffer,
                FlatFormat::Csv => {
                    self.csv.clear();
                    csv::rewrite(buffer, &mut self.csv);
                    &self.csv
                }
            };
            match &mut at.spools {
                Some(spools) => spools[nth].add(bytes)?,
                None => at.sequence.write(nth, bytes)?,
            }
            self.run.advance(bytes.len());
            buffer.clear();
        }
        Ok(())
    }
}

impl RowSink for FlatSink<'_> {
    #[inline]
    fn row<R: TableRow>(&mut self, row: R) {
        let number = const { tables::number::<R>() };
        if self.wanted[number] {
            row.write_flat(&mut self.buffers[number]);
        }
    }

    #[inline]
    fn lines<R: TableRow>(&mut self) -> Option<&mut Vec<u8>> {
        let number = const { tables::number::<R>() };
        // Lines of unwanted tables are made too, since the random sequence continues after them, and discarded.
        Some(if self.wanted[number] { &mut self.buffers[number] } else { &mut self.scrap })
    }

    fn chunk_end(&mut self) -> Result<(), SinkStopped> {
        if self.run.is_stopped() {
            return Err(SinkStopped);
        }
        self.scrap.clear();
        self.pass_on(GATHERED_BYTES)
    }
}
