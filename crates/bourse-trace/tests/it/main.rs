//! Traces written and read, cut and damaged; masks.

mod masks;

use bourse_trace::digest::{self, RowValue, RowsDigest};
use bourse_trace::{
    Event, EventKind, Execution, Note, Opened, Record, StatementText, TraceBase, TraceError, TraceHead, TraceReader,
    TraceSummary, TraceValue, TraceWriter,
};
use proptest::collection::vec;
use proptest::prelude::*;

const HEAD: TraceHead = TraceHead {
    process: 7,
    parent: 3,
    by_extension: false,
    lacks_codes: false,
    is_masked: false,
    unix_ns: 1 << 60,
    monotonic_ns: 12,
};

pub(crate) fn values() -> impl Strategy<Value = TraceValue> {
    prop_oneof![
        Just(TraceValue::Null),
        any::<i64>().prop_map(TraceValue::Int),
        (-1000_i64..1000).prop_map(TraceValue::Int),
        any::<f64>().prop_filter("not a number", |it| !it.is_nan()).prop_map(TraceValue::Real),
        "[a-cA-C0-3é漢 -]{0,6}".prop_map(|text| TraceValue::Text(text.into_bytes())),
        vec(any::<u8>(), 0..20).prop_map(TraceValue::Blob),
        any::<u64>().prop_map(TraceValue::Zeros),
        Just(TraceValue::Unknown),
        "[a-c]{0,3}".prop_map(TraceValue::Pointer),
    ]
}

fn kinds() -> impl Strategy<Value = EventKind> {
    let opened = (any::<u64>(), 0_usize..7, ".{0,9}").prop_map(|(flags, base, name)| {
        use TraceBase::{Anew, Copied, Inherited, Memory, Missing, New, Replaced};
        let base = [Memory, Copied, New, Missing, Inherited, Anew, Replaced][base];
        let (path, vfs, library, copy) = (format!("/{name}"), String::new(), "3.40.1".into(), "x-1".into());
        EventKind::Opened(Opened { flags, base, name, path, vfs, library, copy })
    });
    let executed = (any::<[bool; 4]>(), any::<[u64; 5]>(), vec(values(), 0..5), 0_u64..4).prop_map(
        |(flags, numbers, values, rows)| {
            let mut digest = RowsDigest::default();
            (0..rows).for_each(|row| digest.add(numbers[0].wrapping_add(row)));
            let [autocommit_before, autocommit_after, is_first, is_complete] = flags;
            EventKind::Executed(Execution {
                text: 0,
                autocommit_before,
                autocommit_after,
                is_first,
                is_complete,
                duration_ns: numbers[1],
                code: numbers[2],
                rows: digest,
                changes: numbers[3],
                values,
            })
        },
    );
    let noted = (any::<i64>(), ".{0,9}").prop_map(|(number, name)| {
        let note = if number & 1 == 0 { Note::Function } else { Note::Trouble };
        EventKind::Noted { note, number, name }
    });
    let refused =
        any::<u64>().prop_map(|code| EventKind::Refused { text: 0, code, message: "no such table: t".into() });
    prop_oneof![opened, executed, noted, refused, Just(EventKind::Closed), Just(EventKind::Ended)]
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let event = (0..u64::MAX / 4, any::<u64>(), any::<u64>(), kinds());
    let event = event.prop_map(|(at_ns, connection, thread, kind)| Event { at_ns, connection, thread, kind });
    let text = || (".{0,40}", any::<bool>()).prop_map(|(sql, is_read_only)| StatementText { sql, is_read_only });
    let record = prop_oneof![event.prop_map(Record::Event), text().prop_map(Record::Text)];
    (text(), vec(record, 0..12)).prop_map(|(first, rest)| [Record::Text(first)].into_iter().chain(rest).collect())
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &HEAD).expect("a vector takes all");
    records.iter().for_each(|it| writer.write(it).expect("a vector takes all"));
    writer.into_inner()
}

/// Records before the end or the first error, and the error.
fn read(bytes: &[u8]) -> (Vec<Record>, Option<TraceError>) {
    let mut found = Vec::new();
    match TraceReader::new(bytes) {
        Err(error) => return (found, Some(error)),
        Ok(reader) => {
            for record in reader {
                match record {
                    Ok(record) => found.push(record),
                    Err(error) => return (found, Some(error)),
                }
            }
        }
    }
    (found, None)
}

proptest! {
    #[test]
    fn a_trace_read_is_the_one_written(records in records(), zeros in 0_usize..40) {
        let mut bytes = written(&records);
        let length = bytes.len() as u64;
        // As a file is whose writer was killed.
        bytes.resize(bytes.len() + zeros, 0);
        let (found, error) = read(&bytes);
        prop_assert!(error.is_none());
        prop_assert_eq!(&found, &records);
        let mut reader = TraceReader::new(&bytes[..]).unwrap();
        prop_assert_eq!(reader.head(), HEAD);
        prop_assert_eq!(reader.by_ref().count(), records.len());
        prop_assert_eq!(reader.position(), length);
        let mut summary = TraceSummary::default();
        records.into_iter().for_each(|record| summary.add(record));
        prop_assert!(!summary.statements.is_empty());
    }

    #[test]
    fn a_trace_cut_anywhere_gives_all_records_before_the_cut(records in records()) {
        let bytes = written(&records);
        let ends: Vec<_> = (0..=records.len()).map(|count| written(&records[..count]).len()).collect();
        for length in 0..bytes.len() {
            let (found, error) = read(&bytes[..length]);
            let whole = ends.iter().filter(|end| **end <= length).count().saturating_sub(1);
            prop_assert_eq!(&found[..], &records[..whole]);
            prop_assert_eq!(error.is_none(), ends.contains(&length), "{}: {:?}", length, error);
        }
    }

    #[test]
    fn a_damaged_trace_gives_a_beginning_of_its_records(records in records(), flip in any::<prop::sample::Index>()) {
        let mut bytes = written(&records);
        let at = flip.index(bytes.len() * 8);
        bytes[at / 8] ^= 1 << (at % 8);
        let (found, error) = read(&bytes);
        prop_assert!(found.len() <= records.len());
        prop_assert_eq!(&found[..], &records[..found.len()]);
        prop_assert!(error.is_some() || found.len() < records.len());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        read(&bytes);
        let mut behind_a_head = written(&[]);
        behind_a_head.extend(bytes);
        read(&behind_a_head);
    }
}

#[test]
fn a_head_says_who_recorded_and_what_is_unknown() {
    for (mode, [by_extension, lacks_codes, is_masked]) in [
        (0, [false, false, false]),
        (1, [true, true, false]),
        (2, [false, false, true]),
        (5, [true, false, false]),
        (7, [true, false, true]),
    ] {
        let head = TraceHead { by_extension, lacks_codes, is_masked, ..HEAD };
        let bytes = TraceWriter::new(Vec::new(), &head).unwrap().into_inner();
        assert_eq!(bytes[20..24], [mode, 0, 0, 0]);
        assert_eq!(TraceReader::new(&bytes[..]).unwrap().head(), head);
    }
}

#[test]
fn a_newer_trace_is_refused_by_its_version() {
    let mut bytes = written(&[]);
    bytes[8] = 2;
    assert!(matches!(read(&bytes), (_, Some(TraceError::DamagedHead))));
    let check = digest::bytes(0, &bytes[..40]) as u32;
    bytes[40..].copy_from_slice(&check.to_le_bytes());
    let (_, error) = read(&bytes);
    assert_eq!(
        error.unwrap().to_string(),
        "the trace has format 2, and this program reads formats up to 1: a newer bourse reads it"
    );
    let (_, error) = read(b"SQLite format 3\0");
    assert_eq!(error.unwrap().to_string(), "this is no trace of a program: a trace begins with BOURSETR");
    let (_, error) = read(&written(&[])[..20]);
    assert_eq!(error.unwrap().to_string(), "the trace is cut off within its head of 44 bytes");
}

#[test]
fn a_long_length_allocates_no_more_than_there_is() {
    let mut bytes = written(&[]);
    bytes.extend([0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, 2, 3]);
    assert!(matches!(read(&bytes), (found, Some(TraceError::Cut { at: 44 })) if found.is_empty()));
}

/// The numbers are those of the format: a change is a new version.
#[test]
fn digests_are_those_of_the_format() {
    let row = [RowValue::Int(1), RowValue::Text(b"Zurich, Bahnhofstrasse"), RowValue::Null];
    assert_eq!(digest::mix(1, 2), 0x8E3FB77EC3DEBA75);
    assert_eq!(digest::row(3, row), 0xD060469F05BF8553);
    let (mut one, mut other) = (RowsDigest::default(), RowsDigest::default());
    [1, 2].iter().for_each(|it| one.add(*it));
    [2, 1].iter().for_each(|it| other.add(*it));
    assert_ne!(one.ordered, other.ordered);
    assert_eq!(one.unordered, other.unordered);
}
