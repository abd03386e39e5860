//! Ownership of databases on a server: the mark that loaders leave, and objects without it.
//!
//! Every table that a loader creates has [`MARK`] with the table's name as its comment, which `\dt+` shows; a renamed table has
//! a name that is not the comment's. A database is loaded into only if it contains nothing but such tables. A load replaces
//! those tables and touches nothing else. A database that Bourse itself created has the mark with its name as its own comment:
//! that one, and its copy that rounds are restored from, are the only ones that are ever dropped.

use crate::connect::PostgresConnector;
use crate::wire::WireConnection;
use bourse_engine::{EngineError, ErrorKind, Result, listed};

/// First words of the comment of every table, routine and database that Bourse creates.
pub(crate) const MARK: &str = "made by bourse";

/// Comment of a table or a database that Bourse creates, as an SQL literal.
pub(crate) fn mark(name: &str) -> String {
    format!("'{MARK} as {}'", name.replace('\'', "''"))
}

/// Condition for the server's own schemas.
const OWN_SCHEMAS: &str = "(n.nspname IN ('pg_catalog', 'information_schema') OR n.nspname LIKE 'pg\\_toast%' OR n.nspname LIKE 'pg\\_temp%')";

/// Kinds of objects that a database can contain, each with the query for those without the mark. Only tables can have
/// it, and functions that a session has [installed](crate::routines). Objects of an extension belong to the extension.
const UNMARKED: &[(&str, &str)] = &[
    (
        "relation",
        "SELECT CASE c.relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' WHEN 'S' THEN 'sequence '
                               WHEN 'f' THEN 'foreign table ' WHEN 'c' THEN 'type ' ELSE 'table ' END
                || CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname
           FROM pg_class c INNER JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c') AND NOT {own}
            AND NOT (c.relkind = 'r' AND n.nspname = 'public'
                     AND coalesce(obj_description(c.oid, 'pg_class'), '') = 'made by bourse as ' || c.relname)
            AND NOT EXISTS (SELECT 1 FROM pg_depend d
                             WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                               AND (d.deptype = 'e' OR c.relkind = 'S' AND d.deptype IN ('a', 'i')
                                    AND d.refclassid = 'pg_class'::regclass
                                    AND obj_description(d.refobjid, 'pg_class') = (
                                        SELECT 'made by bourse as ' || t.relname FROM pg_class t WHERE t.oid = d.refobjid)))",
    ),
    (
        "function",
        "SELECT 'function ' || CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || p.proname
           FROM pg_proc p INNER JOIN pg_namespace n ON n.oid = p.pronamespace
          WHERE NOT {own} AND coalesce(obj_description(p.oid, 'pg_proc'), '') NOT LIKE 'made by bourse, version %'
            AND NOT EXISTS (SELECT 1 FROM pg_depend d
                WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')",
    ),
    (
        "type",
        "SELECT 'type ' || CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || t.typname
           FROM pg_type t INNER JOIN pg_namespace n ON n.oid = t.typnamespace
          WHERE t.typtype IN ('d', 'e', 'r') AND NOT {own} AND NOT EXISTS (SELECT 1 FROM pg_depend d
                WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e')",
    ),
    ("trigger", "SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal"),
    (
        "rule",
        "SELECT 'rule ' || r.rulename
           FROM pg_rewrite r INNER JOIN pg_class c ON c.oid = r.ev_class INNER JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE r.rulename <> '_RETURN' AND NOT {own} AND NOT EXISTS (SELECT 1 FROM pg_depend d
                WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.deptype = 'e')",
    ),
    ("policy", "SELECT 'policy ' || polname FROM pg_policy"),
    ("statistics", "SELECT 'statistics ' || stxname FROM pg_statistic_ext"),
    (
        "template",
        "SELECT 'its role as a template of new databases' FROM pg_database
          WHERE datname = current_database() AND datistemplate",
    ),
    (
        "schema",
        "SELECT 'schema ' || n.nspname FROM pg_namespace n
          WHERE n.nspname <> 'public' AND NOT {own} AND NOT EXISTS (SELECT 1 FROM pg_depend d
                WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e')",
    ),
    ("large object", "SELECT 'large object ' || oid FROM pg_largeobject_metadata"),
    ("publication", "SELECT 'publication ' || pubname FROM pg_publication"),
    ("event trigger", "SELECT 'event trigger ' || evtname FROM pg_event_trigger"),
];

/// Kinds of objects whose name, schema and owning extension are all that counts: words, catalogue, and the columns with the name
/// and the schema.
const NAMED: &[(&str, &str, &str, &str)] = &[
    ("collation", "pg_collation", "collname", "collnamespace"),
    ("text search configuration", "pg_ts_config", "cfgname", "cfgnamespace"),
    ("operator", "pg_operator", "oprname", "oprnamespace"),
];

/// Query for the objects of a kind of [`NAMED`].
fn named((kind, catalogue, name, schema): &(&str, &str, &str, &str)) -> String {
    format!(
        "SELECT '{kind} ' || o.{name} FROM {catalogue} o INNER JOIN pg_namespace n ON n.oid = o.{schema}
          WHERE NOT {{own}} AND NOT EXISTS (SELECT 1 FROM pg_depend d
                WHERE d.classid = '{catalogue}'::regclass AND d.objid = o.oid AND d.deptype = 'e')"
    )
}

/// Objects of a database without the mark, each with its kind and name.
fn unmarked(connection: &mut WireConnection) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let queries = UNMARKED.iter().map(|(_, sql)| (*sql).to_owned()).chain(NAMED.iter().map(named));
    for sql in queries {
        let mut names = connection.names(&sql.replace("{own}", OWN_SCHEMAS))?;
        names.sort();
        found.extend(names);
    }
    Ok(found)
}

/// Description of the objects in the connection's database that no loader made; `None` if there are none.
pub(crate) fn foreign(connection: &mut WireConnection, database: &str) -> Result<Option<String>> {
    let found = unmarked(connection)?;
    Ok((!found.is_empty())
        .then(|| format!("database \"{database}\" holds what bourse did not make: {}", listed(&found))))
}

/// Refuses a database with tables of a loader's that the account may not read: nothing could be found out about them.
pub(crate) fn refuse_unreadable(connection: &mut WireConnection, database: &str) -> Result<()> {
    let found = connection.names(
        "SELECT c.relname FROM pg_class c INNER JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relkind = 'r' AND n.nspname = 'public'
            AND obj_description(c.oid, 'pg_class') = 'made by bourse as ' || c.relname
            AND NOT has_table_privilege(c.oid, 'SELECT')
          ORDER BY 1",
    )?;
    if found.is_empty() {
        return Ok(());
    }
    let user = connection.names("SELECT quote_ident(current_user)")?.concat();
    let tables = if found.len() == 1 { "table" } else { "tables" };
    let message = format!("{user} may not read {tables} {} of database \"{database}\"", listed(&found));
    let gives = format!("GRANT ALL ON ALL TABLES IN SCHEMA public TO {user}");
    Err(lacking(EngineError::new(ErrorKind::Denied, message), &gives))
}

/// Refuses a database with objects that no loader made.
pub(crate) fn refuse_foreign(connection: &mut WireConnection, database: &str) -> Result<()> {
    match foreign(connection, database)? {
        Some(why) => Err(EngineError::refused(format!(
            "{why}; it is left as it is: name another database, which need not exist"
        ))),
        None => Ok(()),
    }
}

/// Tables of the connection's database with the mark.
pub(crate) fn marked_tables(connection: &mut WireConnection) -> Result<Vec<String>> {
    connection.names(
        "SELECT c.relname FROM pg_class c INNER JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relkind = 'r' AND n.nspname = 'public'
            AND obj_description(c.oid, 'pg_class') = 'made by bourse as ' || c.relname
          ORDER BY 1",
    )
}

/// Quotes a name for a statement.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Creates a database with the mark, unless the name exists, through a connection to the database `home`.
pub(crate) fn create_database(connector: &PostgresConnector, database: &str, home: &str) -> Result<()> {
    let mut connection = connector.maintenance(home)?;
    let found = format!("SELECT 1 FROM pg_database WHERE datname = '{database}'");
    if !connection.names(&found)?.is_empty() {
        return Ok(());
    }
    let name = quoted(database);
    connection
        .run(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"))
        .map_err(|e| lacking(e, &format!("ALTER ROLE {} CREATEDB", quoted(&connector.user))))?;
    mark_database(&mut connection, database)
}

/// Drops a database with the mark and all its content; does nothing if it does not exist.
pub(crate) fn drop_marked(connection: &mut WireConnection, database: &str) -> Result<()> {
    match is_marked(connection, database)? {
        None => Ok(()),
        Some(true) => connection.run(&format!("DROP DATABASE {}", quoted(database))),
        Some(false) => Err(EngineError::refused(format!(
            "database \"{database}\" is there, and does not have the comment {} that Bourse's has; it is left as it is: drop or \
             rename it if nobody needs it, or use another database",
            mark(database)
        ))),
    }
}

/// Error for a right that the account lacks, with the statement that grants it.
pub(crate) fn lacking(e: EngineError, gives: &str) -> EngineError {
    if e.kind() == ErrorKind::Denied { e.with_advice(format_args!("{gives} gives the right")) } else { e }
}

/// Marks a new database.
pub(crate) fn mark_database(connection: &mut WireConnection, database: &str) -> Result<()> {
    connection.run(&format!("COMMENT ON DATABASE {} IS {}", quoted(database), mark(database)))
}

/// Statements that give a database of that name what one has now besides its contents: its owner, settings, rights and limit of
/// connections, all of which end with the database.
pub(crate) fn properties(connection: &mut WireConnection, database: &str) -> Result<Vec<String>> {
    // The value of a list is SQL already; that of any other setting is a text.
    let sql = "
        WITH d AS (SELECT *, quote_ident(datname) AS name FROM pg_database WHERE datname = {database}),
             granted AS (SELECT name, (aclexplode(datacl)).* FROM d)
        SELECT 'ALTER DATABASE ' || name || ' OWNER TO ' || quote_ident(pg_get_userbyid(datdba)) FROM d
         WHERE pg_get_userbyid(datdba) <> current_user
        UNION ALL
        SELECT 'ALTER DATABASE ' || name || ' CONNECTION LIMIT ' || datconnlimit FROM d WHERE datconnlimit >= 0
        UNION ALL
        SELECT 'ALTER ' || CASE s.setrole WHEN 0 THEN '' ELSE 'ROLE ' || quote_ident(pg_get_userbyid(s.setrole)) || ' IN ' END
                || 'DATABASE ' || name || ' SET ' || quote_ident(split_part(v, '=', 1)) || ' TO '
                || CASE WHEN split_part(v, '=', 1) IN ('search_path', 'temp_tablespaces', 'local_preload_libraries',
                                                       'session_preload_libraries') AND v NOT LIKE '%='
                        THEN substr(v, strpos(v, '=') + 1) ELSE quote_literal(substr(v, strpos(v, '=') + 1)) END
          FROM d INNER JOIN pg_db_role_setting s ON s.setdatabase = d.oid CROSS JOIN unnest(s.setconfig) v
        UNION ALL
        SELECT 'REVOKE ALL ON DATABASE ' || name || ' FROM PUBLIC, ' || quote_ident(pg_get_userbyid(datdba)) FROM d
         WHERE datacl IS NOT NULL
        UNION ALL
        SELECT 'GRANT ' || privilege_type || ' ON DATABASE ' || name || ' TO '
                || CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
                || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
          FROM granted";
    connection.names(&sql.replace("{database}", &format!("'{}'", database.replace('\'', "''"))))
}

/// Whether the database of that name has the mark; `None` if it does not exist.
pub(crate) fn is_marked(connection: &mut WireConnection, database: &str) -> Result<Option<bool>> {
    let sql = format!(
        "SELECT CASE WHEN shobj_description(oid, 'pg_database') = {} THEN 'marked' ELSE '' END
           FROM pg_database WHERE datname = '{database}'",
        mark(database)
    );
    Ok(connection.names(&sql)?.first().map(|mark| mark == "marked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_look_for_the_mark_itself() {
        // Statements are constants, so the mark is written out in them.
        assert!(UNMARKED[0].1.contains(&format!("'{MARK} as '")));
        assert!(UNMARKED[1].1.contains(&format!("'{MARK}, version %'")));
    }

    #[test]
    fn a_refusal_lists_a_few_names() {
        let found: Vec<String> = ["table a", "view b", "type c", "trigger d"].map(str::to_owned).to_vec();
        assert_eq!(listed(&found), "table a, view b, type c and 1 more");
        assert_eq!(listed(&found[..1]), "table a");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
