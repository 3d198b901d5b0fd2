//! The metrics that a program tells of, and those that the documentation lists. Tests of crates that stand below this one
//! borrow the file.

use std::collections::BTreeSet;

/// Each metric whose name begins so, with its kind, as docs/metrics.md lists them. The text format leaves `_total` out of
/// a counter's name.
///
/// # Panics
/// A row of the page has no name or no kind.
#[must_use]
pub fn documented(program: &str) -> BTreeSet<(&'static str, &'static str)> {
    let page = include_str!("../../../docs/metrics.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")).filter(|row| row.starts_with(program));
    rows.map(|row| {
        let mut cells = row.split(" | ");
        let name = cells.next().unwrap().split(['`', '{']).next().unwrap();
        (name.trim_end_matches("_total"), cells.next().unwrap())
    })
    .collect()
}

/// Each metric of an answer of `/metrics`, with its kind.
#[must_use]
pub fn told(metrics: &str) -> BTreeSet<(&str, &str)> {
    metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect()
}
