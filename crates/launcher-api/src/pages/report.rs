//! The report of an action on many workshops: the number of workshops for each outcome, and the result for each workshop.

use askama::Template;
use jiff::Timestamp;
use launcher_domain::lifetime::{Bound, ExtendError, ExtensionOutcome};
use launcher_service::{BulkOutcome, BulkResult, Extension};
use serde::Deserialize;

use crate::pages::language::Around;
use crate::pages::view::{Choice, Instant};
use crate::pages::{Language, Shell, Text, assets, notices};
use crate::problem::{Problem, ProblemCode};

/// Distance between two times to which a class can be extended, in seconds.
const STEP_SECONDS: i64 = 1800;
/// Number of full and half hours to which a class can be extended: those of 8 hours.
const STEPS: i64 = 16;

/// Form of an extension of many workshops, with the time in RFC 3339.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExtendAll {
    until: String,
    /// Not empty if the reader confirmed to exceed the maximum lifetime of the listed workshops.
    beyond_maximum: String,
}

impl ExtendAll {
    pub(crate) fn read(&self, t: Language) -> Result<(Timestamp, Bound), Problem> {
        let invalid = |_| Problem::new(ProblemCode::InvalidParameters, t.text("workshops-until-invalid"));
        Ok((self.until.parse().map_err(invalid)?, Bound::new(!self.beyond_maximum.is_empty())))
    }
}

#[derive(Debug, Template)]
#[template(path = "report.html")]
pub(crate) struct Report {
    t: Language,
    shell: Shell,
    /// Heading, with the time of an extension.
    heading: Done,
    name: String,
    /// Text of a report without rows.
    empty: Text,
    /// Label and number of workshops of each outcome.
    sums: Vec<(Text, usize)>,
    /// One row for each workshop or student: refusals first, then by owner.
    rows: Vec<Row>,
    beyond: Option<Beyond>,
    /// True if the reader may open the page of a workshop.
    has_links: bool,
    back: String,
    back_key: &'static str,
}

/// The form that extends beyond the maximum lifetime.
#[derive(Debug)]
struct Beyond {
    /// Owners of the workshops that end before the time because of their maximum lifetime.
    owners: Vec<String>,
    action: String,
    until: Instant,
    /// The time, as the form sends it.
    sent_until: String,
}

#[derive(Debug)]
struct Row {
    k8s_name: Option<String>,
    owner: String,
    result: Result<Done, Text>,
}

/// A sentence, with the time in it.
#[derive(Debug)]
struct Done {
    around: Around,
    until: Option<Instant>,
}

impl Done {
    fn text(text: impl Into<String>) -> Self {
        Self { around: Around { before: text.into(), after: String::new() }, until: None }
    }
}

/// Place of a report.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) shell: Shell,
    pub(crate) name: String,
    /// Path of the page that leads to the report.
    pub(crate) back: String,
    /// Key of the text of the link to it.
    pub(crate) back_key: &'static str,
}

impl Report {
    /// Returns the report of an extension. `beyond`: the path of the form that extends beyond the maximum lifetime, if the
    /// reader may do this.
    pub(crate) fn of_extension(
        t: Language,
        place: Place,
        results: &[Extension],
        (until, bound): (Timestamp, Bound),
        beyond: Option<String>,
    ) -> Self {
        let owners = at_maximum(results);
        let beyond = beyond.filter(|_| bound == Bound::Maximum && !owners.is_empty());
        let sum = |key: &str, is_counted: fn(ExtensionOutcome) -> bool| {
            (t.text(key), results.iter().filter(|result| is_counted(result.outcome)).count())
        };
        let sums = vec![
            sum("workshops-count-extended", |outcome| outcome == ExtensionOutcome::Extended),
            sum("workshops-count-shortened", |outcome| outcome == ExtensionOutcome::Shortened),
            sum("workshops-count-unchanged", |outcome| outcome == ExtensionOutcome::Unchanged),
            sum("workshops-count-refused", |outcome| matches!(outcome, ExtensionOutcome::Refused(_))),
        ];
        let heading = Done { around: t.around("workshops-result"), until: Some(Instant::new(t, until)) };
        let (until, sent_until) = (Instant::new(t, until), until.to_string());
        Self {
            empty: t.text("workshops-nothing-ready"),
            beyond: beyond.map(|action| Beyond { owners, action, until, sent_until }),
            ..Self::new(t, place, heading, sums, results.iter().map(|result| Row::of_extension(t, result)).collect())
        }
    }

    /// Returns the report of another action, with this heading, the label of its success, and that of no change.
    pub(crate) fn of_action(
        t: Language,
        place: Place,
        results: &[BulkResult],
        [heading, done, unchanged]: [&str; 3],
    ) -> Self {
        let sum = |key: &str, is_counted: fn(&BulkOutcome) -> bool| {
            (t.text(key), results.iter().filter(|result| is_counted(&result.outcome)).count())
        };
        let mut sums = vec![
            sum(done, |outcome| matches!(outcome, BulkOutcome::Done)),
            sum(unchanged, |outcome| matches!(outcome, BulkOutcome::Unchanged)),
            sum("all-count-refused", |outcome| matches!(outcome, BulkOutcome::Refused(_))),
        ];
        // Most actions change each of their workshops.
        sums.retain(|(_, count)| *count > 0);
        let row = |result: &BulkResult| Row {
            k8s_name: result.k8s_name.clone(),
            owner: result.owner_email.to_string(),
            result: match &result.outcome {
                BulkOutcome::Done => Ok(Done::text(t.text(done))),
                BulkOutcome::Unchanged => Ok(Done::text(t.text(unchanged))),
                BulkOutcome::Refused(error) => Err(notices::of_other(t, error).unwrap_or_else(|| t.text("try-again"))),
            },
        };
        Self::new(t, place, Done::text(t.text(heading)), sums, results.iter().map(row).collect())
    }

    fn new(t: Language, place: Place, heading: Done, sums: Vec<(Text, usize)>, mut rows: Vec<Row>) -> Self {
        rows.sort_by_cached_key(|row| (row.result.is_ok(), row.owner.clone()));
        let Place { shell, name, back, back_key } = place;
        Self {
            has_links: shell.is_admin(),
            shell: shell.returning_to(back.clone()),
            empty: t.text("all-nothing"),
            beyond: None,
            t,
            heading,
            name,
            sums,
            rows,
            back,
            back_key,
        }
    }
}

impl Row {
    fn of_extension(t: Language, extension: &Extension) -> Self {
        let done = |key: &str| match extension.expires_at {
            Some(until) => Ok(Done { around: t.around(key), until: Some(Instant::new(t, until)) }),
            None => Err(t.not_extended(ExtendError::NotRunning)),
        };
        let result = match extension.outcome {
            ExtensionOutcome::Extended => done("workshops-extended"),
            ExtensionOutcome::Shortened => done("workshops-shortened"),
            ExtensionOutcome::Unchanged => done("workshops-unchanged"),
            ExtensionOutcome::Refused(error) => Err(t.not_extended(error)),
        };
        Self { k8s_name: Some(extension.k8s_name.clone()), owner: extension.owner_email.to_string(), result }
    }
}

fn at_maximum(results: &[Extension]) -> Vec<String> {
    let is_at_maximum = |result: &&Extension| {
        matches!(
            result.outcome,
            ExtensionOutcome::Shortened | ExtensionOutcome::Refused(ExtendError::LifetimeLimitReached)
        )
    };
    let mut owners: Vec<String> =
        results.iter().filter(is_at_maximum).map(|result| result.owner_email.to_string()).collect();
    owners.sort();
    owners
}

/// Returns the times to which the class can be extended: the first half hour after its latest end, then 15, 30 and 60 minutes
/// later, and then each half hour. A class without running workshops counts as ending now.
pub(crate) fn times(t: Language, now: Timestamp, latest_end: Option<Timestamp>) -> Vec<Choice> {
    let end = latest_end.map_or(now, |end| end.max(now)).as_second();
    let first = (end.div_euclid(STEP_SECONDS) + 1) * STEP_SECONDS;
    let steps = (0..STEPS).map(|step| step * STEP_SECONDS);
    let mut offsets: Vec<i64> = steps.chain([STEP_SECONDS / 2]).collect();
    offsets.sort_unstable();
    let times = offsets.into_iter().filter_map(|offset| Timestamp::from_second(first + offset).ok());
    times.map(|time| Choice::new(time, t.time_of_day(time), false)).collect()
}
