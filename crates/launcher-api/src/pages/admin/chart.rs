//! Bar charts of the last 24 hours, as SVG with attributes and classes only: the content security policy forbids inline
//! styles.

use crate::pages::language::Text;

/// Height of a chart, in SVG units. The page scales the chart to the available space.
const HEIGHT: u64 = 64;
/// Distance between the left edges of two neighbouring bars, in SVG units.
const STEP: usize = 10;
/// Minimum height of a bar, in SVG units, so that a small value stays visible beside a large value.
const LEAST: u64 = 2;

/// A bar chart, with its figures in words.
#[derive(Debug)]
pub(super) struct Chart {
    /// Suffix of the HTML ids of the chart's elements.
    pub(super) id: &'static str,
    pub(super) title: Text,
    /// The main figure above the chart.
    pub(super) figure: String,
    /// A short note below the figure.
    pub(super) note: String,
    /// Description of the chart for screen readers.
    pub(super) summary: String,
    /// Legend: the colours of the bars and of their parts. `None` if the bars have one colour.
    pub(super) keys: Option<(Key, Key)>,
    pub(super) bars: Vec<Bar>,
}

/// An entry of the legend: a colour and its meaning.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) class: &'static str,
    pub(super) label: Text,
}

/// A bar, or a part of a bar: a rectangle that stands on the base line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) class: &'static str,
    pub(super) x: usize,
    pub(super) y: u64,
    pub(super) height: u64,
}

/// Returns one bar for each hour, oldest first, with an optional part in another colour. The bar of the largest value
/// has the full height. A part is never taller than its bar.
pub(super) fn bars(whole: (&'static str, &[u64]), part: Option<(&'static str, &[u64])>) -> Vec<Bar> {
    let largest = whole.1.iter().copied().max().unwrap_or(0);
    let rows = [Some(whole), part];
    let row = |(class, values): (&'static str, &[u64])| {
        let bar = move |(hour, value): (usize, &u64)| {
            let height = (value.saturating_mul(HEIGHT) / largest.max(1)).clamp(LEAST, HEIGHT);
            (*value > 0).then(|| Bar { class, x: hour * STEP + 1, y: HEIGHT - height, height })
        };
        values.iter().enumerate().filter_map(bar).collect::<Vec<_>>()
    };
    rows.into_iter().flatten().flat_map(row).collect()
}

/// Returns the largest value above zero, and its age in hours. If the largest value occurs more than once, its latest
/// occurrence counts.
pub(super) fn peak<T: Copy + Ord + Default>(values: &[T]) -> Option<(T, usize)> {
    let latest_first = values.iter().rev().enumerate();
    let (ago, most) = latest_first.rev().max_by_key(|(_, value)| **value)?;
    (*most > T::default()).then_some((*most, ago))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_bars_scale_to_largest_value_and_smallest_stays_visible() {
        let drawn = bars(("all", &[0, 1, 500, 1000]), Some(("some", &[0, 0, 250, 1])));
        let drawn: Vec<_> = drawn.iter().map(|bar| (bar.class, bar.x, bar.y, bar.height)).collect();
        let expected =
            [("all", 11, 62, 2), ("all", 21, 32, 32), ("all", 31, 0, 64), ("some", 21, 48, 16), ("some", 31, 62, 2)];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn chart_draws_no_bars_for_zero_values() {
        assert_eq!(bars(("all", &[0; 24]), Some(("some", &[0; 24]))), []);
    }

    #[test]
    fn chart_peak_is_latest_of_equal_values() {
        assert_eq!(peak(&[3, 9, 9, 0]), Some((9, 1)));
        assert_eq!(peak::<u64>(&[0, 0]), None);
        assert_eq!(peak::<u64>(&[]), None);
    }
}
