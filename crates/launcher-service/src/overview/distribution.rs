//! Percentiles of many values, of which many are equal.

use std::collections::BTreeMap;

/// Values with their number of occurrences.
#[derive(Debug, Default)]
pub(super) struct Distribution(BTreeMap<i64, u64>);

impl Distribution {
    /// Adds a value `times` times.
    pub(super) fn add(&mut self, value: i64, times: u64) {
        *self.0.entry(value).or_default() += times;
    }

    /// Returns the smallest value that at least `percent` percent of all values do not exceed (nearest rank); `None`
    /// without values.
    pub(super) fn percentile(&self, percent: u64) -> Option<i64> {
        let rank = (self.0.values().sum::<u64>() * percent).div_ceil(100);
        let mut passed = 0;
        self.0.iter().find_map(|(value, times)| {
            passed += times;
            (*times > 0 && passed >= rank).then_some(*value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: &[i64]) -> Distribution {
        let mut distribution = Distribution::default();
        values.iter().for_each(|value| distribution.add(*value, 1));
        distribution
    }

    #[test]
    fn percentile_uses_the_nearest_rank() {
        // Textbook example of the nearest-rank method. The ranks among five values are 1, 2, 2, 3 and 5.
        let five = distribution(&[50, 15, 40, 20, 35]);
        let found = [5, 30, 40, 50, 95].map(|percent| five.percentile(percent));
        assert_eq!(found, [15, 20, 20, 35, 50].map(Some));
        assert_eq!(distribution(&[1, 2, 3, 4]).percentile(50), Some(2), "half of four is two");
    }

    #[test]
    fn percentile_of_one_value_is_that_value_and_of_no_values_is_none() {
        assert_eq!([1, 50, 95, 100].map(|percent| distribution(&[7]).percentile(percent)), [Some(7); 4]);
        assert_eq!(distribution(&[]).percentile(50), None);
    }

    #[test]
    fn percentile_counts_repeated_values() {
        let mut distribution = Distribution::default();
        distribution.add(10, 94);
        distribution.add(90, 4);
        distribution.add(90, 2);
        assert_eq!((distribution.percentile(94), distribution.percentile(95)), (Some(10), Some(90)));
    }
}
