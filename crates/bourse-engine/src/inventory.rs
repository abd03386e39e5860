//! Objects that Bourse made in a database, listed in the database itself, so that everything else in it is known as a person's.
//!
//! Server engines mark tables by comments. For all others a load ends with a table, [`INVENTORY`], of the kind and the name of
//! each object that the database then holds, and of what each table consists of: its definition where the catalogue has it as a
//! text, else its columns. An object that is not in the list was made by a person, and so was a table of a listed name that
//! consists of anything else; a database that holds one is never replaced.

use crate::{Batch, EachRow, Engine, EngineError, Interface, Loader, Result, RowExt as _, Session, SessionExt as _};
use std::collections::BTreeSet;
use std::fmt;

/// Name of the table that lists the objects that Bourse made.
pub const INVENTORY: &str = "bourse_inventory";
/// Kind of a column, whose name is that of its table, a dot and its own.
const COLUMN: &str = "column";
/// Kind of the text that defines an object, whose name is the object's kind and name, a colon and the text.
const DEFINITION: &str = "definition";
/// Number of names that a refusal lists.
const LISTED: usize = 3;

/// An object of a database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct DatabaseObject {
    /// The engine's word for the kind, as `table`.
    kind: String,
    /// Name, as the engine's catalogue has it.
    name: String,
}

impl fmt::Display for DatabaseObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.split_once(": ") {
            Some((object, _)) if self.kind == DEFINITION => write!(f, "definition of {object}"),
            _ => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

impl DatabaseObject {
    /// Whether this says what an object consists of.
    fn is_part(&self) -> bool {
        self.kind == COLUMN || self.kind == DEFINITION
    }

    fn is_part_of(&self, whole: &Self) -> bool {
        let continues = |name: &str, by: &str| self.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(by));
        match &*self.kind {
            COLUMN => continues(&whole.name, "."),
            DEFINITION => continues(&whole.to_string(), ": "),
            _ => false,
        }
    }
}

/// All objects of a database, and those of them that Bourse made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inventory {
    objects: BTreeSet<DatabaseObject>,
    made: BTreeSet<DatabaseObject>,
}

impl Inventory {
    /// Inventory of an engine's database, read without a change to it where the engine allows that; `None` where there is no
    /// database, and for engines that mark Bourse's objects in another way.
    ///
    /// # Errors
    /// The engine's.
    pub fn of<E: Engine + ?Sized>(engine: &E) -> Result<Option<Self>> {
        let Interface::Sql(sql) = engine.interface() else { return Ok(None) };
        if sql.dialect().objects.is_none() || engine.foreign()?.is_some() {
            return Ok(None);
        }
        let Some(looked) = engine.for_inspection()? else { return Self::of_opened(engine) };
        let inventory = Self::of_opened(looked.engine.as_ref())?;
        (looked.unchanged)()?;
        Ok(inventory)
    }

    fn of_opened<E: Engine + ?Sized>(engine: &E) -> Result<Option<Self>> {
        if engine.exists()? { Self::read(&mut *engine.session()?) } else { Ok(None) }
    }

    /// Inventory of a session's database; `None` for engines that mark Bourse's objects in another way.
    ///
    /// # Errors
    /// The engine's.
    pub fn read(session: &mut dyn Session) -> Result<Option<Self>> {
        let Some(query) = session.dialect().objects else { return Ok(None) };
        let mut read = |sql: &str| {
            let found = session.text_rows(sql, |row| Ok(DatabaseObject { kind: row.get(0)?, name: row.get(1)? }))?;
            Ok::<_, EngineError>(found.into_iter().collect())
        };
        let mut this = Self { objects: read(query)?, made: BTreeSet::new() };
        if this.has_table(INVENTORY) {
            this.made = read(&format!("SELECT object_kind, object_name FROM {INVENTORY}"))?;
        }
        Ok(Some(this))
    }

    /// Whether the database contains no object.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Whether the database has a table of that name.
    pub fn has_table(&self, name: &str) -> bool {
        self.objects.iter().any(|it| it.kind == "table" && it.name.eq_ignore_ascii_case(name))
    }

    /// Objects that Bourse did not make.
    fn others(&self) -> impl Iterator<Item = &DatabaseObject> {
        self.objects.difference(&self.made)
    }

    /// Objects that Bourse made, by kind and name.
    pub fn made(&self) -> Vec<String> {
        self.made.intersection(&self.objects).filter(|it| !it.is_part()).map(ToString::to_string).collect()
    }

    /// Reason not to replace the database: the objects that Bourse did not make; `None` if there are none.
    pub fn foreign(&self) -> Option<String> {
        // What a person's table consists of says no more than the table.
        let is_part_of_other = |part: &DatabaseObject| self.others().any(|whole| part.is_part_of(whole));
        foreign_among(&self.others().filter(|it| !is_part_of_other(it)).map(ToString::to_string).collect::<Vec<_>>())
    }

    /// Adds to the list all that a session's database holds now, as a workload may make tables after the load.
    ///
    /// # Errors
    /// The engine's.
    pub fn adopt(session: &mut dyn Session) -> Result<()> {
        let Some(this) = Self::read(session)?.filter(|it| it.has_table(INVENTORY)) else { return Ok(()) };
        this.others().try_for_each(|object| session.execute_text(&insert(object), &[]).map(drop))
    }
}

/// Refuses to replace a database with objects that Bourse did not make.
///
/// # Errors
/// [`Refused`](crate::ErrorKind::Refused); the engine's.
pub fn refuse_others<E: Engine + ?Sized>(engine: &E) -> Result<()> {
    match Inventory::of(engine)?.and_then(|inventory| inventory.foreign()) {
        Some(why) => Err(EngineError::refused(why)),
        None => Ok(()),
    }
}

/// Reason not to change or remove a database that contains `others`, which Bourse did not make; `None` if there are
/// none.
pub fn foreign_among(others: &[String]) -> Option<String> {
    (!others.is_empty()).then(|| format!("it holds what bourse did not make: {}", listed(others)))
}

/// First names of a list, and the number of the others.
pub fn listed(found: &[String]) -> String {
    let more = found.len().saturating_sub(LISTED);
    let listed: Vec<&str> = found.iter().take(LISTED).map(String::as_str).collect();
    if more == 0 { listed.join(", ") } else { format!("{} and {more} more", listed.join(", ")) }
}

fn insert(DatabaseObject { kind, name }: &DatabaseObject) -> String {
    let quoted = |text: &str| text.replace('\'', "''");
    format!("INSERT INTO {INVENTORY} VALUES ('{}', '{}')", quoted(kind), quoted(name))
}

/// Loader that lists all that it has made before it finishes.
pub(crate) struct ListingLoader {
    inner: Box<dyn Loader>,
    /// Query for all that the database holds.
    objects: &'static str,
}

impl ListingLoader {
    pub(crate) fn new(inner: Box<dyn Loader>, objects: &'static str) -> Self {
        Self { inner, objects }
    }

    fn made(&mut self) -> Result<BTreeSet<DatabaseObject>> {
        let mut made = BTreeSet::new();
        self.inner.query(self.objects, &mut |row| {
            made.insert(DatabaseObject { kind: row.get(0)?, name: row.get(1)? });
            Ok(())
        })?;
        Ok(made)
    }
}

impl Loader for ListingLoader {
    fn run(&mut self, sql: &str) -> Result<()> {
        self.inner.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        self.inner.insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.inner.query(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if !self.made()?.is_empty() {
            self.inner.run(&format!(
                "CREATE TABLE {INVENTORY} (object_kind VARCHAR(20) NOT NULL, object_name VARCHAR(510) NOT NULL)"
            ))?;
            // With the list itself among what it lists.
            self.made()?.iter().try_for_each(|object| self.inner.run(&insert(object)))?;
        }
        self.inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_are_not_listed_are_foreign() {
        let object = |kind: &str, name: &str| DatabaseObject { kind: kind.to_owned(), name: name.to_owned() };
        let made = BTreeSet::from([object("table", "trade"), object("view", "gone")]);
        let mut inventory = Inventory { objects: BTreeSet::from([object("table", "trade")]), made };
        assert_eq!(inventory.foreign(), None);
        assert!(inventory.has_table("TRADE") && !inventory.has_table("notes"));
        // A table that has the name of a view is another thing.
        inventory.objects.extend([object("table", "gone"), object("view", "mine"), object("table", "notes")]);
        let words = "it holds what bourse did not make: table gone, table notes, view mine";
        assert_eq!(inventory.foreign().as_deref(), Some(words));
        inventory.objects.insert(object("trigger", "x"));
        assert!(inventory.foreign().unwrap().ends_with("table notes, trigger x and 1 more"));
        // A listed table that consists of other things is a person's; the parts of one that is not listed are not named.
        let defined = object("definition", "table trade: CREATE TABLE trade (t_id INTEGER)");
        let mut inventory = Inventory { objects: BTreeSet::from([object("table", "trade")]), ..Inventory::default() };
        inventory.objects.extend([object("column", "trade.t_id"), defined.clone()]);
        assert_eq!(inventory.foreign().unwrap(), "it holds what bourse did not make: table trade");
        inventory.made = inventory.objects.clone();
        assert_eq!((inventory.foreign(), inventory.made()), (None, vec!["table trade".to_owned()]));
        inventory.objects.remove(&defined);
        let otherwise = object("definition", "table trade: CREATE TABLE trade (mine TEXT)");
        inventory.objects.extend([object("column", "trade.mine"), otherwise]);
        let words = "it holds what bourse did not make: column trade.mine, definition of table trade";
        assert_eq!(inventory.foreign().as_deref(), Some(words));
        assert_eq!(insert(&object("table", "it's")), "INSERT INTO bourse_inventory VALUES ('table', 'it''s')");
    }
}
