//! `index-search`: finds pairs by integer and by text, each by its index.

use crate::batching::{BATCH, Batching};
use crate::database::{create, fill_pairs, pair_chars, pair_text, pairs};
use crate::keys::{Distribution, KEYS, KeyStream};
use crate::options::{Kind, OptionError, OptionSpec, Options};
use crate::row_sum::text_sum;
use crate::usual::{ROWS, STATEMENTS, THREADS, lacking_records, statements, user_spec};
use crate::workload::{Extent, Left, MicroError, Planned, Setting, WorkloadSpec};
use bourse_driver::{Clock, Control, Draw, OperationCx, OperationSpec, Performed, User, UserSpec};
use bourse_engine::{Capabilities, Engine, EngineError, ErrorKind, IndexKind, Key, RecordTable, Statements, Value};
use bourse_record::NameValue;

/// Option: the index by which pairs are found by number.
pub(crate) const INDEX: OptionSpec =
    OptionSpec { name: "index", kind: Kind::Word(&["tree", "hash"]), default: "tree", meaning: "the index on int_key" };
/// Description of the table of pairs.
pub(crate) const PAIRS: &str = "pairs (int_key integer, primary key; str_key text of 28 characters, indexed)";

/// Declaration of the workload.
pub(crate) static SPEC: WorkloadSpec = WorkloadSpec {
    name: "index-search",
    summary: "looks up rows by integer key and by text key",
    tables: PAIRS,
    needs: "records by key; indexes beside the key for by=text and by=both; a hash index for index=hash",
    options: &[
        ROWS,
        THREADS,
        OptionSpec {
            name: "by",
            kind: Kind::Word(&["number", "text", "both"]),
            default: "number",
            meaning: "look up by int_key, by str_key, or alternate",
        },
        INDEX,
        KEYS,
        STATEMENTS,
        BATCH,
    ],
    extent: Extent::Time,
    plan,
};

struct IndexSearch {
    table: &'static RecordTable,
    rows: u64,
    threads: usize,
    by: &'static [usize],
    hash: bool,
    keys: Distribution,
    statements: Statements,
    batch: Option<u64>,
}

const NUMBER: usize = 0;
const TEXT: usize = 1;

/// Kind of index that the option selects.
pub(crate) fn index_kind(options: &Options) -> IndexKind {
    if options.is(INDEX.name, "hash") { IndexKind::Hash } else { IndexKind::Tree }
}

fn plan(options: &Options) -> Result<Box<dyn Planned>, OptionError> {
    let rows = options.count("rows");
    let by: &'static [usize] = match options.text("by") {
        "number" => &[NUMBER],
        "text" => &[TEXT],
        _ => &[NUMBER, TEXT],
    };
    let text_index = by.contains(&TEXT).then_some(IndexKind::Tree);
    Ok(Box::new(IndexSearch {
        table: pairs(index_kind(options), text_index),
        rows,
        threads: options.size("threads"),
        by,
        hash: index_kind(options) == IndexKind::Hash,
        keys: Distribution::chosen(options, rows),
        statements: statements(options),
        batch: options.count_or(BATCH.name),
    }))
}

impl Planned for IndexSearch {
    fn operations(&self) -> Vec<OperationSpec> {
        let all = [OperationSpec::new("search by number"), OperationSpec::new("search by text")];
        self.by.iter().map(|by| all[*by]).collect()
    }
    fn headline(&self) -> Option<usize> {
        (self.by.len() == 1).then_some(0)
    }
    fn unit(&self) -> &'static str {
        "searches/s"
    }
    fn lacking(&self, capabilities: &Capabilities) -> Vec<String> {
        let mut lacking = lacking_records(capabilities, self.statements);
        if let Some(records) = capabilities.records {
            if self.hash && !records.hash_index {
                lacking.push("index=hash needs a hash index".to_owned());
            }
            if self.by.contains(&TEXT) && !records.indexed_fields {
                lacking.push("searching by text needs indexes beside the key".to_owned());
            }
        }
        lacking
    }
    fn threads(&self) -> usize {
        self.threads
    }
    fn prepare(&self, engine: &dyn Engine, _: &dyn Clock) -> Result<Vec<NameValue>, MicroError> {
        create(engine, &[self.table])?;
        fill_pairs(engine, self.table, self.rows)?;
        Ok(Vec::new())
    }
    fn users<'s>(&'s self, setting: &Setting<'s>) -> Vec<UserSpec<'s>> {
        let user = |thread| {
            let keys = KeyStream::new(self.keys.clone(), self.rows, setting.seed, thread, self.threads);
            let searcher = Searcher {
                search: self,
                keys,
                drawn: Vec::new(),
                texts: Vec::new(),
                expected: 0,
                turn: 0,
                batching: setting.batching(setting.batch.or(self.batch)),
                left: Left::of(setting.count),
                is_real: setting.is_real,
            };
            user_spec(format!("searcher {}", thread + 1), searcher)
        };
        (0..self.threads).map(user).collect()
    }
}

struct Searcher<'s> {
    search: &'s IndexSearch,
    keys: KeyStream,
    drawn: Vec<i64>,
    texts: Vec<String>,
    /// Sum of the texts of all pairs drawn.
    expected: u64,
    /// Index of the next kind of search.
    turn: usize,
    batching: Batching,
    left: Left,
    is_real: bool,
}

impl User for Searcher<'_> {
    fn draw(&mut self, clock: &dyn Clock, _: &Control) -> Draw {
        let batch = self.batching.next(clock, self.left.now());
        if batch == 0 {
            return Draw::Finished;
        }
        self.left.draw(batch);
        // The one that is timed alone is of the kind of those before it: else each kind would be timed alone always or never.
        if !self.batching.is_alone() {
            self.turn = (self.turn + 1) % self.search.by.len();
        }
        self.drawn.clear();
        self.drawn.extend((0..batch).map(|_| self.keys.next_key() as i64 + 1));
        self.texts.clear();
        if self.search.by[self.turn] == TEXT {
            self.texts.extend(self.drawn.iter().map(|&number| pair_text(number as u64)));
        }
        let sum = |sum: u64, number: &i64| sum.wrapping_add(text_sum(pair_chars(*number as u64).as_bytes()));
        self.expected = self.drawn.iter().fold(0, sum);
        self.batching.begins(clock);
        Draw::Ready
    }

    fn is_timed(&self) -> bool {
        self.batching.is_timed()
    }

    fn drawn(&self) -> Option<usize> {
        Some(self.turn)
    }

    fn ended(&mut self, counts: bool) {
        self.left.ended(counts);
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> Performed {
        let IndexSearch { table, statements, .. } = *self.search;
        let (drawn, texts) = (&self.drawn, &self.texts);
        let operation = self.turn;
        let searched = cx.retrying(|connection| {
            connection.with_records(statements, |records| {
                let (mut found, mut sum) = (0, 0u64);
                for (at, &number) in drawn.iter().enumerate() {
                    let mut each = |row: &dyn bourse_engine::Row| {
                        if row.is_int(0, number)
                            && let Some(text) = row.text_bytes(1)
                        {
                            found += 1;
                            sum = sum.wrapping_add(text_sum(text));
                        }
                        Ok(())
                    };
                    match texts.get(at) {
                        Some(text) => {
                            records.find(table, 0, Value::Text(text), &mut each)?;
                        }
                        None => {
                            records.get(table, Key::Int(number), &mut each)?;
                        }
                    }
                }
                Ok::<_, EngineError>((found, sum))
            })
        });
        let count = drawn.len() as u32;
        let words = match searched {
            Err(error) => return Performed::error(operation, &error).times(count),
            Ok(_) if !self.is_real => None,
            Ok((found, _)) if found != drawn.len() => Some(format!("{found} pairs found of {count} that are there")),
            Ok((_, sum)) if sum != self.expected => {
                Some("a pair was read whose text is not the one that was loaded".to_owned())
            }
            Ok(_) => None,
        };
        match words {
            None => Performed::completed(operation).times(count),
            Some(words) => Performed::error(operation, &EngineError::new(ErrorKind::Other, words)).times(count),
        }
    }
}
