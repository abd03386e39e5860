//! Firebird's errors as errors of the seam, by the numbers in their status vectors.

use bourse_engine::{EngineError, ErrorKind};

/// Errors that a program acts on, and some with a name for people: numbers and names as in `iberror.h`.
const ERRORS: &[(isize, &str, ErrorKind)] = &[
    (335_544_451, "update_conflict", ErrorKind::Conflict),
    (335_544_510, "lock_timeout", ErrorKind::Conflict),
    (335_544_345, "lock_conflict", ErrorKind::Conflict),
    (335_544_336, "deadlock", ErrorKind::Conflict),
    (335_544_475, "relation_lock", ErrorKind::Conflict),
    (335_544_476, "record_lock", ErrorKind::Conflict),
    (335_545_107, "already_opened", ErrorKind::Conflict),
    (335_544_665, "unique_key_violation", ErrorKind::Duplicate),
    (335_544_349, "no_dup", ErrorKind::Duplicate),
    (335_544_466, "foreign_key", ErrorKind::Constraint),
    (335_544_838, "foreign_key_target_doesnt_exist", ErrorKind::Constraint),
    (335_544_839, "foreign_key_references_present", ErrorKind::Constraint),
    (335_544_558, "check_constraint", ErrorKind::Constraint),
    (335_544_347, "not_valid", ErrorKind::Constraint),
    (335_544_879, "not_valid_for_var", ErrorKind::Constraint),
    (335_544_856, "att_shutdown", ErrorKind::ConnectionLost),
    (335_544_528, "shutdown", ErrorKind::ConnectionLost),
    (335_544_333, "bug_check", ErrorKind::ConnectionLost),
    (335_544_335, "db_corrupt", ErrorKind::ConnectionLost),
    (335_544_741, "lost_db_connection", ErrorKind::ConnectionLost),
    (335_544_794, "cancelled", ErrorKind::Interrupted),
    (335_544_985, "out_of_temp_space", ErrorKind::Full),
    (335_544_430, "virmemexh", ErrorKind::Full),
    (335_544_378, "wish_list", ErrorKind::Unsupported),
    (335_544_379, "wrong_ods", ErrorKind::Unsupported),
    (335_544_344, "io_error", ErrorKind::Other),
    (335_544_453, "obj_in_use", ErrorKind::Other),
    (335_544_361, "read_only_trans", ErrorKind::Other),
    (335_544_321, "arith_except", ErrorKind::Other),
    (335_544_634, "dsql_token_unk_err", ErrorKind::Other),
    (335_544_580, "dsql_relation_err", ErrorKind::Other),
];

/// Number of errors that have no other than their words, and what they say of a row that another transaction has deleted since
/// the statement found it, at read committed.
const NO_NUMBER: isize = 335_544_382;
const ERASED: &str = "cannot update erased record";

/// Error numbers of Linux for a full disk: `ENOSPC`, `EDQUOT` and `EFBIG`.
const NO_ROOM: [isize; 3] = [28, 122, 27];

/// Error for these numbers, of which the first is the most general one, and for those of the system.
#[cold]
pub(crate) fn error(numbers: &[isize], system: &[isize], words: &str) -> EngineError {
    let known = ERRORS.iter().find(|(number, _, _)| numbers.contains(number));
    let kind = match known {
        Some((_, _, ErrorKind::Other)) | None if system.iter().any(|number| NO_ROOM.contains(number)) => {
            ErrorKind::Full
        }
        Some((_, _, kind)) => *kind,
        None if numbers.contains(&NO_NUMBER) && words.contains(ERASED) => ErrorKind::Conflict,
        None => ErrorKind::Other,
    };
    let error = EngineError::new(kind, one_line(words));
    match (known, numbers.first()) {
        (Some((_, name, _)), _) => error.with_code(*name),
        (None, Some(number)) => error.with_code(number.to_string()),
        (None, None) => error,
    }
}

/// Firebird's text in one line: its lines begin with a hyphen, except for the first.
fn one_line(words: &str) -> String {
    let lines = words.lines().map(|line| line.trim_start_matches('-').trim()).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_kind_a_program_acts_on() {
        let conflict = [335_544_336, 335_544_451, 335_544_878];
        for (numbers, system, kind, code) in [
            (&conflict[..], &[][..], ErrorKind::Conflict, "update_conflict"),
            (&[335_544_345, 335_544_510], &[], ErrorKind::Conflict, "lock_timeout"),
            (&[335_544_665, 335_545_072], &[], ErrorKind::Duplicate, "unique_key_violation"),
            (&[335_544_344, 335_544_737], &[28], ErrorKind::Full, "io_error"),
            (&[335_544_344], &[5], ErrorKind::Other, "io_error"),
            (&[335_544_569, 335_544_436], &[], ErrorKind::Other, "335544569"),
        ] {
            let told = error(numbers, system, "words");
            assert_eq!((told.kind(), told.code()), (kind, Some(code)), "{numbers:?}");
        }
        let erased = error(&[NO_NUMBER], &[], ERASED);
        assert_eq!(erased.kind(), ErrorKind::Conflict);
        let told = error(&conflict, &[], "deadlock\n-update conflicts with concurrent update\n-transaction is 14\n");
        assert_eq!(told.message(), "deadlock; update conflicts with concurrent update; transaction is 14");
    }
}
