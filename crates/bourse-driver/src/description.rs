use bourse_engine::Description;
use bourse_record::{Durability, Engine, MayLose, NameValue};

/// The durability class as documents have it.
pub const fn durability(class: bourse_engine::Durability) -> Durability {
    match class {
        bourse_engine::Durability::Volatile => Durability::Volatile,
        bourse_engine::Durability::Process => Durability::Process,
        bourse_engine::Durability::Consistent => Durability::Consistent,
        bourse_engine::Durability::Durable => Durability::Durable,
    }
}

const fn may_lose(what: bourse_engine::MayLose) -> MayLose {
    match what {
        bourse_engine::MayLose::LastCommit => MayLose::LastCommit,
        bourse_engine::MayLose::LastSecond => MayLose::LastSecond,
        bourse_engine::MayLose::SinceCheckpoint => MayLose::SinceCheckpoint,
        bourse_engine::MayLose::NotWrittenBack => MayLose::NotWrittenBack,
    }
}

/// What an engine says of itself, as documents have it, without its warnings.
pub fn described(description: Description) -> Engine {
    let settings = description.settings.into_iter();
    Engine {
        name: description.engine,
        version: description.version,
        target: description.target,
        durability: durability(description.durability),
        may_lose: description.may_lose.map(may_lose),
        durability_reason: description.durability_reason,
        settings: settings.map(|it| NameValue { name: it.name, value: it.value }).collect(),
        compile_options: description.compile_options,
    }
}
