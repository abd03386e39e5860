//! Circles of dependencies: the shortest of each kind in each strongly connected component.

use crate::AnomalyKind::{
    self, G0, G1c, G2, G2Item, GNonadjacent, GNonadjacentItem, GSingle, GSingleItem, MonotonicReads, MonotonicWrites,
    ReadYourWrites, RealTimeCycle, SessionCycle, StaleRead, WritesFollowReads,
};
use crate::check::cases::Cases;
use crate::check::graph::{Edge, Graph, Link, MISSES, PREDICATE, RW, SESSION, TIME, TIMED, WR, WW};
use crate::check::index::{Index, NONE};

/// Way back to the source of a search's first edge.
#[derive(Debug, Clone, Copy)]
enum Back {
    /// Any path of edges with these labels.
    Path(u8),
    /// A path in which no two anti-dependencies follow each other, nor around the first edge.
    Nonadjacent,
    /// Order of one session.
    Session,
    /// Real time.
    Time,
}

const DEPENDENCIES: u8 = WW | WR;
const ITEMS: u8 = WW | WR | RW;
const ALL: u8 = WW | WR | MISSES;
const SESSIONS: u8 = ALL | SESSION;
const TIMES: u8 = ALL | TIMED | TIME;
/// Stands for components without adjacent anti-dependencies, which show that there is no snapshot.
const NONADJACENT: u8 = 0;

/// Search for cycles of a kind, in each component by edges with `within`: an edge labelled `start`, one labelled `next` (0: none), and
/// the way back.
struct Search(/** within */ u8, AnomalyKind, /** start */ u8, /** next */ u8, Back);

static SEARCHES: [Search; 17] = [
    Search(WW, G0, WW, 0, Back::Path(WW)),
    Search(DEPENDENCIES, G1c, WR, 0, Back::Path(DEPENDENCIES)),
    Search(ITEMS, GSingleItem, RW, 0, Back::Path(DEPENDENCIES)),
    Search(ITEMS, G2Item, RW, RW, Back::Path(ITEMS)),
    Search(ALL, GSingle, PREDICATE, 0, Back::Path(DEPENDENCIES)),
    Search(ALL, G2, PREDICATE, MISSES, Back::Path(ALL)),
    Search(ALL, G2, RW, PREDICATE, Back::Path(ALL)),
    Search(ALL, G2, PREDICATE, 0, Back::Path(ALL)),
    Search(NONADJACENT, GNonadjacentItem, RW, 0, Back::Nonadjacent),
    Search(NONADJACENT, GNonadjacent, MISSES, 0, Back::Nonadjacent),
    Search(SESSIONS, ReadYourWrites, MISSES, 0, Back::Session),
    Search(SESSIONS, MonotonicWrites, WW, 0, Back::Session),
    Search(SESSIONS, MonotonicReads, MISSES, WR, Back::Session),
    Search(SESSIONS, WritesFollowReads, WW, WR, Back::Session),
    Search(SESSIONS, SessionCycle, SESSION, 0, Back::Path(SESSIONS)),
    Search(TIMES, StaleRead, MISSES | TIMED, 0, Back::Time),
    Search(TIMES, RealTimeCycle, TIME, 0, Back::Path(TIMES)),
];
/// Lengths of paths that are tried one after another, so that short cycles are found first.
const LENGTHS: [u32; 5] = [1, 2, 3, 5, u32::MAX];
/// Edges that a search follows for each length and component, in addition to some for each of its nodes.
const EDGES_MAX: usize = 2_000_000;
/// Edges that a search follows for each node of a component.
const EDGES_PER_NODE: usize = 40;

/// Finds cycles of all kinds.
pub(crate) fn find_cycles(graph: &Graph, index: &Index<'_>, cases: &mut Cases<'_>) {
    let nodes = graph.nodes();
    // All others are inside these: most histories have none.
    let outer = graph.components(u8::MAX, &vec![1; nodes], false);
    if outer.is_empty() {
        return;
    }
    let mut scope = vec![0; nodes];
    for (number, component) in (1..).zip(&outer) {
        component.iter().for_each(|state| scope[*state as usize / 2] = number);
    }
    let mut finder =
        Finder { graph, index, home: vec![0; 2 * nodes], reached: Vec::new(), round: 0, queue: Vec::new() };
    finder.reached.resize(2 * nodes, (0, 0, Link { from: 0, to: 0, version: NONE, label: 0 }));
    let (mut number, mut is_explained) = (0, false);
    for searches in SEARCHES.chunk_by(|one, other| one.0 == other.0) {
        let components = match searches[0].0 {
            NONADJACENT => graph.components(ALL, &scope, true),
            labels => graph.components(labels, &scope, false),
        };
        for states in components {
            number += 1;
            states.iter().for_each(|state| finder.home[*state as usize] = number);
            let mut last = None;
            for search in searches {
                // Any cycle through sessions or time would do: it says something only if nothing else does.
                let is_any = search.2 & (SESSION | TIME) != 0;
                if (is_any && is_explained) || last == Some(search.1) {
                    continue;
                }
                if let Some(cycle) = finder.find(&states, number, search) {
                    (is_explained, last) = (true, Some(search.1));
                    cases.offer_cycle(search.1, &cycle);
                }
            }
        }
    }
}

struct Finder<'g> {
    graph: &'g Graph,
    index: &'g Index<'g>,
    /// Number of the component that a state is in.
    home: Vec<u32>,
    /// The search that reached a state last, the state before, and the edge.
    reached: Vec<(u32, u32, Link)>,
    /// Number of the search for a path.
    round: u32,
    queue: Vec<u32>,
}

impl Finder<'_> {
    fn find(&mut self, states: &[u32], home: u32, search: &Search) -> Option<Vec<Link>> {
        let Search(_, kind, start, _, back) = *search;
        let is_path = matches!(back, Back::Path(_) | Back::Nonadjacent);
        for length in LENGTHS.into_iter().take(if is_path { LENGTHS.len() } else { 1 }) {
            let mut left = EDGES_MAX + EDGES_PER_NODE * states.len();
            for (state, edge) in
                states.iter().flat_map(|state| self.graph.from(state / 2).iter().map(|edge| (*state, edge)))
            {
                if left == 0 {
                    break;
                }
                left -= 1;
                let Some(first) = self.step(state, edge, start, home, back) else { continue };
                let found = match is_path {
                    true => self.path(&first, home, search, length, &mut left),
                    false => self.direct(&first, search, &mut left),
                };
                let Some(cycle) = found.map(contracted) else { continue };
                if cycle.iter().any(|step| step.label & ALL == 0) || self.classify(&cycle) == Some(kind) {
                    return Some(cycle);
                }
            }
        }
        None
    }

    /// An edge as a step, if it has one of the labels and stays in the component.
    fn step(&self, state: u32, edge: &Edge, labels: u8, home: u32, back: Back) -> Option<Link> {
        let is_nonadjacent = matches!(back, Back::Nonadjacent);
        if edge.label & labels == 0 || (is_nonadjacent && state % 2 == 1 && edge.label & MISSES != 0) {
            return None;
        }
        let both = edge.label & labels;
        let label = both & both.wrapping_neg();
        let to = edge.to * 2 + u32::from(is_nonadjacent && label & MISSES != 0);
        let step = Link { from: state / 2, to: edge.to, version: edge.version, label };
        (self.home[to as usize] == home).then_some(step)
    }

    /// Shortest path, of at most `length` edges, that closes a cycle with a first step.
    fn path(&mut self, first: &Link, home: u32, search: &Search, length: u32, left: &mut usize) -> Option<Vec<Link>> {
        let (labels, is_nonadjacent) = match search.4 {
            Back::Path(labels) => (labels, false),
            _ => (ALL, true),
        };
        let start = first.to * 2 + u32::from(is_nonadjacent);
        let goal = first.from * 2;
        self.round += 1;
        self.queue.clear();
        self.queue.push(start);
        let (mut depth, mut level_end, mut at) = (0, 1, 0);
        while at < self.queue.len() && depth < length && *left > 0 {
            let state = self.queue[at];
            for edge in self.graph.from(state / 2) {
                *left = left.saturating_sub(1);
                let labels = if depth == 0 && search.3 != 0 { search.3 } else { labels };
                let Some(step) = self.step(state, edge, labels, home, search.4) else { continue };
                let to = step.to * 2 + u32::from(is_nonadjacent && step.label & MISSES != 0);
                if to == start || self.reached[to as usize].0 == self.round {
                    continue;
                }
                self.reached[to as usize] = (self.round, state, step);
                if to == goal {
                    return Some(self.way(first, start, goal));
                }
                self.queue.push(to);
            }
            at += 1;
            if at == level_end {
                (depth, level_end) = (depth + 1, self.queue.len());
            }
        }
        None
    }

    fn way(&self, first: &Link, start: u32, goal: u32) -> Vec<Link> {
        let (mut cycle, mut state) = (Vec::new(), goal);
        while state != start {
            let (_, before, step) = self.reached[state as usize];
            cycle.push(step);
            state = before;
        }
        cycle.push(*first);
        cycle.reverse();
        cycle
    }

    /// A first step, perhaps a second, and the way back by order of session or time.
    fn direct(&self, first: &Link, search: &Search, left: &mut usize) -> Option<Vec<Link>> {
        let (label, is_before): (u8, &dyn Fn(u32, u32) -> bool) = match search.4 {
            Back::Session => (SESSION, &|one, other| self.is_before_in_session(one, other)),
            _ => (TIME, &|one, other| self.index.acknowledged(one).is_some_and(|end| end < self.begin_ns(other))),
        };
        let close = |from| Link { from, to: first.from, version: NONE, label };
        if search.3 == 0 {
            return is_before(first.to, first.from).then(|| vec![*first, close(first.to)]);
        }
        let edges = self.graph.from(first.to);
        *left = left.saturating_sub(edges.len());
        let second = edges.iter().find(|edge| edge.label & search.3 != 0 && is_before(edge.to, first.from))?;
        let next = Link { from: first.to, to: second.to, version: second.version, label: search.3 };
        Some(vec![*first, next, close(second.to)])
    }

    fn begin_ns(&self, tx: u32) -> u64 {
        self.index.transactions[tx as usize].begin_ns
    }

    fn is_before_in_session(&self, one: u32, other: u32) -> bool {
        let session = |tx: u32| self.index.transactions[tx as usize].session;
        one != other
            && session(one) == session(other)
            && self.index.acknowledged(one).is_some_and(|end| end <= self.begin_ns(other))
    }

    /// Kind of a cycle without edges of sessions and time; `None` if a shorter cycle or a lost update of a single row shows it already.
    fn classify(&self, cycle: &[Link]) -> Option<AnomalyKind> {
        // A walk that meets itself has a shorter cycle in it.
        if (1..cycle.len()).any(|place| cycle[..place].iter().any(|step| step.from == cycle[place].from)) {
            return None;
        }
        let labels = cycle.iter().fold(0, |labels, step| labels | step.label);
        let is_miss = |place: usize| cycle[place % cycle.len()].label & MISSES != 0;
        let misses = (0..cycle.len()).filter(|place| is_miss(*place)).count();
        let item =
            |step: &Link| self.index.write(step.version).map_or(step.version, |write| self.index.initial(write.item));
        let kinds = match misses {
            0 if labels & WR == 0 => [G0, G0],
            0 => [G1c, G1c],
            1 => [GSingleItem, GSingle],
            2 if cycle.len() == 2 && item(&cycle[0]) == item(&cycle[1]) => return None,
            _ if (0..cycle.len()).any(|place| is_miss(place) && is_miss(place + 1)) => [G2Item, G2],
            _ => [GNonadjacentItem, GNonadjacent],
        };
        Some(kinds[usize::from(labels & PREDICATE != 0)])
    }
}

/// A cycle in which steps of session or time that follow each other are one, and moments are left out.
fn contracted(mut cycle: Vec<Link>) -> Vec<Link> {
    let is_order = |step: &Link| step.label & (SESSION | TIME) != 0;
    let first = cycle.iter().position(|step| !is_order(step)).unwrap_or_default();
    cycle.rotate_left(first);
    let mut short = Vec::<Link>::new();
    for step in cycle {
        match short.last_mut() {
            Some(last) if is_order(last) && is_order(&step) && last.label == step.label => last.to = step.to,
            _ => short.push(step),
        }
    }
    short
}
