//! Split of the users' time: a bar for each kind of user.

use super::svg::{Anchor, Svg};
use super::{Chart, ChartSize, ChartSubject};
use crate::units;
use crate::view::{TimePart, roles};

const ROW: f64 = 42.0;
const LINE: f64 = 18.0;

/// CSS class of a part; pale for time in which there was nothing to do.
const fn class(at: usize) -> &'static str {
    const CLASSES: [&str; 11] =
        ["f1", "f6", "f2", "f3", "f4", "f5", "f1 pale", "f2 pale", "f3 pale", "f4 pale", "f6 pale"];
    CLASSES[at]
}

/// The drawing; `None` if the times are unknown.
pub(super) fn time_split(subject: &ChartSubject<'_>, chart: &Chart, size: ChartSize) -> Option<String> {
    let roles = roles(subject.view);
    if roles.is_empty() {
        return None;
    }
    let (left, width) = (8.0, size.width());
    let plot = width - 2.0 * left;
    let mut svg = Svg::new();
    let mut about = String::from(chart.about);
    for (nth, role) in roles.iter().enumerate() {
        let top = ROW * nth as f64;
        let name = format!("{} ({})", role.role, role.threads);
        svg.text("row-name", (left, top + 13.0), Anchor::Start, &name);
        let mut x = left;
        about.push_str(&format!(" {name}:"));
        for (at, part) in TimePart::all().into_iter().enumerate() {
            let share = role.share(part);
            if share <= 0.0 {
                continue;
            }
            let words = format!("{} {}", part.name(), units::percent(100.0 * share));
            svg.rect(class(at), (x, top + 18.0), (plot * share, 16.0));
            svg.tip((x, top + 18.0), (plot * share, 16.0), &format!("{name}: {words}"));
            about.push_str(&format!(" {words}."));
            x += plot * share;
        }
    }
    let used = |part: TimePart| roles.iter().any(|role| role.share(part) >= 0.0005);
    let columns = if size == ChartSize::Wide { 4 } else { 2 };
    let shown: Vec<_> = TimePart::all().into_iter().enumerate().filter(|(_, part)| used(*part)).collect();
    let legend = ROW * roles.len() as f64 + 8.0;
    for (nth, (at, part)) in shown.iter().enumerate() {
        let (x, y) = (left + plot / columns as f64 * (nth % columns) as f64, legend + LINE * (nth / columns) as f64);
        svg.rect(class(*at), (x, y), (12.0, 12.0));
        svg.text("label", (x + 18.0, y + 10.5), Anchor::Start, part.name());
    }
    let height = legend + LINE * shown.len().div_ceil(columns) as f64 + 6.0;
    let id = format!("{}-{}-{}", subject.id, chart.key, size.class());
    Some(svg.finish(&id, (width, height), chart.title, &about))
}
