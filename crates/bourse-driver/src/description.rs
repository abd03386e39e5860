use bourse_engine::Description;
use bourse_record::{Durability, Engine, MayLose, MemoryStore, NameValue, WriterWait};

/// Converts a durability class to its form in documents.
pub const fn durability(class: bourse_engine::Durability) -> Durability {
    match class {
        bourse_engine::Durability::Unknown => Durability::Unknown,
        bourse_engine::Durability::Volatile => Durability::Volatile,
        bourse_engine::Durability::Process => Durability::Process,
        bourse_engine::Durability::Consistent => Durability::Consistent,
        bourse_engine::Durability::Durable => Durability::Durable,
    }
}

/// Converts the way in which writers wait to its form in documents.
const fn writer_wait(wait: bourse_engine::WriterWait) -> WriterWait {
    match wait {
        bourse_engine::WriterWait::BourseQueue => WriterWait::BourseQueue,
        bourse_engine::WriterWait::BourseBusyHandler => WriterWait::BourseBusyHandler,
        bourse_engine::WriterWait::EngineBusyTimeout => WriterWait::EngineBusyTimeout,
        bourse_engine::WriterWait::OneConnection => WriterWait::OneConnection,
        bourse_engine::WriterWait::EngineLocks => WriterWait::EngineLocks,
    }
}

/// Converts the storage of a database in memory to its form in documents.
const fn memory_store(store: bourse_engine::MemoryStore) -> MemoryStore {
    match store {
        bourse_engine::MemoryStore::Bourse => MemoryStore::Bourse,
        bourse_engine::MemoryStore::Engine => MemoryStore::Engine,
    }
}

const fn may_lose(what: bourse_engine::MayLose) -> MayLose {
    match what {
        bourse_engine::MayLose::LastCommit => MayLose::LastCommit,
        bourse_engine::MayLose::LastSecond => MayLose::LastSecond,
        bourse_engine::MayLose::LastSecondInMemory => MayLose::LastSecondInMemory,
        bourse_engine::MayLose::SinceCheckpoint => MayLose::SinceCheckpoint,
        bourse_engine::MayLose::NotWrittenBack => MayLose::NotWrittenBack,
    }
}

/// Converts an engine's description to its form in documents, without its warnings.
pub fn described(description: Description) -> Engine {
    let settings = description.settings.into_iter();
    Engine {
        name: description.engine,
        version: description.version,
        target: description.target,
        durability: durability(description.durability),
        may_lose: description.may_lose.map(may_lose),
        durability_reason: description.durability_reason,
        writer_wait: description.writer_wait.map(writer_wait),
        memory_store: description.memory_store.map(memory_store),
        settings: settings.map(|it| NameValue { name: it.name, value: it.value }).collect(),
        compile_options: description.compile_options,
    }
}
