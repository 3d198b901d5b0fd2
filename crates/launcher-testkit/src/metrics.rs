//! Compares the metrics of a program with docs/metrics.md. Tests of crates that cannot depend on this crate include
//! this file.

use std::path::Path;
use std::{env, fs};

/// Asserts that docs/metrics.md lists the metrics in an answer of `/metrics`, with their labels, types and help texts.
/// With the variable `UPDATE_METRICS`, writes them instead. The names of all metrics begin with `program`.
///
/// # Panics
/// The page lists other metrics, or lists none of this program.
pub fn assert_documented(program: &str, metrics: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_at(page.find(&format!("| `{program}_")).unwrap());
    let (documented, after) = rest.split_at(rest.find("\n\n").map_or(rest.len(), |end| end + 1));
    let exposed: String = metrics.split("# HELP ").skip(1).map(row).collect();
    if env::var_os("UPDATE_METRICS").is_some() {
        fs::write(&path, [before, &exposed, after].concat()).unwrap();
    } else {
        assert_eq!(exposed, documented, "to write docs/metrics.md, run this test with UPDATE_METRICS=1");
    }
}

/// Returns the row for a metric. Its text begins with name and help text, then has the type, then the samples.
fn row(metric: &str) -> String {
    let mut lines = metric.lines();
    let (name, help) = lines.next().unwrap().split_once(' ').unwrap();
    let kind = lines.next().unwrap().rsplit(' ').next().unwrap();
    let total = if kind == "counter" { "_total" } else { "" };
    let sample = lines.find(|line| !line.starts_with('#')).unwrap();
    let (pairs, _) = sample.rsplit_once("=\"").unwrap_or_default();
    let names = pairs.split("=\"").filter_map(|pair| pair.rsplit(['{', ',']).next());
    let labels: Vec<_> = names.filter(|name| !["", "le"].contains(name)).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(", ")) };
    format!("| `{name}{total}{labels}` | {kind} | {} |\n", help.trim_end_matches('.'))
}
