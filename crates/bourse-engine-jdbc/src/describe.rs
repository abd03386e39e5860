//! The description of the system under test, read back from the database and the virtual machine, and the guarantee of its
//! settings.

use crate::connection::JdbcConnection;
use crate::database::JdbcDatabase;
use crate::jars::sha256;
use crate::machine::BridgeMethod;
use crate::options::{GRAMMAR, JdbcOptions};
use crate::product::JdbcProduct;
use bourse_engine::target::{ParsedTarget, show_bytes};
use bourse_engine::{Description, Durability, MemoryStore, Result, RowExt as _, Setting, durability_at};
use std::path::Path;

/// Settings in force on a connection, if the product lists them.
pub(crate) fn settings_of(product: &JdbcProduct, connection: &mut JdbcConnection) -> Result<Vec<Setting>> {
    let mut settings = Vec::new();
    if let Some(sql) = product.settings {
        connection.query_text(sql, &mut |row| {
            settings.push(Setting::new(row.get::<String>(0)?, row.get::<Option<String>>(1)?.unwrap_or_default()));
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
            name => settings.push(Setting::new(name, value)),
        }
    }
    settings.push(Setting::new("java_library", machine.library.display().to_string()));
    for jar in database.jars() {
        let name = jar.file_name().unwrap_or_default().to_string_lossy();
        settings.push(Setting::new(format!("jar {name}"), jar.display().to_string()));
        settings.push(Setting::new(format!("jar_sha256 {name}"), sha256(jar)));
    }
    let scheme = GRAMMAR.schemes.iter().find(|scheme| scheme.name == product.scheme);
    let is_shown = |name: &str| {
        matches!(name, "lock_timeout" | "write_delay" | "nio") && scheme.is_some_and(|scheme| scheme.has(name))
    };
    settings.extend(GRAMMAR.settings(&target.options, is_shown).into_iter().filter(|it| !it.value.is_empty()));
    settings.extend(settings_of(product, &mut keeper)?);
    drop(keeper);
    let (class, may_lose, why) = (product.durability)(&target.options);
    let durability = durability_at(folder, (class, why.to_owned()));
    let may_lose = may_lose.filter(|_| durability.0 != Durability::Volatile);
    let mut description = Description::new(product.engine, version, &target.text, durability, settings);
    description.may_lose = may_lose;
    description.memory_store = folder.is_none().then_some(MemoryStore::Engine);
    description.warnings.splice(0..0, product.warning.map(str::to_owned));
    if let Some(wanted) = target.options.heap_bytes.filter(|&wanted| machine.heap_bytes != Some(wanted)) {
        let (wanted, started) =
            (show_bytes(wanted), machine.heap_bytes.map_or("its own default".to_owned(), show_bytes));
        description.warnings.push(format!(
            "heap={wanted} was requested, but this process's Java virtual machine was started before with {started}"
        ));
    }
    Ok(description)
}
