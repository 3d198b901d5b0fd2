//! Texts for numbers of instances.

use launcher_service::InstanceCount;

use crate::pages::language::Language;

impl Language {
    /// States how many instances match a filter. A count of a long history includes only the newest instances.
    pub(crate) fn instance_count(self, count: InstanceCount, is_search: bool) -> String {
        let limit = ("limit", self.number(count.max_examined).into());
        match (count.is_complete, is_search) {
            (true, _) => self.with_one("instance-count", "count", count.matches),
            (false, true) => self.with("instance-count-newest", [("count", count.matches.into()), limit]),
            (false, false) => self.with("instance-count-more", [limit]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_count_is_a_lower_bound() {
        let text = |matches, is_complete, is_search| {
            let count = InstanceCount { matches, is_complete, max_examined: 20_000 };
            Language::english().instance_count(count, is_search)
        };
        let texts = [text(1, true, false), text(128, true, true), text(20_001, false, false), text(7, false, true)];
        let expected =
            ["1 instance", "128 instances", "More than 20,000 instances", "7 among the newest 20,000 instances"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn number_has_the_separator_of_its_language() {
        let text = |code, number| Language::with_code(code).unwrap().number(number);
        assert_eq!(
            ["en", "de", "fr"].map(|code| text(code, 1_234_567)),
            ["1,234,567", "1.234.567", "1\u{a0}234\u{a0}567"]
        );
        assert_eq!([0, 999, 1000].map(|number| text("en", number)), ["0", "999", "1,000"]);
    }
}
