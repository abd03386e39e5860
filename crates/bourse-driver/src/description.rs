use bourse_engine::Description;
use bourse_record::Engine;

/// Converts an engine's description to its form in documents, without its warnings.
pub fn described(description: Description) -> Engine {
    Engine {
        name: description.engine,
        version: description.version,
        target: description.target,
        durability: description.durability,
        may_lose: description.may_lose,
        durability_reason: description.durability_reason,
        writer_wait: description.writer_wait,
        memory_store: description.memory_store,
        settings: description.settings,
        compile_options: description.compile_options,
    }
}
