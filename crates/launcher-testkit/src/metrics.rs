//! Reads the metrics of a program, and the metrics in the documentation. Tests of crates that cannot depend on this
//! crate include this file.

use std::collections::BTreeSet;

/// Returns the metrics in docs/metrics.md whose names begin with `program`, with their types. The names are without
/// `_total`, as in the `# TYPE` lines of an answer of `/metrics`.
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

/// Returns the metrics in an answer of `/metrics`, with their types.
#[must_use]
pub fn exposed(metrics: &str) -> BTreeSet<(&str, &str)> {
    metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect()
}
