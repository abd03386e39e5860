//! Directed graph with labelled edges in compact arrays, and its strongly connected components.

/// Write dependency: the target overwrote a version of the source.
pub(crate) const WW: u8 = 1;
/// Read dependency: the target read a version of the source.
pub(crate) const WR: u8 = 2;
/// Anti-dependency on a row: the target overwrote a version that the source read.
pub(crate) const RW: u8 = 4;
/// Anti-dependency on a predicate: the target made a row exist that the source found absent.
pub(crate) const PREDICATE: u8 = 8;
/// Order within a session.
pub(crate) const SESSION: u8 = 16;
/// Real time: the source was acknowledged before the target began.
pub(crate) const TIME: u8 = 32;
/// Anti-dependency that holds if versions of a row follow real time.
pub(crate) const TIMED: u8 = 64;

/// Anti-dependencies of either kind.
pub(crate) const MISSES: u8 = RW | PREDICATE;

/// Edge with its source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Version that was read or overwritten.
    pub(crate) version: u32,
    /// Labels; one of them in a cycle.
    pub(crate) label: u8,
}

/// Edge as it is stored at its source.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    pub(crate) version: u32,
    pub(crate) label: u8,
}

/// The graph.
#[derive(Debug)]
pub(crate) struct Graph {
    offsets: Vec<u32>,
    edges: Vec<Edge>,
}

impl Graph {
    pub(crate) fn new(nodes: usize, links: Vec<Link>) -> Self {
        let (offsets, order) = grouped(nodes, links.len(), |link| links[link].from as usize);
        let edge = |&link: &u32| {
            let Link { to, version, label, .. } = links[link as usize];
            Edge { to, version, label }
        };
        Self { offsets, edges: order.iter().map(edge).collect() }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Edges that leave a node.
    pub(crate) fn from(&self, node: u32) -> &[Edge] {
        &self.edges[self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize]
    }

    /// Strongly connected components of more than one state, by edges with one of `labels` between nodes of one `scope`; scope 0 is left
    /// out. State `2n` is node `n`. If `is_nonadjacent`, no two anti-dependencies follow each other: state `2n + 1` is node `n` reached
    /// by one.
    pub(crate) fn components(&self, labels: u8, scope: &[u32], is_nonadjacent: bool) -> Vec<Vec<u32>> {
        let states = 1 + u32::from(is_nonadjacent);
        let next = |state: u32, at: &mut u32| {
            let (node, missed) = (state / states, state % states == 1);
            let home = scope[node as usize];
            let allowed = if missed { labels & !MISSES } else { labels };
            let edges = self.from(node).get(*at as usize..).filter(|_| home != 0)?;
            let found = edges.iter().position(|edge| edge.label & allowed != 0 && scope[edge.to as usize] == home)?;
            *at += found as u32 + 1;
            Some(edges[found].to * states + u32::from(is_nonadjacent && edges[found].label & MISSES != 0))
        };
        let mut found = components(self.nodes() * states as usize, next);
        found.iter_mut().flatten().for_each(|state| *state *= 2 / states);
        found
    }
}

/// Numbers below `count` grouped by their key: for each key where its group begins, and the numbers in groups, in order within each.
pub(crate) fn grouped(keys: usize, count: usize, key: impl Fn(usize) -> usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; keys + 1];
    (0..count).for_each(|number| offsets[key(number) + 1] += 1);
    (0..keys).for_each(|place| offsets[place + 1] += offsets[place]);
    let (mut next, mut order) = (offsets.clone(), vec![0_u32; count]);
    for number in 0..count {
        let place = &mut next[key(number)];
        order[*place as usize] = number as u32;
        *place += 1;
    }
    (offsets, order)
}

/// Tarjan's algorithm without recursion. `next` returns a node's next successor and moves the cursor.
fn components(nodes: usize, next: impl Fn(u32, &mut u32) -> Option<u32>) -> Vec<Vec<u32>> {
    const NEW: u32 = 0;
    let (mut index, mut low) = (vec![NEW; nodes], vec![0_u32; nodes]);
    let mut is_open = vec![false; nodes];
    let (mut open, mut calls, mut found) = (Vec::new(), Vec::<(u32, u32)>::new(), Vec::new());
    let mut count = NEW;
    for root in 0..nodes as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, at)) = calls.last_mut() {
            let (node, place) = (*node, *node as usize);
            if *at == 0 && index[place] == NEW {
                count += 1;
                (index[place], low[place], is_open[place]) = (count, count, true);
                open.push(node);
            }
            if let Some(to) = next(node, at) {
                if index[to as usize] == NEW {
                    calls.push((to, 0));
                } else if is_open[to as usize] {
                    low[place] = low[place].min(index[to as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                low[*parent as usize] = low[*parent as usize].min(low[place]);
            }
            if low[place] == index[place] {
                let first = open.iter().rposition(|other| *other == node).unwrap_or_default();
                open[first..].iter().for_each(|closed| is_open[*closed as usize] = false);
                if open.len() - first > 1 {
                    found.push(open.split_off(first));
                } else {
                    open.truncate(first);
                }
            }
        }
    }
    found
}
