//! Texts for numbers of instances.

use launcher_service::InstanceCount;

use crate::pages::language::Language;

impl Language {
    /// States how many instances match a filter. A count of a long history includes only the newest instances.
    pub(crate) fn instance_count(self, count: InstanceCount, is_search: bool) -> String {
        match (count.is_complete, is_search) {
            (true, _) => self.with_one("instance-count", "count", count.matches),
            (false, true) => self.with_one("instance-count-newest", "count", count.matches),
            (false, false) => self.text("instance-count-more").into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_count_is_a_lower_bound() {
        let text = |matches, is_complete, is_search| {
            Language::english().instance_count(InstanceCount { matches, is_complete }, is_search)
        };
        let texts = [text(1, true, false), text(128, true, true), text(20_001, false, false), text(7, false, true)];
        let expected =
            ["1 instance", "128 instances", "More than 20,000 instances", "7 among the newest 20,000 instances"];
        assert_eq!(texts, expected);
    }
}
