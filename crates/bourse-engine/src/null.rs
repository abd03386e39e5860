use crate::{
    Access, Batch, Capabilities, Checkpoint, Description, Dialect, Durability, EachRow, Engine, EngineKind, Footprint,
    Guarantee, Interface, Isolation, Loader, Location, Params, RecordCapabilities, Result, Session, Sql, SqlEngine,
    Value, files,
};

/// The engines of this crate.
pub static KINDS: &[EngineKind] = &[
    files::KIND,
    EngineKind {
        prepares_ms: 100,
        ..EngineKind::new(
            ["null", "no-op engine, to measure the harness overhead", "null:"],
            || Ok(env!("CARGO_PKG_VERSION").to_owned()),
            |_| Vec::new(),
            |_| Ok(Box::new(NullEngine)),
        )
    },
];

/// An engine that does nothing: its figures are the harness overhead, the lower bound of every other figure.
///
/// Queries return no row, changes change one row.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullEngine;

struct NullSession;
struct NullLoader;

impl Engine for NullEngine {
    fn description(&self) -> Result<Description> {
        let nothing = (Durability::Volatile, "nothing is kept".to_owned(), None);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Description { writer_wait: None, ..Description::new("null", version, "null:", nothing, Vec::new()) })
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            // Statements reach it and have no effect.
            sql: None,
            concurrent_writers: true,
            snapshots: true,
            checkpoints: true,
            one_session: false,
            processes: false,
            // By way of the adapter, so that its cost is in the floor.
            records: Some(RecordCapabilities::OVER_SQL),
            guarantees: Guarantee::ALWAYS_SERIALIZABLE,
        }
    }
    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }
    fn exists(&self) -> Result<bool> {
        Ok(false)
    }
    fn location(&self) -> Location {
        Location::Nowhere
    }
    fn footprint(&self) -> Result<Footprint> {
        Ok(Footprint::default())
    }
}

impl SqlEngine for NullEngine {
    fn dialect(&self) -> &'static Dialect {
        &bourse_schema::SQLITE
    }
    fn new_session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(NullSession))
    }
    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        Ok(Box::new(NullLoader))
    }
}

impl Session for NullSession {
    fn checkpoint(&mut self, _: Checkpoint) -> Result<bool> {
        Ok(true)
    }
    fn dialect(&self) -> &'static Dialect {
        &bourse_schema::SQLITE
    }
    fn begin(&mut self, _: Isolation, _: Access) -> Result<()> {
        Ok(())
    }
    fn query(&mut self, _: &'static Sql, _: Params<'_>, _: &mut EachRow<'_>) -> Result<()> {
        Ok(())
    }
    fn execute(&mut self, _: &'static Sql, _: Params<'_>) -> Result<u64> {
        Ok(1)
    }
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }
    fn rollback(&mut self) -> Result<()> {
        Ok(())
    }
    fn query_text(&mut self, _: &str, _: &[Value<'_>], _: &mut EachRow<'_>) -> Result<()> {
        Ok(())
    }
    fn execute_text(&mut self, _: &str, _: &[Value<'_>]) -> Result<u64> {
        Ok(1)
    }
}

impl Loader for NullLoader {
    fn run(&mut self, _: &str) -> Result<()> {
        Ok(())
    }
    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        for index in 0..batch.len() {
            batch.with_row(index, &mut |values| {
                std::hint::black_box(values);
            });
        }
        Ok(())
    }
    fn query(&mut self, _: &str, _: &mut EachRow<'_>) -> Result<()> {
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
