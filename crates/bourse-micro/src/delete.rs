//! `delete`: deletes pairs, all together or one by one.

use crate::database::{count, create, fill_pairs, pairs, same};
use crate::index_search::{INDEX, PAIRS, index_kind};
use crate::options::{Kind, OptionError, OptionSpec, Options};
use crate::usual::{ROWS, STATEMENTS, lacking_records, statements, user_spec};
use crate::workload::{Extent, MicroError, Planned, Setting, Tally, WorkloadSpec, Writes};
use bourse_driver::{Clock, Control, Draw, OperationCx, OperationSpec, Performed, User, UserSpec};
use bourse_engine::{
    Access, Capabilities, Engine, EngineError, ErrorKind, IndexKind, Key, RecordTable, Records, Statements,
};
use bourse_record::{Check, NameValue};

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "delete",
    summary: "deletes rows, all at once or one by one in key order",
    tables: PAIRS,
    needs: "records by key; indexes beside the key unless text_index=off; a hash index for index=hash",
    options: &[
        ROWS,
        OptionSpec {
            name: "mode",
            kind: Kind::Word(&["all", "each"]),
            default: "all",
            meaning: "all rows at once, or each by its key",
        },
        OptionSpec {
            name: "per_transaction",
            kind: Kind::CountOr { word: "all", min: 1, max: 1_000_000_000 },
            default: "all",
            meaning: "deletions per transaction, if each row is deleted by its key",
        },
        INDEX,
        OptionSpec {
            name: "text_index",
            kind: crate::options::SWITCH,
            default: "on",
            meaning: "keep an index on str_key",
        },
        STATEMENTS,
    ],
    extent: Extent::Work,
    plan,
};

struct Delete {
    table: &'static RecordTable,
    rows: u64,
    each: bool,
    per_transaction: u64,
    statements: Statements,
}

/// Deletions between two readings of the clock, if a transaction has more.
const SAMPLE: u64 = 1_000;

fn plan(options: &Options) -> Result<Box<dyn Planned>, OptionError> {
    let rows = options.count("rows");
    let each = options.is("mode", "each");
    let per_transaction = options.count_or("per_transaction");
    if let (false, Some(number)) = (each, per_transaction) {
        return Err(
            options.refuse(format!("mode=all is one transaction: per_transaction={number} goes with mode=each"))
        );
    }
    let text_index = options.is("text_index", "on").then_some(IndexKind::Tree);
    Ok(Box::new(Delete {
        table: pairs(index_kind(options), text_index),
        rows,
        each,
        per_transaction: per_transaction.unwrap_or(rows),
        statements: statements(options),
    }))
}

impl Planned for Delete {
    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec::new("delete")]
    }
    fn unit(&self) -> &'static str {
        "rows/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, self.statements);
        if let Some(records) = capabilities.records {
            if self.table.key().index == Some(IndexKind::Hash) && !records.hash_index {
                lacking.push("index=hash needs a hash index".to_owned());
            }
            if self.table.fields()[0].index.is_some() && !records.indexed_fields {
                lacking.push("text_index=on needs indexes beside the key".to_owned());
            }
        }
        lacking
    }
    fn threads(&self) -> usize {
        1
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        create(engine, &[self.table])?;
        fill_pairs(engine, self.table, self.rows)?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &Setting<'s>) -> Vec<UserSpec<'s>> {
        let deleter = Deleter { delete: self, at: 0, until: 0, in_transaction: 0, setting: setting.clone() };
        vec![user_spec("deleter".to_owned(), deleter)]
    }
    fn counts_before_commit(&self) -> bool {
        true
    }
    fn writes(&self) -> Option<Writes> {
        Some(Writes::together(0, if self.each { self.per_transaction } else { 1 }))
    }
    fn check(&self, setting: &Setting<'_>) -> Result<Vec<Check>, MicroError> {
        let left = count(setting.engine, self.table)?;
        let words = "as many rows are gone as were deleted and committed".to_owned();
        Ok(vec![same("rows", words, Tally::get(&setting.tally.changes), self.rows - left.min(self.rows))])
    }
}

struct Deleter<'s> {
    delete: &'s Delete,
    /// Number of the next row.
    at: u64,
    /// Number of the first row after the sample.
    until: u64,
    /// Rows deleted and not yet committed.
    in_transaction: u64,
    setting: Setting<'s>,
}

impl Deleter<'_> {
    fn delete(&mut self, records: &mut dyn Records) -> Result<(), EngineError> {
        let Delete { table, rows, each, per_transaction, .. } = *self.delete;
        if !each {
            records.begin(Access::Write)?;
            let gone = records.delete_all(table)?;
            records.commit()?;
            if gone != rows && self.setting.is_real {
                return Err(EngineError::new(ErrorKind::Other, format!("{gone} of {rows} rows were deleted")));
            }
            Tally::add(&self.setting.tally.changes, rows);
            self.at = self.until;
            return Ok(());
        }
        while self.at < self.until {
            if self.in_transaction == 0 {
                records.begin(Access::Write)?;
            }
            if !records.delete(table, Key::Int(self.at as i64 + 1))? && self.setting.is_real {
                return Err(EngineError::new(ErrorKind::Other, format!("no row {} to delete", self.at + 1)));
            }
            self.at += 1;
            self.in_transaction += 1;
            if self.in_transaction == per_transaction || self.at == rows {
                records.commit()?;
                Tally::add(&self.setting.tally.changes, self.in_transaction);
                self.in_transaction = 0;
            }
        }
        Ok(())
    }
}

impl User for Deleter<'_> {
    fn draw(&mut self, _: &dyn Clock, _: &Control) -> Draw {
        let rows = self.delete.rows;
        if self.at >= rows {
            if self.setting.is_real {
                return Draw::Finished;
            }
            self.at = 0;
        }
        let rest = self.delete.per_transaction - self.in_transaction;
        let sample = self.setting.batch.unwrap_or(SAMPLE).min(rest);
        self.until = if self.delete.each { (self.at + sample).min(rows) } else { rows };
        Draw::Ready
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> Performed {
        let (statements, rows) = (self.delete.statements, (self.until - self.at) as u32);
        // No other user writes here: a failure is not retried.
        match cx.connection.with_records(statements, |records| self.delete(records)) {
            Ok(()) => Performed::completed(0).times(rows),
            Err(error) => {
                // The rest of the transaction is lost with it; the first error is the one to report.
                let _ = cx.connection.rollback();
                self.in_transaction = 0;
                self.at = self.delete.rows;
                Performed::error(0, &error).times(rows)
            }
        }
    }
}
