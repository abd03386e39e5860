//! Tables as Parquet files: columns declared, rows in, a file out.
//!
//! ```
//! use bourse_egen::files::parquet::{ParquetColumn, ParquetKind, TableWriter};
//! use bourse_schema::Value;
//!
//! let columns = vec![ParquetColumn::new("name", ParquetKind::Text), ParquetColumn::new("latency_p99_ns", ParquetKind::Int64).nullable()];
//! let mut table = TableWriter::new("cases", columns, Vec::new())?;
//! table.push(&[Value::Text("first"), Value::Int(1_500)])?;
//! table.push(&[Value::Text("second"), Value::Null])?;
//! let file: Vec<u8> = table.finish()?;
//! assert_eq!(file[..4], *b"PAR1");
//! # Ok::<(), std::io::Error>(())
//! ```

mod column;
mod generated;
mod schema;
mod writer;

pub use generated::write_parquet;
pub use schema::{ParquetColumn, ParquetKind};
pub use writer::TableWriter;
