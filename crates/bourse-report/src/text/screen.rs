//! The report on one screen, of a run or a comparison: the answer, the table, the reasons for doubt, the place of the rest.

use super::grid::fill;
use super::page::{BriefTable, Page};
use super::paint::columns;
use crate::comparison::{self, DrawComparison as _};
use crate::documents::{self, Overview, SheetPart};
use crate::tables::{self, TableCell, Tone, by_class};
use crate::units;
use crate::view::{
    self, CaseVerdict, CaseView, FigureValidity, RuleStatus, notices, other_warnings, rules, verdicts,
    warnings_of_others, warnings_of_the_request,
};
use bourse_record::{CostCovers, Provenance, Round, RunFile, StatementFigures, WorkloadKind};
use bourse_verdict::comparison::ComparedCases;
use unicode_width::UnicodeWidthStr as _;

/// Lines of a run of one case, so that a terminal of 24 has the prompt too. Left out to fit, and counted, are the queue below the
/// table, earlier runs, the cost, the wait of a customer and doubts; of a run with its statements also the table of operations,
/// statements with less time, and hints.
pub(super) const SCREEN_LINES: usize = 23;
/// Statements that are shown at least; if there is no room for so many with hints, the table of operations is left out.
const LEAST_STATEMENTS: usize = 3;
/// Hints at statements that are shown at most.
const HINTS: usize = 3;
/// Most doubts, however much room there is.
const DOUBTS: usize = 3;
/// Lines of one doubt.
const LINES_OF_DOUBT: usize = 2;

/// A run in brief for a terminal of `width` columns, with colours or without; `page` is the file with the whole report. Ends
/// with a line feed.
///
/// Text from outside is shown with its control characters made visible.
pub fn screen(file: &RunFile, width: usize, color: bool, page: Option<&str>) -> String {
    let views = CaseView::all(file);
    let told: Vec<CaseVerdict> = views.iter().map(CaseVerdict::of).collect();
    let mut screen = Page::of(file, width, color);
    if let Some(found) = &file.tuning {
        screen.parts(&documents::tuning(file, found, &views), false);
        screen.blank();
    }
    if let Some(found) = &file.bisection {
        screen.parts(&documents::bisection(found), false);
        screen.blank();
    }
    screen.comparison(file);
    let found = documents::isolation(&views);
    if !found.is_empty() {
        screen.parts(&found, false);
        screen.blank();
    }
    let overview = Overview::of(&views);
    let end = screen.apart(|end| {
        end.compliance(file, &views, overview.is_some());
        end.again(file);
    });
    let (doubts, least) = doubts(file, &views, &told);
    let mut others = 0;
    match (views.as_slice(), told.as_slice()) {
        ([], _) => screen.toned(Tone::Bad, "nothing was run"),
        ([view], [told]) => {
            // One line is reserved for the report's path.
            let reserved = end.rows() + least.min(doubts.len()) + 1;
            others += screen.single(view, told, SCREEN_LINES.saturating_sub(reserved));
        }
        _ => match &overview {
            Some(of) => {
                // Room for the report's path, and a doubt.
                let doubt = screen.apart(|part| _ = part.doubts(&doubts[..doubts.len().min(DOUBTS)], least, 0)).rows();
                screen.overview(of, &told, SCREEN_LINES.saturating_sub(end.rows() + doubt + 1));
            }
            None => screen.answers(&views, &told),
        },
    }
    if file.comparison.is_none() && file.tuning.is_none() {
        screen.parts(&documents::plans_in_brief(&views), false);
    }
    let used = screen.rows() + end.rows() + 1;
    let is_bounded = views.len() == 1 || overview.is_some();
    let shown = &doubts[..doubts.len().min(DOUBTS)];
    let left = screen.doubts(shown, least, if is_bounded { SCREEN_LINES.saturating_sub(used) } else { usize::MAX });
    screen.out.push_str(&end.out);
    screen.place(page, others + left + doubts.len() - shown.len());
    screen.out
}

/// A comparison in brief for a terminal of `width` columns: verdict, metrics, the remarks that have room, and the commands of
/// `runs`; several comparisons are whole. `page` is the file with the whole report. Ends with a line feed.
pub fn comparison_screen(
    compared: &ComparedCases,
    runs: &[(&str, &Provenance)],
    width: usize,
    page: Option<&str>,
) -> String {
    let mut screen = Page::new(width, false);
    let [it] = compared.comparisons.as_slice() else {
        screen.out = compared.text(runs, width);
        screen.place(page, 0);
        return screen.out;
    };
    // One line is reserved for the report's path, and one above the remarks.
    let end = screen.apart(|end| end.parts(&comparison::again(runs), false)).out;
    let room = |screen: &Page| {
        SCREEN_LINES.saturating_sub(screen.rows() + screen.apart(|part| part.out.push_str(&end)).rows() + 2)
    };
    let remarks = comparison::remarks(compared);
    // One of the remarks has room in any case.
    let room_of_answer = room(&screen).saturating_sub(remarks.len().min(1));
    screen.add(screen.fitted(&comparison::answer(it, compared.tolerance), room_of_answer));
    let mut others = 0;
    for part in comparison::details(it) {
        let part = screen.apart(|page| page.parts(&[part], false));
        match part.rows() <= room(&screen) {
            true => screen.out.push_str(&part.out),
            false => others += 1,
        }
    }
    if !remarks.is_empty() {
        screen.blank();
        others += screen.doubts(&remarks, 1, room(&screen) + 1);
    }
    screen.out.push_str(&end);
    screen.place(page, others);
    screen.out
}

impl Page {
    /// Last line: the report's path, if there is one, and the number of remarks that are left out.
    pub(super) fn place(&mut self, page: Option<&str>, others: usize) {
        let others = (others > 0).then(|| units::counted(others as u64, "more remark", "more remarks"));
        let place = page.map(|page| format!("report: {}", units::printable(page)));
        match (place, others) {
            (Some(place), Some(others)) => {
                let fits = place.width() + others.width() + " (: -v)".len() <= self.width;
                self.line(&if fits { format!("{place} ({others}: -v)") } else { format!("{place}\n{others}: -v") });
            }
            (Some(line), None) => self.line(&line),
            (None, Some(others)) => self.line(&format!("{others}: -v")),
            (None, None) => {}
        }
    }

    /// Rows of the terminal that the lines take.
    pub(super) fn rows(&self) -> usize {
        self.out.lines().map(|line| columns(line).div_ceil(self.width).max(1)).sum()
    }

    /// Lines that are drawn apart, to be counted before they are added.
    pub(super) fn apart(&self, draw: impl FnOnce(&mut Self)) -> Self {
        let mut part = Self { out: String::new(), ..*self };
        draw(&mut part);
        part
    }

    /// Adds lines that were drawn apart.
    pub(super) fn add(&mut self, part: Self) {
        self.out.push_str(&part.out);
        self.last = part.last;
    }

    /// A run of one case, in `room` rows; returns the number of parts that are left out.
    fn single(&mut self, view: &CaseView<'_>, told: &CaseVerdict, room: usize) -> usize {
        self.answer(&documents::figure(view));
        self.paragraph_indented(Tone::Plain, &documents::on(view));
        view.spread().iter().for_each(|spread| self.paragraph_indented(Tone::Plain, spread));
        let runs = self.apart(|part| view.runs_here().iter().for_each(|it| part.paragraph_indented(Tone::Plain, it)));
        let verdict = self.apart(|part| {
            let all = view.searched().into_iter().chain([told.verdict()]);
            all.for_each(|it| part.paragraph_indented(it.tone, &it.text));
        });
        let waits = self.apart(|part| {
            let waits = view.waits();
            waits.iter().for_each(|it| part.paragraph_indented(it.tone, it.verdict.as_deref().unwrap_or(&it.text)));
        });
        let mut table = tables::transactions(view);
        // Operations outside the mix, and those without any outcome, are in the page.
        let is_brokerage = view.case.workload.kind == WorkloadKind::Brokerage;
        let names: Vec<String> = view
            .operations
            .iter()
            .filter(|it| it.ended() > 0 && !(is_brokerage && it.target_percent.is_none()))
            .map(|it| units::printable(&it.name))
            .collect();
        table.rows.retain(|row| names.contains(&row[0].text));
        let operations = table.rows.len();
        let mut queue = None;
        let by_operation = self.apart(|part| match operations {
            0 => part.toned(Tone::Bad, "nothing was measured"),
            _ => queue = part.brief(table, true).queue,
        });
        let queue = self.apart(|part| queue.iter().for_each(|queue| part.paragraph(Tone::Faint, queue, 2)));
        let cost = self.apart(|part| part.cost(view));
        let all = view::statements(&view.case.rounds);
        // The statements that were asked for come first: they have the names of the operations.
        let least = all.len().min(LEAST_STATEMENTS);
        let least = least + documents::hints(&all[..least], self.width / 3).len().min(HINTS) + 2;
        let needed = if all.is_empty() { by_operation.rows() } else { least };
        let mut left = room.saturating_sub(self.rows() + verdict.rows() + needed);
        let parts = [waits, cost, runs, queue].map(|part| {
            let rest = left.checked_sub(part.rows())?;
            left = rest;
            Some(part)
        });
        let left_out_parts = parts.iter().filter(|part| part.is_none()).count();
        let [waits, cost, runs, queue] = parts;
        let by_operation = by_operation.out + queue.as_ref().map_or("", |queue| &queue.out);
        let by_operation = self.apart(|part| part.out.push_str(&by_operation));
        [&runs, &Some(verdict), &waits].into_iter().flatten().for_each(|part| self.out.push_str(&part.out));
        let room = room.saturating_sub(self.rows() + cost.as_ref().map_or(0, Self::rows));
        let is_left_out = !all.is_empty() && operations > 0 && by_operation.rows() + least > room;
        let used = if is_left_out { 0 } else { by_operation.rows() };
        if !is_left_out {
            self.out.push_str(&by_operation.out);
        }
        cost.iter().for_each(|cost| self.out.push_str(&cost.out));
        if !all.is_empty() {
            let noun = view.noun();
            let left_out = is_left_out.then(|| units::counted(operations as u64, noun, &format!("{noun}s")));
            self.statements(view, &all, room.saturating_sub(used), left_out);
        }
        self.parts(&[SheetPart::Table(tables::functions(view))], false);
        left_out_parts
    }

    /// Statements with most time and hints at them, a line each, in that many rows; below them what is left out.
    fn statements(&mut self, view: &CaseView<'_>, all: &[StatementFigures], room: usize, left_out: Option<String>) {
        let hints = |count: usize| documents::hints(&all[..count], self.width / 3);
        let dearest = all.len().min(tables::DEAREST);
        // A line each for the heads and for what is left out.
        let room = room.saturating_sub(2);
        let fits = |count: &usize| count + hints(*count).len().min(HINTS) <= room;
        let most = (1..=dearest).rev().find(fits).unwrap_or(0).max(LEAST_STATEMENTS).min(dearest);
        let (of_shown, hints) = (hints(most), hints(dearest).len());
        self.brief(tables::statements(view, all, &all[..most]), true);
        let (mut left, mut shown) = (room.saturating_sub(most), 0);
        for hint in of_shown.into_iter().take(HINTS) {
            let part = self.apart(|part| part.paragraph_indented(hint.tone, &hint.text));
            let Some(rest) = left.checked_sub(part.rows()) else { break };
            self.out.push_str(&part.out);
            (left, shown) = (rest, shown + 1);
        }
        let counts = [
            ((all.len() - most) as u64, "further statement", "further statements"),
            ((hints - shown) as u64, "more hint", "more hints"),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let counts = counts.map(|(count, one, many)| units::counted(count, one, many));
        let more: Vec<String> = left_out.into_iter().chain(counts).collect();
        if !more.is_empty() {
            self.paragraph_indented(Tone::Faint, &format!("{}: -v, and the page", more.join(", ")));
        }
    }

    fn cost(&mut self, view: &CaseView<'_>) {
        let Some(cost) = view.cost() else { return };
        // Named where others took their part of what is shared out here.
        let of = match &view.case.workload.headline_operation {
            Some(name) if view.operations.len() > 1 => format!("each {}", units::printable(name)),
            _ => "each operation".to_owned(),
        };
        let of_client = cost.own_cpu_ns.map(units::duration_ns);
        let cpu = match (cost.covers, cost.cpu_ns, of_client) {
            (CostCovers::ClientAndServer, Some(cpu_ns), Some(of_client)) => {
                Some(format!("CPU {} (client {of_client})", units::duration_ns(cpu_ns)))
            }
            (CostCovers::ClientAndServer | CostCovers::Process, cpu_ns, _) => {
                cpu_ns.map(|cpu_ns| format!("CPU {}", units::duration_ns(cpu_ns)))
            }
            (CostCovers::Client, _, of_client) => of_client.map(|of_client| {
                let why = match view.case.rounds.iter().any(Round::is_part_on_server) {
                    true => "the server worked for every driver: `bourse report` of all their runs has its part",
                    false => "the server's is not known: its process cannot be looked at",
                };
                format!("client's CPU {of_client} ({why})")
            }),
        };
        let instructions = view.instructions().map(|each| format!("{} instructions", units::instructions(each)));
        let mut parts: Vec<String> = cpu.into_iter().chain(instructions).collect();
        parts.extend(match (cost.written_bytes, cost.server_counted_bytes) {
            (Some(bytes), _) => Some(format!("{} written", units::bytes(bytes))),
            (None, Some(bytes)) => Some(format!("{} written by the server's own count", units::bytes(bytes))),
            (None, None) => None,
        });
        if view.memory().is_some() {
            parts.extend(cost.read_bytes.map(|bytes| format!("{} read", units::bytes(bytes))));
            parts.extend(cost.misses.map(|misses| format!("{} misses", units::number(misses))));
        }
        parts.extend(cost.syncs.map(|syncs| format!("{} syncs", units::number(syncs))));
        if !parts.is_empty() {
            self.paragraph(Tone::Plain, &format!("cost of {of}: {}", parts.join(", ")), 2);
        }
    }

    /// Several engines on several workloads in `room` rows: the answer, and a table without the columns and then the rows that
    /// have no room, first those that the answer does not name.
    fn overview(&mut self, of: &Overview<'_, '_>, told: &[CaseVerdict], room: usize) {
        self.parts(&of.answer(), false);
        let said = verdicts(told);
        let tone = said.iter().map(|it| it.tone).find(|tone| *tone != Tone::Good).unwrap_or(Tone::Good);
        let said = said.into_iter().map(|it| it.text).collect::<Vec<_>>().join(" · ");
        let verdict = self.apart(|part| part.paragraph(tone, &said, 2));
        let mut table = of.table();
        table.heads.iter_mut().for_each(|head| head.title = head.title.replacen(' ', "\n", 1).into());
        // Two lines of heads, and one for what is left out.
        let most = room.saturating_sub(self.rows() + verdict.rows() + 3).max(1);
        let kept = of.kept(most);
        let rows = table.rows.len() - kept.len();
        table.rows = kept.into_iter().map(|at| std::mem::take(&mut table.rows[at])).collect();
        let BriefTable { dropped: columns, queue, .. } = self.brief(table, true);
        queue.iter().for_each(|queue| self.paragraph(Tone::Faint, queue, 2));
        let rows = (rows > 0).then(|| units::counted(rows as u64, "further row", "further rows"));
        self.left_out(columns.iter().map(|it| it.replace('\n', " ")).chain(rows).collect());
        self.out.push_str(&verdict.out);
    }

    /// Names columns and rows that have no room.
    fn left_out(&mut self, names: Vec<String>) {
        if !names.is_empty() {
            self.paragraph(Tone::Faint, &format!("with -v and in the report: {}", names.join(", ")), 2);
        }
    }

    /// Several cases: one table, then the verdicts over all of them. Words that all labels begin or end with are above the table.
    fn answers(&mut self, views: &[CaseView<'_>], told: &[CaseVerdict]) {
        let in_order: Vec<&CaseView<'_>> = by_class(views).into_iter().flat_map(|(_, members)| members).collect();
        let mut table = tables::comparison(&in_order, "all cases");
        let labels: Vec<&str> = in_order.iter().map(|view| view.case.label.as_str()).collect();
        let (common, rest) = common_words(&labels);
        if !common.is_empty() {
            self.paragraph(Tone::Plain, &format!("all cases: {common}"), 2);
            table.rows.iter_mut().zip(&rest).for_each(|(row, label)| row[0] = TableCell::text(label));
        }
        // Ends of intervals and the like are not missed.
        let heads = table.heads.iter().filter(|head| !head.folds);
        let heads: Vec<String> = heads.map(|head| head.title.to_string()).collect();
        let BriefTable { dropped, queue, .. } = self.brief(table, true);
        queue.iter().for_each(|queue| self.paragraph(Tone::Faint, queue, 2));
        self.left_out(dropped.into_iter().filter(|title| heads.contains(title)).collect());
        for (view, searched) in views.iter().filter_map(|view| Some((view, view.searched()?))) {
            self.paragraph(searched.tone, &format!("{}: {}", view.case.label, searched.text), 2);
        }
        for remark in verdicts(told) {
            self.paragraph(remark.tone, &remark.text, 2);
        }
    }

    /// Number of rules of the specification that were met, and the notices that every report must have; in short the first
    /// notice alone, which is that of a specification.
    fn compliance(&mut self, file: &RunFile, views: &[CaseView<'_>], is_short: bool) {
        // Of what was not measured no rule was met or broken.
        let measured = views.iter().filter(|view| view.validity() != FigureValidity::NothingMeasured);
        let broken = measured.map(|view| {
            let rules = rules(view);
            (rules.iter().filter(|rule| rule.status == RuleStatus::No).count(), rules.len())
        });
        let most = broken.max().filter(|(_, all)| *all > 0);
        let rules = most.map(|(broken, all)| format!("compliance: {broken} of {all} rules not met."));
        // The first sentence says what the figures are not; the rest is in the page.
        let first = |notice: &str| notice.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned();
        let rules = rules.filter(|_| !is_short);
        let notices = notices(file).into_iter().take(if is_short { 1 } else { usize::MAX }).map(first);
        let said: Vec<String> = rules.into_iter().chain(notices).collect();
        if !said.is_empty() {
            self.paragraph(Tone::Faint, &said.join(" "), 2);
        }
    }

    /// Writes doubts in so many lines, `least` of them at least. Returns the number of those left out.
    fn doubts(&mut self, doubts: &[(Tone, String)], least: usize, room: usize) -> usize {
        let (mut shown, mut left) = (0, room);
        for (tone, text) in doubts {
            // Two columns are reserved for the mark of the cut.
            let filled = fill(&units::printable(text), self.width - 2, 2);
            let all = filled.lines().count();
            // A line is left for each that has to follow.
            let follow = least.min(doubts.len()).saturating_sub(shown + 1);
            let lines = all.min(LINES_OF_DOUBT).min(left.saturating_sub(follow).max(1));
            if shown >= least && left == 0 {
                break;
            }
            for (at, line) in filled.lines().take(lines).enumerate() {
                let cut = if at + 1 == lines && lines < all { " …" } else { "" };
                self.toned(*tone, &format!("{line}{cut}"));
            }
            shown += 1;
            left = left.saturating_sub(lines);
        }
        doubts.len() - shown
    }

    fn again(&mut self, file: &RunFile) {
        let measured_before = !file.cases.is_empty() && file.cases.iter().all(|case| case.origin.is_some());
        if !measured_before {
            let others = CaseView::all(file).iter().map(CaseView::other_drivers).max().unwrap_or(0);
            let with = match others {
                0 => "again:".to_owned(),
                1 => "again, with the other driver's command:".to_owned(),
                _ => format!("again, with the commands of the other {others} drivers:"),
            };
            self.command(&with, &file.provenance.command);
        }
    }
}

/// Reasons to doubt the figures: that others disturbed it, then the worst; and the number that is printed at least, one of
/// either.
fn doubts(file: &RunFile, views: &[CaseView<'_>], told: &[CaseVerdict]) -> (Vec<(Tone, String)>, usize) {
    let worded = |tone, warnings: Vec<String>| warnings.into_iter().map(move |it| (tone, format!("warning: {it}")));
    let mut doubts: Vec<(Tone, String)> = worded(Tone::Bad, warnings_of_the_request(file)).collect();
    for (view, case) in views.iter().zip(told) {
        let place = if told.len() > 1 { format!("{}: ", view.case.label) } else { String::new() };
        // The result of a search is in the answer.
        let searched = view.searched();
        let remarks = case.remarks.iter().filter(|it| {
            it.verdict.is_none() && !matches!(it.tone, Tone::Good | Tone::Faint) && Some(*it) != searched.as_ref()
        });
        doubts.extend(remarks.map(|it| (it.tone, format!("{place}{}", it.text))));
    }
    doubts.sort_by_key(|(tone, _)| *tone != Tone::Bad);
    let mut disturbed = worded(Tone::Doubtful, warnings_of_others(file));
    let first = disturbed.next();
    let least = 1 + usize::from(first.is_some());
    doubts.extend(disturbed);
    doubts.extend(worded(Tone::Doubtful, other_warnings(file)));
    doubts.splice(0..0, first);
    (doubts, least)
}

/// Words that all labels begin or end with, and the rest of each label, which has one word at least.
fn common_words(labels: &[&str]) -> (String, Vec<String>) {
    let words: Vec<Vec<&str>> = labels.iter().map(|label| label.split(' ').collect()).collect();
    let most = words.iter().map(|it| it.len() - 1).min().unwrap_or(0);
    let is_common =
        |place: &dyn Fn(&Vec<&str>) -> usize| words.windows(2).all(|it| it[0][place(&it[0])] == it[1][place(&it[1])]);
    let first = (0..most).take_while(|at| is_common(&|_| *at)).count();
    let last = (0..most - first).take_while(|at| is_common(&|it| it.len() - 1 - at)).count();
    let rest = words.iter().map(|it| it[first..it.len() - last].join(" ")).collect();
    let common = words.first().map(|it| [&it[..first], &it[it.len() - last..]].concat().join(" "));
    (common.unwrap_or_default(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_left_with_what_tells_them_apart() {
        let of = |labels: &[&str]| {
            let (common, rest) = common_words(labels);
            format!("{common}: {}", rest.join(", "))
        };
        let sweep = ["a:x.db rows=5 --memory 8MiB", "a:x.db rows=9 --memory 8MiB"];
        assert_eq!(of(&sweep), "a:x.db --memory 8MiB: rows=5, rows=9");
        assert_eq!(of(&["a:x.db", "a:x.db rows=5"]), ": a:x.db, a:x.db rows=5");
        assert_eq!(of(&["a:x.db rows=5 users=2", "a:x.db rows=6"]), "a:x.db: rows=5 users=2, rows=6");
        assert_eq!(of(&["a:x.db rows=5", "b: rows=5"]), "rows=5: a:x.db, b:");
    }
}
