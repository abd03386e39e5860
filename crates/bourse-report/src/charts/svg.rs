//! SVG elements as text.

use super::axis::AxisScale;
use crate::units;
use std::borrow::Cow;
use std::fmt::Write;

/// Alignment of a text to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Class number of the curve at that index, of the colours and dashes that curves take in turn.
pub(super) const fn style(at: usize) -> usize {
    at % 12 + 1
}

/// Width of a character of a row's name, in CSS pixels: that of the widest of the page's fonts, in bold.
const NAME_CHARACTER: f64 = 7.6;

/// Width of the longest of these names of rows, in CSS pixels.
pub(super) fn width_of_names<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    NAME_CHARACTER * names.map(|name| name.chars().count()).max().unwrap_or(0) as f64
}

/// A row's name, cut where it is wider than `room`, in CSS pixels.
pub(super) fn fitted(name: &str, room: f64) -> Cow<'_, str> {
    let most = (room / NAME_CHARACTER) as usize;
    if name.chars().count() <= most {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().take(most.saturating_sub(1)).chain(['…']).collect())
}

/// A drawing.
pub(super) struct Svg {
    body: String,
}

/// Text with what XML would act upon escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in units::printable(text).chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML has no such character, escaped or not.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

impl Svg {
    pub(super) const fn new() -> Self {
        Self { body: String::new() }
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        self.body.write_fmt(element).expect("a string takes all that is written to it");
        self.body.push('\n');
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#));
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        self.add(format_args!(
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
        ));
    }

    /// A rectangle that says something when pointed at.
    pub(super) fn tip(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), words: &str) {
        let words = words.lines().map(escaped).collect::<Vec<_>>().join("\n");
        self.add(format_args!(
            r#"<rect class="tip" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"><title>{words}</title></rect>"#
        ));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        self.add(format_args!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#));
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.add(format_args!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#));
    }

    pub(super) fn path(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            self.add(format_args!(r#"<path class="{class}" d="{data}"/>"#));
        }
    }

    /// A horizontal axis of that length from `left` on, with its ticks below.
    pub(super) fn axis(&mut self, scale: &AxisScale, (left, y): (f64, f64), length: f64) {
        self.line("axis", (left, y), (left + length, y));
        // Names between the ends that would meet the last one are left out.
        let wide = |label: &str| NAME_CHARACTER * label.chars().count() as f64;
        let room = scale.ticks.last().map_or(length, |(_, label)| length - wide(label));
        for (value, label) in &scale.ticks {
            let anchor = match scale.place(*value) {
                start if start < 0.02 => Anchor::Start,
                end if end > 0.98 => Anchor::End,
                place if length * place + wide(label) / 2.0 > room => continue,
                _ => Anchor::Middle,
            };
            self.text("tick", (left + length * scale.place(*value), y + 16.0), anchor, label);
        }
    }

    /// The whole drawing, with its name and description for those who do not see it.
    pub(super) fn finish(self, id: &str, (width, height): (f64, f64), title: &str, about: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n{}</svg>",
            escaped(title),
            escaped(about),
            self.body
        )
    }
}
