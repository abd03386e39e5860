//! A curve over time in characters, for terminals.

use crate::units;

/// Rows of a curve.
const CURVE_ROWS: usize = 4;
/// Eighths of a row's height, from none to all of it.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The values over time as bars, each column the largest of its share of the time: rows from the top, with the largest value
/// before the first, zero before the last, and the end of the time after it. Empty if all values are zero.
pub(crate) fn curve(points: &[(f64, f64)], columns: usize, text: fn(f64) -> String) -> Vec<String> {
    let largest = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let end = points.last().map_or(0.0, |(time, _)| *time);
    if largest <= 0.0 || end <= 0.0 || columns == 0 {
        return Vec::new();
    }
    let mut heights: Vec<Option<f64>> = vec![None; columns];
    let mut from = 0.0;
    for (time, value) in points {
        // A point covers the time since the previous one: with fewer points than columns it fills several.
        let column = |time: f64| ((time / end * columns as f64).ceil() as usize).clamp(1, columns) - 1;
        let first = if from > 0.0 { (column(from) + 1).min(column(*time)) } else { 0 };
        for height in &mut heights[first..=column(*time)] {
            *height = Some(height.map_or(*value, |height| height.max(*value)));
        }
        from = *time;
    }
    let label = text(largest);
    let wide = label.chars().count();
    (0..CURVE_ROWS)
        .map(|row| {
            let floor = (CURVE_ROWS - 1 - row) as f64;
            let bars: String = heights.iter().map(|height| bar(height.unwrap_or(0.0) / largest, floor)).collect();
            match row {
                0 => format!("{label} ┤{bars}"),
                last if last == CURVE_ROWS - 1 => format!("{:>wide$} ┤{bars} {}", "0", units::seconds(end)),
                _ => format!("{:>wide$} │{bars}", ""),
            }
        })
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Block character for the part of a bar of `height`, from 0 to 1, in the row that begins at `floor`, in rows.
fn bar(height: f64, floor: f64) -> char {
    let eighths = ((height * CURVE_ROWS as f64 - floor) * 8.0).round().clamp(0.0, 8.0) as usize;
    // Every value above zero is visible.
    if eighths == 0 && height > 0.0 && floor == 0.0 { EIGHTHS[1] } else { EIGHTHS[eighths] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saw_has_its_teeth() {
        let points: Vec<(f64, f64)> = (1..=40).map(|at| (f64::from(at) / 10.0, f64::from(at % 10) * 1024.0)).collect();
        let drawn = curve(&points, 40, units::bytes);
        assert_eq!(drawn.len(), CURVE_ROWS);
        assert!(drawn[0].starts_with("9.00 KiB ┤") && drawn[0].ends_with('█'), "{drawn:#?}");
        assert_eq!(drawn[0].matches('█').count(), 4, "{drawn:#?}");
        assert!(drawn[3].starts_with("       0 ┤▄▇███████ ▄▇") && drawn[3].ends_with(" 4 s"), "{drawn:#?}");
    }

    #[test]
    fn few_points_fill_the_width_and_nought_is_nothing() {
        assert_eq!(curve(&[(1.0, 1.0), (2.0, 2.0)], 6, units::number)[3], "    0 ┤██████ 2 s");
        assert_eq!(curve(&[(1.0, 1.0), (2.0, 2.0)], 6, units::number)[0], "2.000 ┤   ███");
        assert!(curve(&[(1.0, 0.0)], 6, units::number).is_empty());
        assert!(curve(&[], 6, units::number).is_empty());
    }
}
