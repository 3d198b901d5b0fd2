//! Sentences of the pages that depend on a value of the domain, such as a state or a duration. Every other text is a
//! message that a template or handler names by its key.

use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::lifetime::ExtendError;
use launcher_domain::{
    FailureReason, FieldError, FilesAtEnd, InstanceState, MaterialFinding, SnapshotFailure, StartStep, TextKey,
};
use launcher_service::{InstanceCount, ListedInstance};

use crate::pages::roster::{MAX_ENTRIES, RosterError, Unreadable};
use crate::pages::{Language, Text};
use crate::problem::{ProblemCode, sentence};

/// Shown digits of a commit id.
const SHOWN_DIGITS: usize = 10;
/// Length of the SHA-256 of an archive. A commit id is shorter.
const SHA256_DIGITS: usize = 64;

/// Durations, times and numbers.
impl Language {
    /// Formats a duration in words: `2 hours 5 minutes`. From one minute on, it omits the seconds. Negative values count
    /// as zero. The script formats durations with `Intl`, with about the same result.
    pub(crate) fn duration(self, seconds: i64) -> String {
        let seconds = seconds.max(0);
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
        let counted = |(key, count): (&str, i64)| self.with(key, [("count", count.into())]);
        let parts =
            [("days", days), ("hours", hours), ("minutes", minutes)].into_iter().filter(|(_, count)| *count > 0);
        let joined = |first: String, second: String| {
            self.with("duration-joined", [("first", first.into()), ("second", second.into())])
        };
        parts.map(counted).reduce(joined).unwrap_or_else(|| counted(("seconds", seconds)))
    }

    /// Formats the time for which files are saved, in words.
    pub(crate) fn retention(self, time: Duration) -> String {
        self.duration(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
    }

    /// Formats the size of a file, rounded up: in kB below 1 MB, else in MB.
    pub(crate) fn size(self, bytes: u64) -> String {
        let (key, unit) = if bytes < 1_000_000 { ("size-kilobytes", 1000) } else { ("size-megabytes", 1_000_000) };
        self.with_one(key, "count", self.number(bytes.div_ceil(unit)))
    }

    /// Formats a number with the separator of thousands.
    pub(crate) fn number(self, number: u64) -> String {
        let (digits, separator) = (number.to_string(), self.text("thousands-separator"));
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
        groups.join(&separator)
    }

    /// Formats a date with a time. The script converts it to local time.
    pub(crate) fn date_and_time(self, at: Timestamp) -> String {
        at.strftime(&*self.text("date-and-time-format")).to_string()
    }

    /// Formats a time of day, for times close to now.
    pub(crate) fn time_of_day(self, at: Timestamp) -> String {
        at.strftime(&*self.text("time-of-day-format")).to_string()
    }

    /// States the lifetime of a template's workshops, and how far they can be extended.
    pub(crate) fn lasts(self, lifetime_seconds: u32, max_lifetime_seconds: u32) -> String {
        let lifetime = ("lifetime", self.duration(lifetime_seconds.into()).into());
        if max_lifetime_seconds > lifetime_seconds {
            let longest = ("longest", self.duration(max_lifetime_seconds.into()).into());
            self.with("lasts-extensible", [lifetime, longest])
        } else {
            self.with("lasts", [lifetime])
        }
    }

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

/// States, reasons and errors.
impl Language {
    /// Returns the text of a value of the domain. `key` has `{}` at the place of the value's name.
    pub(crate) fn named(self, key: &str, name: &str) -> Text {
        self.text(&key.replace("{}", name))
    }

    pub(crate) fn state_name(self, state: InstanceState) -> Text {
        self.named("state-{}", state.as_str())
    }

    /// Returns the name of an instance's state, with the queue position or the start step if known. `progress` is the
    /// progress of the step.
    pub(crate) fn state(
        self,
        ListedInstance { instance, queue_position, .. }: &ListedInstance,
        progress: Option<u32>,
    ) -> String {
        let name = self.state_name(instance.state);
        match (*queue_position, instance.report.start_step) {
            (Some(1), _) => self.with("state-next", [("state", name.into())]),
            (Some(position), _) => self.with("state-position", [("state", name.into()), ("position", position.into())]),
            (None, Some(step)) => {
                let step = self.start_step(step, progress);
                self.with("state-step", [("state", name.into()), ("step", step.into())])
            }
            (None, None) => name.into_owned(),
        }
    }

    /// Returns the text of a start step, with its progress if the fleet reports one. A download that has not begun has
    /// no percentage, nor has a downloaded image that is being unpacked.
    fn start_step(self, step: StartStep, progress: Option<u32>) -> Text {
        match (step, progress.filter(|progress| *progress > 0)) {
            (StartStep::WaitingForRoom, Some(position)) => {
                self.with_one("step-waiting-for-room-progress", "position", position).into()
            }
            (StartStep::PullingImage, Some(100)) => self.text("step-pulling-image-unpacking"),
            (StartStep::PullingImage, Some(percent)) => {
                self.with_one("step-pulling-image-progress", "percent", percent).into()
            }
            (step, _) => self.text(&format!("step-{}", step.as_str())),
        }
    }

    pub(crate) fn coded(self, text: &TextKey) -> String {
        self.with_all(&text.key, text.args.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Describes a failure. Shows the stored English text if a newer version wrote a code that this version does not
    /// know.
    pub(crate) fn failure_message(self, failure: &FailureReason) -> String {
        let keys = failure.message_keys();
        if !keys.iter().all(|text| self.has(&text.key)) {
            return failure.message.clone();
        }
        keys.iter().map(|text| self.coded(text)).collect::<Vec<_>>().join(" ")
    }

    /// Returns what the reader can do after a failure. Only admins see the remedies that need an admin.
    pub(crate) fn failure_remedy(self, failure: &FailureReason, is_admin: bool) -> String {
        let key = if is_admin { failure.remedy_key() } else { failure.user_remedy_key() };
        if self.has(&key.key) { self.coded(&key) } else { failure.remedy.clone() }
    }

    /// Names the author of a template; `None` for a template that no person wrote.
    pub(crate) fn created_by(self, email: Option<&str>) -> String {
        let author = email.map_or_else(|| self.text("editor-the-service"), |email| email.to_owned().into());
        self.with_one("editor-created-by", "author", author)
    }

    /// Sentence that the script announces shortly before expiry. The script replaces `{name}` and `{left}`.
    pub(crate) fn spoken_end(self) -> String {
        self.with("spoken-end", [("name", "{name}".into()), ("left", "{left}".into())])
    }

    /// Returns the result of a check of course material as a sentence.
    pub(crate) fn finding(self, finding: &MaterialFinding) -> String {
        let MaterialFinding { reference, version, files, bytes, message } = finding;
        let Some(version) = version.as_deref().filter(|_| message.is_none()) else {
            return message.clone().unwrap_or_default();
        };
        let short = version.chars().take(SHOWN_DIGITS).collect::<String>();
        let found = match reference {
            _ if version.len() == SHA256_DIGITS => self.text("editor-found-archive").into_owned(),
            Some(reference) => {
                self.with("editor-found-branch", [("ref", reference.as_str().into()), ("version", short.into())])
            }
            None => self.with_one("editor-found-commit", "version", short),
        };
        let (Some(files), Some(bytes)) = (files, bytes) else { return sentence(&found) };
        let counted = self.with("editor-found-files", [("files", (*files).into()), ("size", self.size(*bytes).into())]);
        self.with("editor-joined-facts", [("first", found.into()), ("second", counted.into())])
    }

    /// States how many catalog entries match a search.
    pub(crate) fn found(self, found: usize, offered: usize) -> String {
        self.with("found", [("found", found.into()), ("offered", offered.into())])
    }

    /// States what happens to the files of a workshop when it ends.
    pub(crate) fn files(self, files: FilesAtEnd) -> String {
        match files {
            FilesAtEnd::Kept(Some(time)) => self.with_one("files-are-kept-for", "time", self.retention(time)),
            FilesAtEnd::Kept(None) => self.text("files-are-kept").into_owned(),
            FilesAtEnd::Saved(time) => self.with_one("files-are-saved", "time", self.retention(time)),
            FilesAtEnd::NoneYet => self.text("files-none-yet").into_owned(),
            FilesAtEnd::Deleted => self.text("files-are-deleted").into_owned(),
        }
    }

    /// States the same of a template in some words.
    pub(crate) fn files_in_short(self, files: FilesAtEnd) -> String {
        match files {
            FilesAtEnd::Kept(_) => self.text("keeps-files").into_owned(),
            FilesAtEnd::Saved(time) => self.with_one("saves-files", "time", self.retention(time)),
            FilesAtEnd::NoneYet | FilesAtEnd::Deleted => self.text("deletes-files").into_owned(),
        }
    }

    /// States that files could not be saved, and why.
    pub(crate) fn not_saved(self, failure: Option<SnapshotFailure>) -> String {
        let reason = failure.map(|failure| self.text(&format!("snapshot-failure-{}", failure.as_str())));
        self.with_one("snapshot-failed", "reason", reason.unwrap_or_default())
    }

    /// Returns the reason why a running workshop has no button "Extend". `NotRunning` means that its expiry has passed.
    pub(crate) fn no_extension(self, error: ExtendError) -> Text {
        if error == ExtendError::NotRunning { self.text("no-extension-not-running") } else { self.not_extended(error) }
    }

    pub(crate) fn not_extended(self, error: ExtendError) -> Text {
        self.text(&format!("not-extended-{}", error.code()))
    }

    /// Returns the title and the text of an error page. `detail` is the problem's own text, used for problems without a
    /// message.
    pub(crate) fn error(self, code: ProblemCode, detail: String) -> (Text, Text) {
        let key = format!("error-{}", code.entry().page.unwrap_or(code.as_str()));
        if self.has(&key) {
            (self.text(&key), self.attribute(&key, "text"))
        } else {
            (self.text("error-other"), detail.into())
        }
    }

    /// Returns the name of a size. The names of the default sizes have translations.
    pub(crate) fn size_name(self, name: &str) -> Text {
        let key = format!("size-{name}");
        if self.has(&key) { self.text(&key) } else { name.to_owned().into() }
    }

    pub(crate) fn field_error(self, error: &FieldError) -> String {
        sentence(&self.coded(&error.key()))
    }

    /// Returns the sentence about an entry of a list that is no address.
    pub(crate) fn unreadable(self, entry: &Unreadable) -> String {
        self.with("classes-unreadable", [("line", entry.line.into()), ("entry", entry.text.as_str().into())])
    }

    /// Returns the sentence about a list that cannot be read.
    pub(crate) fn roster_error(self, error: &RosterError) -> String {
        match error {
            RosterError::TooManyEntries => self.with_one("workshops-too-many", "most", MAX_ENTRIES),
            RosterError::NoAddresses(columns) => self.with_one("roster-no-addresses", "columns", columns.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use launcher_domain::{ActivityAction, AppType, EndReason, FailureCode};

    use super::*;

    #[test]
    fn each_name_of_the_domain_has_a_text() {
        let names =
            |prefix: &str, all: &[&str]| -> Vec<String> { all.iter().map(|one| format!("{prefix}-{one}")).collect() };
        let keys = [
            names("activity", &ActivityAction::ALL.map(ActivityAction::as_str)),
            names("app", &AppType::ALL.map(AppType::as_str)),
            names("end", &EndReason::ALL.map(EndReason::as_str)),
            names("failure", &FailureCode::ALL.map(FailureCode::as_str)),
            names("state", &InstanceState::ALL.map(InstanceState::as_str)),
            names("step", &StartStep::ALL.map(StartStep::as_str)),
        ];
        let english = Language::english();
        let missing: Vec<&String> = keys.iter().flatten().filter(|key| !english.has(key)).collect();
        assert_eq!(missing, Vec::<&String>::new());
    }

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

    #[test]
    fn size_is_rounded_up_to_kilobytes_or_megabytes() {
        let text = |bytes| Language::english().size(bytes);
        let sizes = [0, 1, 1000, 1001, 999_999, 1_000_000, 5_300_000, 2 << 30];
        assert_eq!(sizes.map(text), ["0 kB", "1 kB", "1 kB", "2 kB", "1,000 kB", "1 MB", "6 MB", "2,148 MB"]);
        assert_eq!(Language::with_code("fr").unwrap().size(1_234_567_890), "1\u{a0}235\u{a0}Mo");
    }
}
