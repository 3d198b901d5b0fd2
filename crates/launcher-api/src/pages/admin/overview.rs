//! `GET /admin`: overview of the service, with figures of the last 24 hours.

use std::collections::HashMap;

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use jiff::SignedDuration;
use launcher_domain::InstanceState;
use launcher_service::{Hour, LaunchStats, Overview};
use uuid::Uuid;

use super::chart::{Chart, Key, bars, peak};
use crate::pages::html::{PageResult, page, shell};
use crate::pages::texts::overview as words;
use crate::pages::view::{Instant, Shell};
use crate::pages::{assets, texts, workshops};
use crate::permission::{Allowed, ListAllInstances};
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "admin/overview.html")]
struct OverviewPage {
    shell: Shell,
    at: Instant,
    tiles: Vec<Tile>,
    /// True if any workshop was launched in the last 24 hours.
    is_launched: bool,
    /// The charts; empty if no workshop was launched or in use in the last 24 hours.
    charts: Vec<Chart>,
    templates: Vec<TemplateRow>,
    /// One row for each of the last 24 hours, latest first.
    hours: Vec<HourRow>,
}

/// A state, and the number of instances in this state.
#[derive(Debug)]
struct Tile {
    state: InstanceState,
    label: &'static str,
    count: u64,
}

/// Figures of the launches of one template or one hour, as text.
#[derive(Debug)]
struct Row {
    launches: u64,
    failures: u64,
    p50: String,
    p95: String,
}

#[derive(Debug)]
struct TemplateRow {
    template_id: Uuid,
    name: String,
    running: u64,
    day: Row,
}

#[derive(Debug)]
struct HourRow {
    begins: Instant,
    up: u64,
    launched: Row,
}

/// Serves the overview.
pub(crate) async fn show(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ListAllInstances>,
) -> PageResult {
    let launcher = &state.launcher;
    let overview = launcher.overview(&caller).await?;
    let all = workshops::all_templates(launcher, &caller).await?;
    let names = all.into_iter().map(|template| (template.template_id, template.settings.name)).collect();
    let page_of = OverviewPage {
        shell: shell(&state, &caller, "admin-overview"),
        at: overview.at.into(),
        tiles: tiles(&overview),
        is_launched: overview.day.launches > 0,
        charts: charts(&overview),
        templates: template_rows(&overview, &names),
        hours: overview.hours.iter().rev().map(HourRow::from).collect(),
    };
    page(StatusCode::OK, &page_of)
}

fn tiles(overview: &Overview) -> Vec<Tile> {
    let tile =
        |(state, count): &(InstanceState, u64)| Tile { state: *state, label: texts::state_name(*state), count: *count };
    overview.states.iter().map(tile).collect()
}

fn template_rows(overview: &Overview, names: &HashMap<Uuid, String>) -> Vec<TemplateRow> {
    let row = |(template_id, stats): &(Uuid, LaunchStats)| TemplateRow {
        template_id: *template_id,
        name: names.get(template_id).cloned().unwrap_or_default(),
        running: stats.running,
        day: stats.into(),
    };
    overview.templates.iter().map(row).collect()
}

impl From<&LaunchStats> for Row {
    fn from(stats: &LaunchStats) -> Self {
        Self {
            launches: stats.launches,
            failures: stats.failures,
            p50: words::ready(stats.ready, |times| times.p50),
            p95: words::ready(stats.ready, |times| times.p95),
        }
    }
}

impl From<&Hour> for HourRow {
    fn from(hour: &Hour) -> Self {
        Self { begins: hour.begins.into(), up: hour.up, launched: (&hour.launched).into() }
    }
}

fn charts(overview: &Overview) -> Vec<Chart> {
    let up: Vec<u64> = overview.hours.iter().map(|hour| hour.up).collect();
    if overview.day.launches == 0 && up.iter().all(|up| *up == 0) {
        return Vec::new();
    }
    vec![launches(overview), in_use(&up), ready(overview)]
}

fn launches(overview: &Overview) -> Chart {
    let day = &overview.day;
    let all: Vec<u64> = overview.hours.iter().map(|hour| hour.launched.launches).collect();
    let failed: Vec<u64> = overview.hours.iter().map(|hour| hour.launched.failures).collect();
    Chart {
        id: "launches",
        title: words::LAUNCHES,
        figure: day.launches.to_string(),
        note: words::launches_note(day),
        summary: words::launches_summary(day, peak(&all)),
        keys: Some((
            Key { class: "bar", label: words::KEY_LAUNCHED },
            Key { class: "bar-bad", label: words::KEY_FAILED },
        )),
        bars: bars(("bar", &all), Some(("bar-bad", &failed))),
    }
}

fn in_use(up: &[u64]) -> Chart {
    let now = up.last().copied().unwrap_or(0);
    let most = peak(up).map_or(0, |(most, _)| most);
    Chart {
        id: "in-use",
        title: words::IN_USE,
        figure: now.to_string(),
        note: words::use_note(most),
        summary: words::use_summary(now, peak(up)),
        keys: None,
        bars: bars(("bar", up), None),
    }
}

fn ready(overview: &Overview) -> Chart {
    let day = &overview.day;
    let times = |which: fn(&Hour) -> Option<SignedDuration>| -> Vec<SignedDuration> {
        overview.hours.iter().map(|hour| which(hour).unwrap_or_default()).collect()
    };
    let p50 = times(|hour| Some(hour.launched.ready?.p50));
    let p95 = times(|hour| Some(hour.launched.ready?.p95));
    let millis = |times: &[SignedDuration]| -> Vec<u64> {
        times.iter().map(|time| u64::try_from(time.as_millis()).unwrap_or(0)).collect()
    };
    Chart {
        id: "ready",
        title: words::LAUNCH_TO_READY,
        figure: words::ready(day.ready, |times| times.p50),
        note: words::ready_note(day),
        summary: words::ready_summary(day, peak(&p95)),
        keys: Some((Key { class: "bar", label: words::KEY_P50 }, Key { class: "bar-back", label: words::KEY_P95 })),
        bars: bars(("bar-back", &millis(&p95)), Some(("bar", &millis(&p50)))),
    }
}
