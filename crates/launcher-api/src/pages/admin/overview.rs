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
use crate::pages::language::{Language, Text};
use crate::pages::view::{Instant, Shell};
use crate::pages::{assets, workshops};
use crate::permission::{Allowed, ListAllInstances};
use crate::state::AppState;

#[derive(Debug, Template)]
#[template(path = "admin/overview.html")]
struct OverviewPage {
    t: Language,
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
    label: Text,
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
    t: Language,
    Allowed { caller, .. }: Allowed<ListAllInstances>,
) -> PageResult {
    let launcher = &state.launcher;
    let overview = launcher.overview(&caller).await?;
    let all = workshops::all_templates(launcher, &caller).await?;
    let names = all.into_iter().map(|template| (template.template_id, template.settings.name)).collect();
    let page_of = OverviewPage {
        t,
        shell: shell(&state, &caller, t, "admin-overview"),
        at: Instant::new(t, overview.at),
        tiles: tiles(t, &overview),
        is_launched: overview.day.launches > 0,
        charts: charts(t, &overview),
        templates: template_rows(t, &overview, &names),
        hours: overview.hours.iter().rev().map(|hour| HourRow::new(t, hour)).collect(),
    };
    page(StatusCode::OK, &page_of)
}

fn tiles(t: Language, overview: &Overview) -> Vec<Tile> {
    let tile =
        |(state, count): &(InstanceState, u64)| Tile { state: *state, label: t.state_name(*state), count: *count };
    // Most installations have no workshops that can be paused.
    let is_shown = |(state, count): &&(InstanceState, u64)| {
        *count > 0 || !matches!(state, InstanceState::Suspending | InstanceState::Suspended)
    };
    overview.states.iter().filter(is_shown).map(tile).collect()
}

fn template_rows(t: Language, overview: &Overview, names: &HashMap<Uuid, String>) -> Vec<TemplateRow> {
    let row = |(template_id, stats): &(Uuid, LaunchStats)| TemplateRow {
        template_id: *template_id,
        name: names.get(template_id).cloned().unwrap_or_default(),
        running: stats.running,
        day: Row::new(t, stats),
    };
    overview.templates.iter().map(row).collect()
}

impl Row {
    fn new(t: Language, stats: &LaunchStats) -> Self {
        Self {
            launches: stats.launches,
            failures: stats.failures,
            p50: t.ready(stats.ready, |times| times.p50),
            p95: t.ready(stats.ready, |times| times.p95),
        }
    }
}

impl HourRow {
    fn new(t: Language, hour: &Hour) -> Self {
        Self { begins: Instant::new(t, hour.begins), up: hour.up, launched: Row::new(t, &hour.launched) }
    }
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
        keys: Some((
            Key { class: "bar", label: t.text("overview-key-launched") },
            Key { class: "bar-bad", label: t.text("overview-key-failed") },
        )),
        bars: bars(("bar", &all), Some(("bar-bad", &failed))),
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
        keys: None,
        bars: bars(("bar", up), None),
    }
}

fn ready(t: Language, overview: &Overview) -> Chart {
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
        title: t.text("overview-launch-to-ready"),
        figure: t.ready(day.ready, |times| times.p50),
        note: t.ready_note(day),
        summary: t.ready_summary(day, peak(&p95)),
        keys: Some((
            Key { class: "bar", label: t.text("overview-key-p50") },
            Key { class: "bar-back", label: t.text("overview-key-p95") },
        )),
        bars: bars(("bar-back", &millis(&p95)), Some(("bar", &millis(&p50)))),
    }
}
