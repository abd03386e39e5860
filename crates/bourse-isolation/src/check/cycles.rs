//! Circles of dependencies: the shortest of each kind in each strongly connected component.

use crate::AnomalyKind::{
    self, G0, G1c, G2, G2Item, GNonadjacent, GNonadjacentItem, GSingle, GSingleItem, MonotonicReads, MonotonicWrites,
    ReadYourWrites, RealTimeCycle, SessionCycle, StaleRead, WritesFollowReads,
};
use crate::check::cases::Cases;
use crate::check::graph::{Edge, Graph, MISSES, PREDICATE, RW, SESSION, TIME, TIMED, WR, WW};
use crate::check::index::{Index, NONE};

/// One dependency of a circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Version that was read or overwritten.
    pub(crate) version: u32,
    /// One label.
    pub(crate) label: u8,
}

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

/// Search for circles of some kinds: an edge labelled `start`, one labelled `next` (0: none), and the way back.
struct Search {
    kinds: &'static [AnomalyKind],
    start: u8,
    next: u8,
    back: Back,
}

const DEPENDENCIES: u8 = WW | WR;
const ITEMS: u8 = WW | WR | RW;
const ALL: u8 = WW | WR | MISSES;
const SESSIONS: u8 = ALL | SESSION;
const TIMES: u8 = ALL | TIMED | TIME;
/// Stands for the components of [`Graph::components_nonadjacent`], which show that there is no snapshot.
const NONADJACENT: u8 = 0;

const fn search(kinds: &'static [AnomalyKind], start: u8, next: u8, back: Back) -> Search {
    Search { kinds, start, next, back }
}

/// All searches, with the labels that make up the components in which each takes place.
static SEARCHES: [(u8, &[Search]); 7] = [
    (WW, &[search(&[G0], WW, 0, Back::Path(WW))]),
    (DEPENDENCIES, &[search(&[G1c], WR, 0, Back::Path(DEPENDENCIES))]),
    (ITEMS, &[search(&[GSingleItem], RW, 0, Back::Path(DEPENDENCIES)), search(&[G2Item], RW, RW, Back::Path(ITEMS))]),
    (
        ALL,
        &[
            search(&[GSingle], PREDICATE, 0, Back::Path(DEPENDENCIES)),
            search(&[G2], PREDICATE, MISSES, Back::Path(ALL)),
            search(&[G2], RW, PREDICATE, Back::Path(ALL)),
            search(&[G2], PREDICATE, 0, Back::Path(ALL)),
        ],
    ),
    (NONADJACENT, &[search(&[GNonadjacentItem, GNonadjacent], MISSES, 0, Back::Nonadjacent)]),
    (
        SESSIONS,
        &[
            search(&[ReadYourWrites], MISSES, 0, Back::Session),
            search(&[MonotonicWrites], WW, 0, Back::Session),
            search(&[MonotonicReads], MISSES, WR, Back::Session),
            search(&[WritesFollowReads], WW, WR, Back::Session),
            search(&[SessionCycle], SESSION, 0, Back::Path(SESSIONS)),
        ],
    ),
    (
        TIMES,
        &[search(&[StaleRead], MISSES | TIMED, 0, Back::Time), search(&[RealTimeCycle], TIME, 0, Back::Path(TIMES))],
    ),
];
/// Lengths of paths that are tried one after another, so that short circles are found first.
const LENGTHS: [u32; 5] = [1, 2, 3, 5, u32::MAX];
/// Edges that a search follows for each length and component, beside some for each of its nodes.
const EDGES_MAX: usize = 2_000_000;
/// Edges that a search follows for each node of a component.
const EDGES_PER_NODE: usize = 40;

/// Finds circles of all kinds.
pub(crate) fn find_cycles(graph: &Graph, index: &Index<'_>, cases: &mut Cases<'_>) {
    let nodes = graph.nodes();
    // All others are inside these: most histories have none.
    let outer = graph.components(u8::MAX, &vec![1; nodes]);
    if outer.is_empty() {
        return;
    }
    let mut scope = vec![0; nodes];
    for (number, component) in (1..).zip(&outer) {
        component.iter().for_each(|node| scope[*node as usize] = number);
    }
    let mut finder =
        Finder { graph, index, home: vec![0; 2 * nodes], reached: Vec::new(), round: 0, queue: Vec::new() };
    finder.reached.resize(2 * nodes, (0, 0, Step { from: 0, to: 0, version: NONE, label: 0 }));
    let mut number = 0;
    let mut is_explained = false;
    for (labels, searches) in &SEARCHES {
        let components = if *labels == NONADJACENT {
            graph.components_nonadjacent(&scope)
        } else {
            let mut components = graph.components(*labels, &scope);
            // Nodes as states that were not reached by an anti-dependency.
            components.iter_mut().flatten().for_each(|node| *node *= 2);
            components
        };
        for states in components {
            number += 1;
            states.iter().for_each(|state| finder.home[*state as usize] = number);
            for search in *searches {
                // Any circle through sessions or time would do: it says something only if nothing else does.
                let is_any = search.start & (SESSION | TIME) != 0;
                if let Some((kind, cycle)) = Some(search)
                    .filter(|_| !(is_any && is_explained))
                    .and_then(|search| finder.find(&states, number, search))
                {
                    is_explained = true;
                    cases.offer_cycle(kind, &cycle);
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
    reached: Vec<(u32, u32, Step)>,
    /// Number of the search for a path.
    round: u32,
    queue: Vec<u32>,
}

impl Finder<'_> {
    fn find(&mut self, states: &[u32], home: u32, search: &Search) -> Option<(AnomalyKind, Vec<Step>)> {
        let budget = EDGES_MAX + EDGES_PER_NODE * states.len();
        let is_path = matches!(search.back, Back::Path(_) | Back::Nonadjacent);
        for length in LENGTHS.into_iter().take(if is_path { LENGTHS.len() } else { 1 }) {
            let mut left = budget;
            for state in states {
                for edge in self.graph.from(state / 2) {
                    if left == 0 {
                        break;
                    }
                    left -= 1;
                    let Some(first) = self.step(*state, edge, search.start, home, search.back) else { continue };
                    let cycles = if is_path {
                        self.path(&first, home, search, length, &mut left)
                    } else {
                        self.direct(&first, search, &mut left)
                    };
                    let Some(cycle) = cycles.map(contracted) else { continue };
                    let is_dependent = is_path && cycle.iter().all(|step| step.label & ALL != 0);
                    let kind = if is_dependent { self.classify(&cycle) } else { Some(search.kinds[0]) };
                    if let Some(kind) = kind.filter(|kind| search.kinds.contains(kind)) {
                        return Some((kind, cycle));
                    }
                }
            }
        }
        None
    }

    /// An edge as a step, if it has one of the labels and stays in the component.
    fn step(&self, state: u32, edge: &Edge, labels: u8, home: u32, back: Back) -> Option<Step> {
        let is_nonadjacent = matches!(back, Back::Nonadjacent);
        if edge.label & labels == 0 || (is_nonadjacent && state % 2 == 1 && edge.label & MISSES != 0) {
            return None;
        }
        let both = edge.label & labels;
        let label = both & both.wrapping_neg();
        let to = edge.to * 2 + u32::from(is_nonadjacent && label & MISSES != 0);
        let step = Step { from: state / 2, to: edge.to, version: edge.version, label };
        (self.home[to as usize] == home).then_some(step)
    }

    /// Shortest path, of at most `length` edges, that closes a circle with a first step.
    fn path(&mut self, first: &Step, home: u32, search: &Search, length: u32, left: &mut usize) -> Option<Vec<Step>> {
        let (labels, is_nonadjacent) = match search.back {
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
                let labels = if depth == 0 && search.next != 0 { search.next } else { labels };
                let Some(step) = self.step(state, edge, labels, home, search.back) else { continue };
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

    fn way(&self, first: &Step, start: u32, goal: u32) -> Vec<Step> {
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
    fn direct(&self, first: &Step, search: &Search, left: &mut usize) -> Option<Vec<Step>> {
        let (label, is_before): (u8, &dyn Fn(u32, u32) -> bool) = match search.back {
            Back::Session => (SESSION, &|one, other| self.is_before_in_session(one, other)),
            _ => (TIME, &|one, other| self.index.acknowledged(one).is_some_and(|end| end < self.begin_ns(other))),
        };
        let close = |from| Step { from, to: first.from, version: NONE, label };
        if search.next == 0 {
            return is_before(first.to, first.from).then(|| vec![*first, close(first.to)]);
        }
        let edges = self.graph.from(first.to);
        *left = left.saturating_sub(edges.len());
        let second = edges.iter().find(|edge| edge.label & search.next != 0 && is_before(edge.to, first.from))?;
        let next = Step { from: first.to, to: second.to, version: second.version, label: search.next };
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

    /// Kind of a circle without edges of sessions and time; `None` if it is none of its own, or the lost update of a single row.
    fn classify(&self, cycle: &[Step]) -> Option<AnomalyKind> {
        // A walk that meets itself has a shorter circle in it.
        if (1..cycle.len()).any(|place| cycle[..place].iter().any(|step| step.from == cycle[place].from)) {
            return None;
        }
        let labels = cycle.iter().fold(0, |labels, step| labels | step.label);
        let is_miss = |place: usize| cycle[place % cycle.len()].label & MISSES != 0;
        let misses = (0..cycle.len()).filter(|place| is_miss(*place)).count();
        let is_item = labels & PREDICATE == 0;
        let item =
            |step: &Step| self.index.write(step.version).map_or(step.version, |write| self.index.initial(write.item));
        Some(match misses {
            0 => {
                if labels & WR == 0 {
                    G0
                } else {
                    G1c
                }
            }
            1 => {
                if is_item {
                    GSingleItem
                } else {
                    GSingle
                }
            }
            2 if cycle.len() == 2 && item(&cycle[0]) == item(&cycle[1]) => return None,
            _ if (0..cycle.len()).any(|place| is_miss(place) && is_miss(place + 1)) => {
                if is_item {
                    G2Item
                } else {
                    G2
                }
            }
            _ => {
                if is_item {
                    GNonadjacentItem
                } else {
                    GNonadjacent
                }
            }
        })
    }
}

/// A circle in which steps of session or time that follow each other are one, and moments are left out.
fn contracted(mut cycle: Vec<Step>) -> Vec<Step> {
    let is_order = |step: &Step| step.label & (SESSION | TIME) != 0;
    let first = cycle.iter().position(|step| !is_order(step)).unwrap_or_default();
    cycle.rotate_left(first);
    let mut short = Vec::<Step>::new();
    for step in cycle {
        match short.last_mut() {
            Some(last) if is_order(last) && is_order(&step) && last.label == step.label => last.to = step.to,
            _ => short.push(step),
        }
    }
    short
}
