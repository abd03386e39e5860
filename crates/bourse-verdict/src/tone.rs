/// Emphasis of a text; never the only carrier of a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Without emphasis.
    #[default]
    Plain,
    /// A demand that is met.
    Good,
    /// Undecided.
    Doubtful,
    /// A demand that is not met.
    Bad,
    /// Less important than the rest.
    Faint,
}

impl Tone {
    /// The class of a text in HTML.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Bad => "bad",
            Self::Faint => "faint",
        }
    }

    /// The tone of a condition that is met or not.
    pub const fn of(holds: bool) -> Self {
        if holds { Self::Good } else { Self::Bad }
    }
}
