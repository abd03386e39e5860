//! Isolation that transactions demand, and the one that an engine provides.

use bourse_engine::{Capabilities, Isolation};
use bourse_record::{IsolationLevel, OperationIsolation};

/// Isolation level that an operation demands, and the provided one: the lowest that the engine offers and that is enough.
pub fn of(operation: &str, demanded: Isolation, capabilities: &Capabilities) -> OperationIsolation {
    const LEVELS: [(Isolation, IsolationLevel); 3] = [
        (Isolation::ReadCommitted, IsolationLevel::ReadCommitted),
        (Isolation::RepeatableRead, IsolationLevel::RepeatableRead),
        (Isolation::Serializable, IsolationLevel::Serializable),
    ];
    let demanded = LEVELS.iter().find(|(level, _)| *level == demanded).map(|(_, level)| *level);
    let demanded = demanded.expect("every level of the engines is listed");
    let isolation = capabilities.sql.map_or(&[][..], |sql| sql.isolation);
    let offered = || LEVELS.iter().filter(|(level, _)| isolation.contains(level)).map(|(_, level)| *level);
    // One writer at a time is serializable at any level.
    let alone = (!capabilities.concurrent_writers).then(|| offered().max()).flatten();
    let enough = offered().filter(|level| *level >= demanded).min();
    // An engine that offers less gives the most that it has; one that offers nothing promises nothing.
    let provided = alone.or(enough).or(offered().max()).unwrap_or(IsolationLevel::ReadUncommitted);
    OperationIsolation { operation: operation.to_owned(), demanded, provided }
}
