//! Bar charts of the last day as SVG: shapes with attributes and classes, nothing inline.

/// Height of the drawing, in its own units. The page scales it to the available room.
const HEIGHT: u64 = 64;
/// Distance between the left edges of two bars.
const STEP: usize = 10;
/// Minimum height of a bar, so that a small value stays visible beside a large one.
const LEAST: u64 = 2;

/// A chart, with its figures in words.
#[derive(Debug)]
pub(super) struct Chart {
    /// Suffix of the ids of its elements.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// The main figure.
    pub(super) figure: String,
    /// A short note below the figure.
    pub(super) note: String,
    /// Description of the drawing.
    pub(super) summary: String,
    /// Colours of the bars, and of their parts.
    pub(super) keys: Option<(Key, Key)>,
    pub(super) bars: Vec<Bar>,
}

/// A colour and its meaning.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) class: &'static str,
    pub(super) label: &'static str,
}

/// A rectangle on the base line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) class: &'static str,
    pub(super) x: usize,
    pub(super) y: u64,
    pub(super) height: u64,
}

/// Returns one bar for each hour, oldest first, with an optional part in another colour. The largest value has the full
/// height. A part never exceeds its whole.
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

/// Returns the largest value above zero, and its age in hours; the latest of equal values.
pub(super) fn peak<T: Copy + Ord + Default>(values: &[T]) -> Option<(T, usize)> {
    let latest_first = values.iter().rev().enumerate();
    let (ago, most) = latest_first.rev().max_by_key(|(_, value)| **value)?;
    (*most > T::default()).then_some((*most, ago))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_scale_to_largest_value_and_smallest_stays_visible() {
        let drawn = bars(("all", &[0, 1, 500, 1000]), Some(("some", &[0, 0, 250, 1])));
        let drawn: Vec<_> = drawn.iter().map(|bar| (bar.class, bar.x, bar.y, bar.height)).collect();
        let expected =
            [("all", 11, 62, 2), ("all", 21, 32, 32), ("all", 31, 0, 64), ("some", 21, 48, 16), ("some", 31, 62, 2)];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn zero_values_draw_no_bars() {
        assert_eq!(bars(("all", &[0; 24]), Some(("some", &[0; 24]))), []);
    }

    #[test]
    fn peak_is_latest_of_equal_values() {
        assert_eq!(peak(&[3, 9, 9, 0]), Some((9, 1)));
        assert_eq!(peak::<u64>(&[0, 0]), None);
        assert_eq!(peak::<u64>(&[]), None);
    }
}
