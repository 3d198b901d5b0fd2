//! `GET /admin`: overview of the service, with figures and charts of the last 24 hours. The charts are SVG with
//! attributes and classes only, because the content security policy forbids inline styles.

use std::collections::HashMap;

use askama::Template;
use jiff::SignedDuration;
use launcher_domain::InstanceState;
use launcher_service::{Hour, LaunchStats, Overview, ReadyTimes};
use uuid::Uuid;

use crate::pages::view::Instant;
use crate::pages::{Language, PageResult, Shell, Text, Visitor, assets, page, workshops};
use crate::permission::{Allowed, ListAllInstances};

#[derive(Debug, Template)]
#[template(path = "admin/overview.html")]
struct OverviewPage {
    t: Language,
    shell: Shell,
    at: Instant,
    tiles: Vec<(InstanceState, u64)>,
    is_launched: bool,
    /// The charts; empty if no workshop was launched or in use in the last 24 hours.
    charts: Vec<Chart>,
    /// Name and statistics of each template.
    templates: Vec<(Uuid, String, LaunchStats)>,
    /// Beginning, launches and workshops in use of each of the last 24 hours, latest first.
    hours: Vec<(Instant, LaunchStats, u64)>,
}

pub(crate) async fn show(visitor: Allowed<ListAllInstances, Visitor>) -> PageResult {
    let t = visitor.t;
    let overview = visitor.launcher.overview(&visitor.caller).await?;
    let all = workshops::all_templates(&visitor).await?;
    let mut names: HashMap<Uuid, String> =
        all.into_iter().map(|template| (template.template_id, template.settings.name)).collect();
    // Most installations have no workshops that can be paused.
    let is_shown = |(state, count): &&(InstanceState, u64)| {
        *count > 0 || !matches!(state, InstanceState::Suspending | InstanceState::Suspended)
    };
    let hour = |hour: Hour| (Instant::new(t, hour.begins), hour.launched, hour.up);
    let template = |(id, stats)| (id, names.remove(&id).unwrap_or_default(), stats);
    let page_of = OverviewPage {
        t,
        shell: visitor.shell("admin-overview"),
        at: Instant::new(t, overview.at),
        tiles: overview.states.iter().filter(is_shown).copied().collect(),
        is_launched: overview.day.launches > 0,
        charts: charts(t, &overview),
        hours: overview.hours.into_iter().rev().map(hour).collect(),
        templates: overview.templates.into_iter().map(template).collect(),
    };
    page(&page_of)
}

fn charts(t: Language, overview: &Overview) -> Vec<Chart> {
    let up: Vec<u64> = overview.hours.iter().map(|hour| hour.up).collect();
    if overview.day.launches == 0 && up.iter().all(|up| *up == 0) {
        return Vec::new();
    }
    vec![launches(t, overview), in_use(t, &up), ready(t, overview)]
}

fn launches(t: Language, overview: &Overview) -> Chart {
    let day = &overview.day;
    let all: Vec<u64> = overview.hours.iter().map(|hour| hour.launched.launches).collect();
    let failed: Vec<u64> = overview.hours.iter().map(|hour| hour.launched.failures).collect();
    Chart {
        id: "launches",
        title: t.text("overview-launches"),
        figure: day.launches.to_string(),
        note: t.launches_note(day),
        summary: t.launches_summary(day, peak(&all)),
        keys: vec![("area", t.text("overview-key-launched")), ("area-bad", t.text("overview-key-failed"))],
        drawing: Drawing::of_counts(t, &all, Some(("area-bad", &failed))),
    }
}

fn in_use(t: Language, up: &[u64]) -> Chart {
    let now = up.last().copied().unwrap_or(0);
    let most = peak(up).map_or(0, |(most, _)| most);
    Chart {
        id: "in-use",
        title: t.text("overview-in-use"),
        figure: now.to_string(),
        note: t.with_one("overview-use-note", "most", most),
        summary: t.use_summary(now, peak(up)),
        keys: Vec::new(),
        drawing: Drawing::of_counts(t, up, None),
    }
}

fn ready(t: Language, overview: &Overview) -> Chart {
    let day = &overview.day;
    let times = |which: fn(ReadyTimes) -> SignedDuration| -> Vec<Option<SignedDuration>> {
        overview.hours.iter().map(|hour| hour.launched.ready.map(which)).collect()
    };
    let (half, most) = (times(|times| times.p50), times(|times| times.p95));
    let slowest = peak(&most.iter().map(|time| time.unwrap_or_default()).collect::<Vec<_>>());
    let millis = |times: &[Option<SignedDuration>]| -> Vec<Option<u64>> {
        times.iter().map(|time| time.map(|time| u64::try_from(time.as_millis()).unwrap_or(0))).collect()
    };
    Chart {
        id: "ready",
        title: t.text("overview-launch-to-ready"),
        figure: t.p50(day),
        note: t.ready_note(day),
        summary: t.ready_summary(day, slowest),
        keys: vec![("area", t.text("overview-key-p50")), ("area-back", t.text("overview-key-p95"))],
        drawing: slowest.and_then(|(slowest, _)| {
            Drawing::new(t.short(slowest), ("area-back", &millis(&most)), Some(("area", &millis(&half))))
        }),
    }
}

/// Height of a chart, in SVG units. The page scales the chart to the available space.
const HEIGHT: u64 = 64;
/// Distance between two neighbouring hours, in SVG units.
const STEP: usize = 10;
/// Number of hours with a value from which a chart is drawn: fewer do not show a course.
const FEWEST: usize = 3;

/// Figures of the last day, with a chart of its hours.
#[derive(Debug)]
struct Chart {
    /// Suffix of the HTML ids of the chart's elements.
    id: &'static str,
    title: Text,
    figure: String,
    note: String,
    summary: String,
    /// Legend: class and label of each area. Empty if there is one area.
    keys: Vec<(&'static str, Text)>,
    /// `None` if fewer than [`FEWEST`] hours have a value.
    drawing: Option<Drawing>,
}

/// The areas of a chart, back to front.
#[derive(Debug)]
struct Drawing {
    /// Value of the highest grid line, as text.
    top: String,
    areas: Vec<Area>,
}

/// The area below a line, as data of SVG paths.
#[derive(Debug, PartialEq, Eq)]
struct Area {
    class: &'static str,
    line: String,
    area: String,
}

impl Drawing {
    /// Draws counts. Every hour has one, and zero does not count as a value.
    fn of_counts(t: Language, all: &[u64], part: Option<(&'static str, &[u64])>) -> Option<Self> {
        let (most, _) = peak(all).filter(|_| all.iter().filter(|count| **count > 0).count() >= FEWEST)?;
        let counts = |counts: &[u64]| counts.iter().copied().map(Some).collect::<Vec<_>>();
        let part = part.map(|(class, part)| (class, counts(part)));
        let part = part.as_ref().map(|(class, part)| (*class, part.as_slice()));
        Self::new(t.number(most), ("area", &counts(all)), part)
    }

    /// Draws values, oldest hour first. The highest grid line is at the largest value of `whole`.
    fn new(
        top: String,
        whole: (&'static str, &[Option<u64>]),
        part: Option<(&'static str, &[Option<u64>])>,
    ) -> Option<Self> {
        let largest = whole.1.iter().flatten().copied().max().unwrap_or(0);
        let is_drawn = whole.1.iter().flatten().count() >= FEWEST;
        let areas = [Some(whole), part].into_iter().flatten();
        is_drawn.then(|| Self { top, areas: areas.map(|(class, values)| Area::new(class, values, largest)).collect() })
    }
}

impl Area {
    /// Connects the values. An hour without a value is passed over.
    fn new(class: &'static str, values: &[Option<u64>], largest: u64) -> Self {
        let point = |(hour, value): (usize, &Option<u64>)| {
            let height = value.as_ref()?.saturating_mul(HEIGHT) / largest.max(1);
            Some((hour * STEP, HEIGHT.saturating_sub(height)))
        };
        let points: Vec<_> = values.iter().enumerate().filter_map(point).collect();
        let line = points.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join("L");
        let (first, last) = (points.first().map_or(0, |first| first.0), points.last().map_or(0, |last| last.0));
        Self { class, area: format!("M{first},{HEIGHT}L{line}L{last},{HEIGHT}Z"), line: format!("M{line}") }
    }
}

/// Returns the largest value above zero, and its age in hours. If the largest value occurs more than once, its latest
/// occurrence counts.
fn peak<T: Copy + Ord + Default>(values: &[T]) -> Option<(T, usize)> {
    let latest_first = values.iter().rev().enumerate();
    let (ago, most) = latest_first.rev().max_by_key(|(_, value)| **value)?;
    (*most > T::default()).then_some((*most, ago))
}

impl Language {
    /// Formats a time to ready with at most two units: `2.4 s`, `48 s`, `3 min 20 s`, `1 h 5 min`.
    pub(crate) fn short(self, duration: SignedDuration) -> String {
        let (seconds, tenths) = (duration.as_secs(), duration.subsec_millis() / 100);
        let named = |key: &str, hours: i64, minutes: i64, seconds: String| {
            let values = [("hours", hours.into()), ("minutes", minutes.into()), ("seconds", seconds.into())];
            self.with(key, values)
        };
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, seconds @ 0..10) => {
                let point = self.text("overview-decimal-point");
                named("overview-seconds", 0, 0, format!("{seconds}{point}{tenths}"))
            }
            (0, 0, seconds) => named("overview-seconds", 0, 0, seconds.to_string()),
            (0, minutes, 0) => named("overview-minutes", 0, minutes, String::new()),
            (0, minutes, seconds) => named("overview-minutes-seconds", 0, minutes, seconds.to_string()),
            (hours, 0, _) => named("overview-hours", hours, 0, String::new()),
            (hours, minutes, _) => named("overview-hours-minutes", hours, minutes, String::new()),
        }
    }

    /// Formats the median of the times to ready; the placeholder for a missing figure if unknown.
    fn p50(self, stats: &LaunchStats) -> String {
        self.ready(stats.ready.map(|times| times.p50))
    }

    fn p95(self, stats: &LaunchStats) -> String {
        self.ready(stats.ready.map(|times| times.p95))
    }

    fn ready(self, time: Option<SignedDuration>) -> String {
        time.map_or_else(|| self.text("overview-none").into_owned(), |time| self.short(time))
    }

    /// Note below the number of launches. A percentage above zero is never shown as 0 %.
    fn launches_note(self, day: &LaunchStats) -> String {
        let values = |percent: u64| [("failures", day.failures.into()), ("percent", percent.into())];
        match day.failures * 100 / day.launches.max(1) {
            _ if day.failures == 0 => self.text("overview-none-failed").into_owned(),
            0 => self.with("overview-failed-few", values(0)),
            percent => self.with("overview-failed", values(percent)),
        }
    }

    fn ready_note(self, day: &LaunchStats) -> String {
        match day.ready {
            Some(times) => self.with("overview-ready-note", [("p95", self.short(times.p95).into())]),
            None => self.text("overview-not-ready-yet").into_owned(),
        }
    }

    fn launches_summary(self, day: &LaunchStats, peak: Option<(u64, usize)>) -> String {
        let values = [("launches", day.launches.into()), ("note", self.launches_note(day).into())];
        let summary = self.with("overview-launches-summary", values);
        self.with_peak(summary, "overview-launches-peak", peak.map(|(most, ago)| (most.to_string(), ago)))
    }

    fn use_summary(self, now: u64, peak: Option<(u64, usize)>) -> String {
        let summary = self.with("overview-use-summary", [("now", now.into())]);
        self.with_peak(summary, "overview-use-peak", peak.map(|(most, ago)| (most.to_string(), ago)))
    }

    fn ready_summary(self, day: &LaunchStats, peak: Option<(SignedDuration, usize)>) -> String {
        let Some(times) = day.ready else { return self.text("overview-never-ready").into_owned() };
        let values = [("p50", self.short(times.p50).into()), ("p95", self.short(times.p95).into())];
        let summary = self.with("overview-ready-summary", values);
        self.with_peak(summary, "overview-ready-peak", peak.map(|(most, ago)| (self.short(most), ago)))
    }

    /// Appends a sentence about the largest value and its age in hours.
    fn with_peak(self, summary: String, key: &str, peak: Option<(String, usize)>) -> String {
        let Some((most, hours)) = peak else { return summary };
        let when = self.with("overview-when", [("hours", hours.into())]);
        format!("{summary} {}", self.with(key, [("most", most.into()), ("when", when.into())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_areas_scale_to_the_largest_value() {
        let drawing = Drawing::of_counts(Language::english(), &[0, 250, 500, 1000], Some(("part", &[0, 0, 250, 0])));
        let Drawing { top, areas } = drawing.unwrap();
        assert_eq!(top, "1,000");
        let area = |class, line: &str, area: &str| Area { class, line: line.to_owned(), area: area.to_owned() };
        let expected = [
            area("area", "M0,64L10,48L20,32L30,0", "M0,64L0,64L10,48L20,32L30,0L30,64Z"),
            area("part", "M0,64L10,64L20,48L30,64", "M0,64L0,64L10,64L20,48L30,64L30,64Z"),
        ];
        assert_eq!(areas, expected);
    }

    #[test]
    fn chart_connects_values_over_hours_without_one() {
        let drawing = Drawing::new(String::new(), ("area", &[None, Some(2), None, Some(1), Some(0), None]), None);
        assert_eq!(drawing.unwrap().areas[0].area, "M10,64L10,0L30,32L40,64L40,64Z");
    }

    #[test]
    fn chart_of_fewer_than_three_values_is_not_drawn() {
        let t = Language::english();
        assert!(Drawing::of_counts(t, &[0, 5, 0, 9], None).is_none());
        assert!(Drawing::new(String::new(), ("area", &[None, Some(1), Some(1)]), None).is_none());
        assert!(Drawing::of_counts(t, &[1, 5, 0, 9], None).is_some());
    }

    #[test]
    fn chart_peak_is_latest_of_equal_values() {
        assert_eq!(peak(&[3, 9, 9, 0]), Some((9, 1)));
        assert_eq!(peak::<u64>(&[0, 0]), None);
        assert_eq!(peak::<u64>(&[]), None);
    }

    #[test]
    fn time_to_ready_is_shown_with_at_most_two_units() {
        let texts = [0, 2_499, 9_999, 10_000, 59_999, 60_000, 200_900, 3_600_000, 3_900_000, 3_660_000_000];
        let texts = texts.map(|millis| Language::english().short(SignedDuration::from_millis(millis)));
        let expected =
            ["0.0 s", "2.4 s", "9.9 s", "10 s", "59 s", "1 min", "3 min 20 s", "1 h", "1 h 5 min", "1016 h 40 min"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn low_failure_rate_is_not_shown_as_zero() {
        let day = |launches, failures| LaunchStats { launches, failures, ..LaunchStats::default() };
        let notes = [day(3, 0), day(1000, 1), day(3, 1), day(2, 2)].map(|day| Language::english().launches_note(&day));
        assert_eq!(notes, ["none failed", "1 failed (less than 1 %)", "1 failed (33 %)", "2 failed (100 %)"]);
    }
}
