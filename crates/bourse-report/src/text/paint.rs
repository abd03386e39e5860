//! Colours of a terminal. Never the only carrier of a meaning.

use crate::tables::Tone;
use unicode_width::UnicodeWidthStr as _;

/// Columns of a line, painted or not.
pub(super) fn columns(line: &str) -> usize {
    let unpainted = |part: &str| part.split_once('m').map_or(part, |(_, text)| text).width();
    let (first, painted) = line.split_once("\u{1b}[").unwrap_or((line, ""));
    first.width() + painted.split("\u{1b}[").map(unpainted).sum::<usize>()
}

/// Paints, or does not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) on: bool,
}

impl Paint {
    fn wrap(self, code: &str, text: &str) -> String {
        if self.on && !code.is_empty() && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => "",
            Tone::Good => "32",
            Tone::Doubtful => "33",
            Tone::Bad => "1;31",
            Tone::Faint => "2",
        };
        self.wrap(code, text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }
}
