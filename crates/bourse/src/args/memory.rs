//! Arguments of the memory that rounds begin with and may use.

use super::numbers;
use bourse_record::PageCache;
use clap::Args;
use serde::{Deserialize, Serialize};

/// Page cache and memory of a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct MemoryArgs {
    /// Begin each round with the database's files out of the page cache (cold: there is no warm-up then) or in it (warm), and
    /// the engine's own caches empty [default: as loading and earlier rounds leave them]
    #[arg(long, value_name = "cold|warm", value_parser = numbers::page_cache, env = "BOURSE_CACHE")]
    pub(crate) cache: Option<PageCache>,
    /// Run each round in a group of processes whose memory has this limit, such as 512M, page cache included
    #[arg(long = "memory", id = "memory", value_name = "SIZE", value_parser = numbers::memory, env = "BOURSE_MEMORY")]
    pub(crate) limit: Option<u64>,
}
