//! "Did you mean": the known name that is nearest to one that was typed.

/// The known name that is nearest to `typed`, if one is near: few letters differ, or one is the other's beginning or end.
///
/// ```
/// use bourse_engine::nearest;
/// assert_eq!(nearest("sqlte", ["sqlite", "redb"]), Some("sqlite"));
/// assert_eq!(nearest("duckdb", ["sqlite", "redb"]), None);
/// ```
pub fn nearest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |text: &str| text.replace(['_', '-', ' '], "").to_lowercase();
    let wanted = plain(typed);
    let letters = wanted.chars().count();
    if letters < 2 {
        return None;
    }
    let distance = |name: &str| {
        let name = plain(name);
        let is_part = letters >= 3 && name.len() >= 3 && (name.contains(&wanted) || wanted.contains(&name));
        let edits = strsim::damerau_levenshtein(&wanted, &name);
        // Of two that are as near, the one that shares its letters rather than a part of its length.
        if edits <= (letters.saturating_add(2) / 3).max(1) { Some(edits) } else { is_part.then_some(usize::MAX) }
    };
    let near = known.into_iter().filter_map(|name| Some((distance(name)?, name)));
    near.min_by_key(|&(distance, _)| distance).map(|(_, name)| name)
}

/// `; did you mean 'journal'?`, to be appended to a message that names the unknown word; empty if no known name is
/// near.
pub fn did_you_mean<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(typed, known).map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_no_far_one() {
        let options = ["journal", "sync", "page_size", "cache", "autocheckpoint", "innodb_buffer_pool", "shared_cache"];
        for (typed, expected) in [
            ("jurnal", Some("journal")),
            ("journal-mode", Some("journal")),
            ("pagesize", Some("page_size")),
            ("snyc", Some("sync")),
            ("cash", Some("cache")),
            ("buffer_pool", Some("innodb_buffer_pool")),
            ("colour", None),
            ("c", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, options), expected, "{typed}");
        }
        assert_eq!(did_you_mean("jurnal", options), "; did you mean 'journal'?");
        assert_eq!(did_you_mean("colour", options), "");
    }
}
