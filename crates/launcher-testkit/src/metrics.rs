//! Metrics of a program, and metrics in the documentation. Tests of crates below this one include this file.

use std::collections::BTreeSet;

/// Metrics whose names have this prefix, with their types, from docs/metrics.md. The text format omits `_total` from a
/// counter's name.
///
/// # Panics
/// A row of the page has no name or no type.
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

/// Metrics in an answer of `/metrics`, with their types.
#[must_use]
pub fn exposed(metrics: &str) -> BTreeSet<(&str, &str)> {
    metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect()
}
