//! Splits a statement's text into pieces: quoted text, comments, words, parameters.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

/// A piece of a text. All pieces together are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextPiece<'t> {
    /// Text in quotes or in `$tag$`, including these.
    Quoted(&'t str),
    /// `-- …` until the end of the line, without the line feed.
    LineComment(&'t str),
    /// `/* … */`.
    BlockComment(&'t str),
    /// Letters, digits and underscores.
    Word(&'t str),
    /// `:name`.
    Parameter(&'t str),
    /// White space, or anything else.
    Other(&'t str),
}

impl<'t> TextPiece<'t> {
    /// Text of the piece.
    pub(crate) fn text(self) -> &'t str {
        match self {
            Self::Quoted(text)
            | Self::LineComment(text)
            | Self::BlockComment(text)
            | Self::Word(text)
            | Self::Parameter(text)
            | Self::Other(text) => text,
        }
    }

    /// Whether an engine would act on it.
    pub(super) fn is_executed(self) -> bool {
        match self {
            Self::LineComment(_) | Self::BlockComment(_) => false,
            other => !other.text().trim().is_empty(),
        }
    }
}

/// Iterator over the pieces of a text; a piece without an end extends to the end of the text.
pub(crate) struct Pieces<'t> {
    rest: &'t str,
    /// Opening of a piece without an end.
    pub(super) open: Option<&'t str>,
}

impl<'t> Pieces<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { rest: text, open: None }
    }

    /// Number of bytes to the end of `end`, searched after `opening`.
    fn until(&mut self, opening: &'t str, end: &str) -> usize {
        let behind = self.rest.get(opening.len()..).unwrap_or_default();
        match behind.find(end) {
            Some(at) => opening.len().saturating_add(at).saturating_add(end.len()),
            None => {
                self.open.get_or_insert(opening);
                self.rest.len()
            }
        }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = TextPiece<'t>;

    fn next(&mut self) -> Option<TextPiece<'t>> {
        let rest = self.rest;
        let first = rest.chars().next()?;
        let opening = rest.get(..first.len_utf8()).unwrap_or_default();
        let words = |text: &str| text.find(|next: char| !is_of_word(next)).unwrap_or(text.len());
        let (length, piece): (usize, fn(&'t str) -> TextPiece<'t>) = match first {
            '\'' | '"' | '`' => (self.until(opening, opening), TextPiece::Quoted),
            '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), TextPiece::LineComment),
            '/' if rest.starts_with("/*") => {
                (self.until(rest.get(..2).unwrap_or_default(), "*/"), TextPiece::BlockComment)
            }
            '$' => match dollar_tag(rest) {
                Some(tag) => (self.until(tag, tag), TextPiece::Quoted),
                None => (1, TextPiece::Other),
            },
            ':' if rest.starts_with("::") => (2, TextPiece::Other),
            ':' => {
                let name = rest.get(1..).unwrap_or_default();
                match words(name) {
                    0 => (1, TextPiece::Other),
                    _ if name.starts_with(|first: char| first.is_ascii_digit()) => (1, TextPiece::Other),
                    length => (length.saturating_add(1), TextPiece::Parameter),
                }
            }
            first if is_of_word(first) => (words(rest), TextPiece::Word),
            first => (first.len_utf8(), TextPiece::Other),
        };
        let (taken, rest) = rest.split_at_checked(length).unwrap_or((rest, ""));
        self.rest = rest;
        Some(piece(taken))
    }
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Tag `$$` or `$tag$` at the beginning, which delimits texts in PostgreSQL.
fn dollar_tag(text: &str) -> Option<&str> {
    let (tag, _) = text.get(1..)?.split_once('$')?;
    let is_tag = tag.chars().all(is_of_word) && !tag.starts_with(|first: char| first.is_ascii_digit());
    is_tag.then(|| text.get(..tag.len().saturating_add(2)))?
}

/// Splits a text into statements at semicolons, each with the line it begins in, from 0.
///
/// Semicolons in texts, in comments, and between `BEGIN` and `END` of a trigger or another routine do not split.
pub(super) fn statements(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0_usize, 0_usize);
    let mut routine = RoutineState::default();
    let mut is_executed = false;
    let mut end_part = |from: usize, to: usize, is_executed: bool| {
        let part = text.get(from..to).unwrap_or_default();
        if is_executed {
            let begin = from.saturating_add(part.len().saturating_sub(part.trim_start().len()));
            parts.push((text.get(..begin).unwrap_or_default().matches('\n').count(), part.trim()));
        }
    };
    for piece in Pieces::of(text) {
        let behind = at.saturating_add(piece.text().len());
        if piece == TextPiece::Other(";") && !routine.is_open() {
            end_part(from, at, is_executed);
            (from, routine, is_executed) = (behind, RoutineState::default(), false);
        } else {
            routine.read(piece);
            is_executed |= piece.is_executed();
        }
        at = behind;
    }
    end_part(from, at, is_executed);
    parts
}

/// State of recognising a statement that creates a trigger or another routine.
#[derive(Debug, Default)]
struct RoutineState {
    /// Number of words read.
    words: usize,
    /// Whether the first word is CREATE.
    creates: bool,
    is_routine: bool,
    /// Open `BEGIN`s and `CASE`s.
    depth: usize,
    /// Whether the last word is END.
    after_end: bool,
}

impl RoutineState {
    fn read(&mut self, piece: TextPiece<'_>) {
        self.after_end &= piece != TextPiece::Other(";");
        let TextPiece::Word(word) = piece else { return };
        let is = |one: &str| word.eq_ignore_ascii_case(one);
        self.creates |= self.words == 0 && is("CREATE");
        self.words = self.words.saturating_add(1);
        self.is_routine |= self.creates && ["TRIGGER", "PROCEDURE", "FUNCTION", "EVENT"].into_iter().any(is);
        if !self.is_routine {
            return;
        }
        // END IF, END LOOP and the like close nothing that was counted; END CASE is one END.
        let ends_other = self.after_end && ["IF", "LOOP", "WHILE", "REPEAT", "FOR"].into_iter().any(is);
        if ends_other || is("BEGIN") || (is("CASE") && !self.after_end) {
            self.depth = self.depth.saturating_add(1);
        } else if is("END") {
            self.depth = self.depth.saturating_sub(1);
        }
        self.after_end = is("END");
    }

    fn is_open(&self) -> bool {
        self.depth > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text_whole() {
        let check = |text: &str, expected: &[TextPiece<'_>], open: Option<&str>| {
            let mut pieces = Pieces::of(text);
            let found: Vec<_> = pieces.by_ref().collect();
            assert_eq!(found.iter().map(|piece| piece.text()).collect::<String>(), text);
            assert_eq!(found, expected);
            assert_eq!(pieces.open, open);
        };
        check("a_1:b", &[TextPiece::Word("a_1"), TextPiece::Parameter(":b")], None);
        check(
            "1::t:2",
            &[
                TextPiece::Word("1"),
                TextPiece::Other("::"),
                TextPiece::Word("t"),
                TextPiece::Other(":"),
                TextPiece::Word("2"),
            ],
            None,
        );
        check("'it''s'", &[TextPiece::Quoted("'it'"), TextPiece::Quoted("'s'")], None);
        check("--é\n'a", &[TextPiece::LineComment("--é"), TextPiece::Other("\n"), TextPiece::Quoted("'a")], Some("'"));
        check("/* ; */é", &[TextPiece::BlockComment("/* ; */"), TextPiece::Other("é")], None);
        check("/*/", &[TextPiece::BlockComment("/*/")], Some("/*"));
        check(
            "$$;$$ $1",
            &[TextPiece::Quoted("$$;$$"), TextPiece::Other(" "), TextPiece::Other("$"), TextPiece::Word("1")],
            None,
        );
        check("$a$;$$;$a$", &[TextPiece::Quoted("$a$;$$;$a$")], None);
    }

    #[test]
    fn statements_end_with_their_own_semicolons() {
        let check = |text: &str, expected: &[(usize, &str)]| assert_eq!(statements(text), expected, "{text}");
        check("SELECT ';';\n;; -- ;\n\nSELECT 2", &[(0, "SELECT ';'"), (1, "-- ;\n\nSELECT 2")]);
        check("/* one; two */ SELECT 1; /* ; */", &[(0, "/* one; two */ SELECT 1")]);
        check("\"a;b\" `c;d`;\r\nx;", &[(0, "\"a;b\" `c;d`"), (1, "x")]);
        let trigger = "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN\n UPDATE a SET b = CASE WHEN c THEN 1 ELSE 2 END;\n \
                       DELETE FROM a; END";
        check(&format!("{trigger};\nSELECT 1;"), &[(0, trigger), (3, "SELECT 1")]);
        let procedure = "CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF; CASE a WHEN 1 THEN BEGIN END; END CASE; \
                         WHILE a DO SET a = 0; END WHILE; BEGIN END; IF b THEN SELECT 1; END IF; END";
        check(&format!("{procedure}; SELECT 2"), &[(0, procedure), (0, "SELECT 2")]);
        let function = "CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN x; END; $$ LANGUAGE plpgsql";
        check(&format!("{function}; SELECT 3"), &[(0, function), (0, "SELECT 3")]);
        check(
            "CREATE TRIGGER t AFTER INSERT ON a EXECUTE FUNCTION f(); b",
            &[(0, "CREATE TRIGGER t AFTER INSERT ON a EXECUTE FUNCTION f()"), (0, "b")],
        );
        check("BEGIN; SELECT 1; END;", &[(0, "BEGIN"), (0, "SELECT 1"), (0, "END")]);
    }
}
