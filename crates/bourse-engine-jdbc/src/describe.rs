//! The description of the system under test, read back from the database and the virtual machine, and the guarantee of its
//! settings.

use crate::connection::JdbcConnection;
use crate::database::JdbcDatabase;
use crate::jars::sha256;
use crate::machine::BridgeMethod;
use crate::options::{GRAMMAR, JdbcOptions};
use crate::product::JdbcProduct;
use bourse_engine::target::{ParsedTarget, show_bytes};
use bourse_engine::{Description, Durability, MemoryStore, Result, RowExt as _, Setting, WriterWait, durability_at};
use std::path::Path;

/// Settings in force on a connection, if the product lists them.
pub(crate) fn settings_of(product: &JdbcProduct, connection: &mut JdbcConnection) -> Result<Vec<Setting>> {
    let mut settings = Vec::new();
    if let Some(sql) = product.settings {
        connection.query_text(sql, &mut |row| {
            settings.push(Setting { name: row.get(0)?, value: row.get::<Option<String>>(1)?.unwrap_or_default() });
            Ok(())
        })?;
    }
    Ok(settings)
}

pub(crate) fn describe(
    target: &ParsedTarget<JdbcOptions>,
    folder: Option<&Path>,
    database: &JdbcDatabase,
) -> Result<Description> {
    let product = database.product();
    let machine = database.machine();
    let mut settings = Vec::new();
    let mut version = String::new();
    let mut keeper = database.keeper();
    keeper.bridge().call(BridgeMethod::Facts, [0; 2])?;
    let facts = keeper.bridge().reader().text()?.into_owned();
    for (name, value) in facts.lines().filter_map(|line| line.split_once('=')) {
        match name {
            "version" => version = value.to_owned(),
            name => settings.push(Setting { name: name.to_owned(), value: value.to_owned() }),
        }
    }
    let mut add = |name: &str, value: String| settings.push(Setting { name: name.to_owned(), value });
    add("java_library", machine.library.display().to_string());
    for jar in database.jars() {
        let name = jar.file_name().unwrap_or_default().to_string_lossy().into_owned();
        add("jar", jar.display().to_string());
        add(&format!("jar_sha256 {name}"), sha256(jar));
    }
    let scheme = GRAMMAR.schemes.iter().find(|scheme| scheme.name == product.scheme);
    for option in GRAMMAR.options.iter().filter(|option| matches!(option.name, "lock_timeout" | "write_delay" | "nio"))
    {
        let value = (option.show)(&target.options);
        if scheme.is_some_and(|scheme| scheme.has(option.name)) && !value.is_empty() {
            add(option.name, value);
        }
    }
    settings.extend(settings_of(product, &mut keeper)?);
    drop(keeper);
    let (class, may_lose, why) = (product.durability)(&target.options);
    let (durability, durability_reason, warning) = durability_at(folder, (class, why.to_owned()));
    let may_lose = may_lose.filter(|_| durability != Durability::Volatile);
    let mut warnings: Vec<String> = product.warning.iter().map(|&warning| warning.to_owned()).collect();
    warnings.extend(warning);
    if let Some(wanted) = target.options.heap_bytes.filter(|&wanted| machine.heap_bytes != Some(wanted)) {
        let (wanted, started) =
            (show_bytes(wanted), machine.heap_bytes.map_or("its own default".to_owned(), show_bytes));
        warnings.push(format!(
            "heap={wanted} was requested, but this process's Java virtual machine was started before with {started}"
        ));
    }
    Ok(Description {
        engine: product.engine.to_owned(),
        version,
        target: target.text.clone(),
        durability,
        may_lose,
        durability_reason,
        writer_wait: Some(WriterWait::EngineLocks),
        memory_store: folder.is_none().then_some(MemoryStore::Engine),
        settings,
        compile_options: Vec::new(),
        warnings,
    })
}
