//! The whole report for a terminal: the answer first, then its evidence.

use super::curve::curve;
use super::grid::grid;
use super::page::Page;
use crate::tables::{self, Cell, Head, Table, Tone};
use crate::units;
use crate::view::{
    CaseView, Kept, Part, RoleSplit, checks_words, latency_case, meaning, not_available, not_tpce, notices,
    outcome_word, roles, rules, values, warnings,
};
use bourse_record::{CheckStatus, Outcome, RunFile};

/// A whole run for a terminal of `width` columns, with colours or without. Ends with a line feed.
///
/// Text from outside is shown with its control characters made visible, so that no run file can steer the terminal.
pub fn terminal(file: &RunFile, width: usize, color: bool) -> String {
    let mut page = Page::of(file, width, color);
    page.comparison(file);
    let views = CaseView::all(file);
    for table in tables::comparisons(&views) {
        page.heading(&table.title.clone());
        page.table(table);
    }
    if views.is_empty() {
        page.blank();
        page.toned(Tone::Bad, "nothing was run");
    }
    for view in &views {
        page.case(view, views.len() > 1);
    }
    page.warnings(file);
    page.settings(file);
    if let Some(words) = time_words(file) {
        page.paragraph(Tone::Plain, &words, 2);
    }
    for notice in notices(file) {
        page.blank();
        page.paragraph(Tone::Faint, notice, 0);
    }
    page.out
}

/// Time of the run by part, in a sentence; `None` if it is unknown.
fn time_words(file: &RunFile) -> Option<String> {
    let spent = file.time_spent.as_ref()?;
    let parts = spent.parts.iter().map(|part| format!("{} {}", part.name, units::seconds(part.seconds)));
    Some(format!("time spent: {}: {}", units::seconds(spent.total_s), parts.collect::<Vec<_>>().join(", ")))
}

/// Part of the busiest users' working time below which other users have no bar.
const HARDLY: f64 = 0.05;

/// A bar of `width` letters, each for the same share of the time.
fn bar(role: &RoleSplit, width: usize) -> String {
    let mut bar = String::with_capacity(width);
    let mut end = 0.0;
    for part in Part::ALL {
        end += role.share(part);
        let letters = (end * width as f64).round() as usize;
        bar.extend(std::iter::repeat_n(part.letter(), letters.min(width).saturating_sub(bar.len())));
    }
    bar
}

impl Page {
    fn case(&mut self, view: &CaseView<'_>, several: bool) {
        if several {
            self.heading(&format!("── {}", units::printable(&view.case.label)));
        }
        self.headline(view);
        let table = tables::transactions(view);
        self.heading(&table.title.clone());
        if table.rows.is_empty() {
            self.toned(Tone::Bad, "nothing was measured");
        } else {
            self.table(table);
        }
        self.under_way(view);
        let quantiles = tables::quantiles(view);
        if !quantiles.rows.is_empty() {
            self.heading(&quantiles.title.clone());
            self.table(quantiles);
        }
        if let Some(case) = latency_case(view) {
            let table = tables::latency(&CaseView::new(view.file, &case));
            self.heading(&table.title.clone());
            self.table(table);
        }
        let server = tables::server_times(view);
        if !server.rows.is_empty() {
            self.heading(&server.title.clone());
            self.table(server);
        }
        self.outcomes(view);
        let search = tables::search(view);
        if !search.rows.is_empty() {
            self.heading(&search.title.clone());
            self.table(search);
        }
        self.time_split(view);
        self.resources(view);
        self.growth(view);
        self.facts(view);
        self.checks(view);
        self.rules(view);
    }

    /// Operations under way at the end that took longer than all that ended before.
    fn under_way(&mut self, view: &CaseView<'_>) {
        let longest = view.operations.iter().filter_map(|it| Some((it, it.under_way.filter(|it| it.is_longest)?)));
        let words = longest.map(|(operation, it)| {
            let unended =
                if it.unended > 0 { format!(", {} without an end", units::count(it.unended)) } else { String::new() };
            let longest = units::duration_ns(it.longest_ns as f64);
            format!("{} {} (longest {longest}{unended})", units::count(it.count), units::printable(&operation.name))
        });
        let words: Vec<String> = words.collect();
        if !words.is_empty() {
            let words = format!("under way at the end, and in quantiles alone: {}", words.join(" · "));
            self.paragraph(Tone::Plain, &words, 2);
        }
    }

    fn headline(&mut self, view: &CaseView<'_>) {
        self.blank();
        self.figure(view);
        for remark in view.remarks() {
            self.paragraph_indented(remark.tone, &remark.text);
        }
        if let Some(limit) = view.limited_by() {
            self.paragraph_indented(Tone::Plain, &limit.sentence());
        }
        if let Some(waits) = view.waits() {
            self.paragraph_indented(waits.tone, &waits.text);
        }
    }

    /// Outcomes other than success, with their codes explained.
    fn outcomes(&mut self, view: &CaseView<'_>) {
        let heads = vec![
            Head::left("outcome", "outcome"),
            Head::right("count", "count"),
            Head::right("code", "code"),
            Head::left("meaning", "meaning").rank(1),
        ];
        let mut table = Table::new("outcomes", "Other outcomes", heads);
        let mut examples = Vec::new();
        for operation in &view.operations {
            for outcome in operation.outcomes.iter().filter(|each| each.outcome != Outcome::Completed || each.code != 0)
            {
                let tone =
                    if matches!(outcome.outcome, Outcome::Failed | Outcome::Dropped) { Tone::Bad } else { Tone::Plain };
                let code = if outcome.code == 0 { String::new() } else { format!("{:+}", outcome.code) };
                table.push(vec![
                    Cell::text(&format!("{} {}", operation.name, outcome_word(outcome.outcome))).tone(tone),
                    Cell::count(outcome.count),
                    Cell::text(&code),
                    Cell::text(&meaning(outcome)),
                ]);
                if let (Outcome::Failed | Outcome::Dropped, Some(example)) = (outcome.outcome, &outcome.example) {
                    let code = if code.is_empty() { code } else { format!(" ({code})") };
                    examples.push(format!("{}{code}: {example}", operation.name));
                }
            }
        }
        if table.rows.is_empty() {
            return;
        }
        self.heading(&table.title.clone());
        let narrow = grid(table.clone(), self.width, self.paint);
        self.out.push_str(&narrow.text);
        // Without room for the meanings next to the counts they follow below, once each.
        if !narrow.dropped.is_empty() {
            let mut seen = Vec::new();
            for row in table.rows.iter().filter(|row| !row[2].text.is_empty()) {
                let said = format!("{}: {}", row[2].text, row[3].text);
                if !seen.contains(&said) {
                    self.paragraph(Tone::Faint, &said, 2);
                    seen.push(said);
                }
            }
        }
        for example in examples {
            self.paragraph(Tone::Bad, &format!("for instance {example}"), 2);
        }
    }

    /// Split of the users' time: a bar of letters for each kind of user, and its parts in figures. Users that were hardly
    /// ever busy compared with the others, as maintenance, are in the page alone.
    fn time_split(&mut self, view: &CaseView<'_>) {
        let roles = roles(view);
        if let Some(why) = not_available(view) {
            self.heading("Where the users' time went");
            self.paragraph(Tone::Doubtful, &format!("not available: {why}"), 2);
        } else if !roles.is_empty() {
            self.heading("Where the users' time went");
        }
        let busiest = roles.iter().map(RoleSplit::busy).fold(0.0, f64::max);
        for role in roles.into_iter().filter(|role| role.busy() >= HARDLY * busiest) {
            let width = self.width.saturating_sub(22).min(64);
            let name = units::printable(&format!("{} ({})", role.role, role.threads));
            self.line(&format!("{name:<18}  {}", bar(&role, width)));
            let parts = Part::ALL.into_iter().filter(|part| role.share(*part) >= 0.0005);
            let parts: Vec<String> = parts
                .map(|part| format!("{} {} {}", part.letter(), part.name(), units::percent(100.0 * role.share(part))))
                .collect();
            self.paragraph(Tone::Plain, &parts.join(" · "), 2);
        }
    }

    fn resources(&mut self, view: &CaseView<'_>) {
        let table = tables::resources(view);
        self.heading(&table.title.clone());
        self.pairs(&table);
    }

    /// The curves of closely sampled sizes, of the first round; those of other rounds are in the page.
    fn growth(&mut self, view: &CaseView<'_>) {
        let Some(round) = view.case.rounds.first() else { return };
        for (metric, title) in [("log_bytes", "Write-ahead log"), ("journal_bytes", "Rollback journal")] {
            if round.fine_series.column(metric).is_none() {
                continue;
            }
            let points: Vec<_> = values(round, metric).filter_map(|(time, value)| Some((time, value?))).collect();
            let lines = curve(&points, self.width.saturating_sub(24).min(72), units::bytes);
            if !lines.is_empty() {
                let of = if view.case.rounds.len() > 1 { ", round 1" } else { "" };
                self.heading(&format!("{title} over time{of}"));
                lines.iter().for_each(|line| self.line(&format!("  {line}")));
            }
        }
    }

    /// Facts of the rounds, such as pauses of the customers, and trades of earlier runs. Facts of a group (`group: name`)
    /// are many: here only their number is printed, the page lists them.
    fn facts(&mut self, view: &CaseView<'_>) {
        let several = view.case.rounds.len() > 1;
        for (at, round) in view.case.rounds.iter().enumerate().filter(|(_, round)| !round.facts.is_empty()) {
            let (grouped, single): (Vec<_>, Vec<_>) = round.facts.iter().partition(|fact| fact.name.contains(": "));
            let mut facts: Vec<String> =
                single.into_iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect();
            if !grouped.is_empty() {
                facts.push(format!(
                    "{} in the page",
                    units::counted(grouped.len() as u64, "further fact", "further facts")
                ));
            }
            let place = if several { format!("round {}: ", at + 1) } else { String::new() };
            self.paragraph(Tone::Plain, &format!("{place}{}", facts.join(" · ")), 2);
        }
    }

    /// Names and values, filled: values may be long.
    fn pairs(&mut self, table: &Table) {
        for row in &table.rows {
            let text = format!("{}: {}", row[0].text, row[1].text);
            self.paragraph(Tone::Plain, &text, 2);
        }
    }

    fn checks(&mut self, view: &CaseView<'_>) {
        self.heading("Checks of the database");
        let (tone, said) = checks_words(view);
        self.paragraph(tone, &said, 2);
        let several = view.case.rounds.len() > 1;
        for (round, check) in view.checks().filter(|(_, check)| check.status == CheckStatus::Failed) {
            let round = if several { format!(", round {round}") } else { String::new() };
            self.paragraph(
                Tone::Bad,
                &format!("FAILED {} ({}){round}: {}", check.name, check.source, check.condition),
                2,
            );
            // Evidence may be rows, a line each: they stay lines.
            for line in check.evidence.lines() {
                self.paragraph(Tone::Plain, &format!("found: {line}"), 4);
            }
        }
    }

    fn rules(&mut self, view: &CaseView<'_>) {
        let rules = rules(view);
        if rules.is_empty() {
            return;
        }
        self.heading("Compliance: rules of the specification");
        if let Some(line) = not_tpce(view) {
            self.paragraph(Tone::Doubtful, &line, 2);
        }
        // Rules that were not met are listed with their demands; those of the others are in the page.
        for (kept, tone) in [(Kept::Yes, Tone::Good), (Kept::Unknown, Tone::Faint)] {
            let named = rules.iter().filter(|rule| rule.kept == kept);
            let named: Vec<String> = named.map(|rule| format!("{} ({})", rule.name, rule.found)).collect();
            if !named.is_empty() {
                self.paragraph(tone, &format!("{}: {}", kept.name(), named.join(" · ")), 2);
            }
        }
        for rule in rules.iter().filter(|rule| rule.kept == Kept::No) {
            let text = format!("{}: {}: {} (required: {})", rule.kept.name(), rule.name, rule.found, rule.demands);
            self.paragraph(Tone::Doubtful, &text, 2);
        }
    }

    fn warnings(&mut self, file: &RunFile) {
        let warnings = warnings(file);
        if warnings.is_empty() {
            return;
        }
        self.heading("Warnings");
        for warning in warnings {
            self.paragraph(Tone::Doubtful, &warning, 2);
        }
    }

    /// Settings of the run, for readers who doubt the figure or want to reproduce it.
    fn settings(&mut self, file: &RunFile) {
        self.heading("Settings");
        for view in CaseView::all(file) {
            let label = if file.cases.len() > 1 { format!("{}: ", view.case.label) } else { String::new() };
            let parameters: Vec<String> = tables::parameters(&view)
                .rows
                .iter()
                .filter(|row| !row[1].value.is_empty())
                .map(|row| format!("{}: {}", row[0].text, row[1].text))
                .collect();
            self.paragraph(Tone::Plain, &format!("{label}{}", parameters.join(" · ")), 2);
        }
        let mut origins: Vec<_> = file.cases.iter().filter_map(|case| case.origin.as_ref()).collect();
        origins.dedup();
        if origins.is_empty() {
            self.paragraph(Tone::Plain, &tables::machine_line(&file.provenance.machine), 2);
        }
        for origin in &origins {
            let line = format!("{}: {}", origin.started_at, tables::machine_line(&origin.machine));
            self.paragraph(Tone::Plain, &line, 2);
        }
        for origin in origins {
            self.command(&format!("again, {}:", units::printable(&origin.started_at)), &origin.command);
        }
        if file.cases.iter().all(|case| case.origin.is_some()) && !file.cases.is_empty() {
            return;
        }
        self.command("again:", &file.provenance.command);
    }
}
