//! The full-screen view: the state of the run, laid out for the size of the terminal.

use bourse_report::{LIVE_HEADS, LiveRun};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row, Sparkline, Table, Wrap};

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Widths of the columns of numbers, at their widest.
const WIDTHS: [u16; LIVE_HEADS.len() - 1] = [11, 9, 7, 7, 7, 7, 6];

/// Draws the state of a run; `keys` is the line about keys.
pub(super) fn draw(frame: &mut Frame<'_>, run: &LiveRun, keys: &str) {
    let text = run.text();
    let area = frame.area();
    let used = resources(&text.resources);
    let used_lines = used.len().div_ceil(usize::from(area.width).max(1)).min(4) as u16;
    let operations = text.operations.len() as u16 + 1;
    let [head, curve, table, below, foot] = Layout::vertical([
        Constraint::Length(3),
        Constraint::Max(14),
        Constraint::Length(operations + 1),
        Constraint::Length(used_lines),
        Constraint::Length(1),
    ])
    .areas(area);

    let [title, phase] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(head);
    sides(frame, title, Span::styled(text.title, BOLD), Span::raw(text.round));
    sides(frame, phase, Span::raw(text.phase), Span::raw(text.time));
    draw_curve(frame, curve, run, &text.throughput);
    let rows = text.operations.iter().map(|cells| {
        let has_failed = cells.last().is_some_and(|failed| failed != "0");
        Row::new(cells.iter().enumerate().map(|(at, cell)| aligned(at, cell))).style(if has_failed {
            BOLD
        } else {
            Style::new()
        })
    });
    let widths = std::iter::once(Constraint::Min(8)).chain(WIDTHS.map(Constraint::Length));
    let heads = Row::new(LIVE_HEADS.iter().enumerate().map(|(at, head)| aligned(at, head))).style(DIM);
    frame.render_widget(Table::new(rows, widths).header(heads), table);
    frame.render_widget(Paragraph::new(used).wrap(Wrap { trim: true }), below);
    frame.render_widget(Paragraph::new(keys).style(DIM), foot);
}

/// Numbers to the right.
fn aligned(at: usize, cell: &str) -> Line<'static> {
    Line::from(cell.to_owned()).alignment(if at == 0 { Alignment::Left } else { Alignment::Right })
}

/// Draws two texts at the ends of a line; the right one is never cut.
fn sides(frame: &mut Frame<'_>, area: Rect, left: Span<'_>, right: Span<'_>) {
    let wide = u16::try_from(right.width()).unwrap_or(u16::MAX);
    let [at_left, at_right] = Layout::horizontal([Constraint::Min(0), Constraint::Length(wide)]).spacing(2).areas(area);
    frame.render_widget(left, at_left);
    frame.render_widget(right, at_right);
}

/// Draws the operations completed in each of the last seconds, the last at the right.
fn draw_curve(frame: &mut Frame<'_>, area: Rect, run: &LiveRun, now: &str) {
    let seconds = usize::from(area.width).min(run.points.len());
    let shown = &run.points[run.points.len() - seconds..];
    let [head, bars, _] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(area);
    let most = shown.iter().map(|point| point.throughput).fold(0.0, f64::max);
    let title = if shown.is_empty() { "completed".to_owned() } else { format!("completed, the last {seconds} s") };
    sides(frame, head, Span::styled(title, DIM), Span::styled(now, BOLD));
    if most > 0.0 {
        // Bars take integers: a rate below ten would have few steps.
        let bar = |rate: f64| (rate / most * 10_000.0).round() as u64;
        let data: Vec<u64> = shown.iter().map(|point| bar(point.throughput)).collect();
        frame.render_widget(Sparkline::default().data(&data).max(10_000), bars);
    }
}

fn resources(used: &[(&str, String)]) -> String {
    used.iter().map(|(name, text)| format!("{name} {text}")).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::state::tests::{round, run, second, state};
    use bourse_record::PhaseKind;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(run: &LiveRun, (width, height): (u16, u16)) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|frame| draw(frame, run, "q leaves this view, the run goes on · Ctrl-C interrupts the run"))
            .unwrap();
        terminal.backend().to_string()
    }

    fn running() -> LiveRun {
        let seconds = (1..40_u32).map(|at| {
            let seconds = f64::from(at);
            (seconds, second(seconds, 1_000 * u64::from(at), PhaseKind::Measurement))
        });
        let mut run = state([(0.0, run()), (0.0, round("sqlite::memory:"))].into_iter().chain(seconds)).view(0.0);
        for (at, point) in run.points.iter_mut().enumerate() {
            point.throughput = 300.0 + 40.0 * (at * 7 % 18) as f64;
        }
        run
    }

    #[test]
    fn a_round_is_drawn_at_the_usual_sizes() {
        insta::assert_snapshot!("live_80x24", drawn(&running(), (80, 24)));
        insta::assert_snapshot!("live_120x40", drawn(&running(), (120, 40)));
    }

    #[test]
    fn no_size_and_no_state_is_a_panic() {
        let begun = state([(0.0, run())]).view(3.0);
        for run in [LiveRun::default(), begun, running()] {
            for size in [(1, 1), (3, 2), (10, 5), (20, 60), (79, 7), (300, 3), (300, 100)] {
                let text = drawn(&run, size);
                assert_eq!(text.lines().count(), usize::from(size.1), "{size:?}");
            }
        }
    }
}
