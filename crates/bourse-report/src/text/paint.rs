//! Colours of a terminal. Never the only carrier of a meaning.

use crate::tables::Tone;

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
