//! Invariants of rows that must hold at each step of a run.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{EndReason, FailureCode, Instance, InstanceState};
use launcher_service::Limits;
use uuid::Uuid;

use crate::cluster::Cluster;
use crate::objects::text;
use crate::processes::START_TIMEOUT;
use crate::server::Server;
use crate::users::{Book, CLASS_LIMIT, TEACHER};

/// Maximum difference between two clocks that the checks tolerate.
pub(crate) const SKEW: SignedDuration = SignedDuration::from_secs(25);

/// The last seen state of the rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) all: BTreeMap<String, Instance>,
    pub(crate) revision: i64,
}

/// State of the cluster and of the users' requests, against which rows are checked.
pub(crate) struct Facts<'a> {
    pub(crate) server: &'a Server,
    pub(crate) cluster: &'a Cluster,
    pub(crate) book: &'a Book,
    /// Workshops that were deleted by hand.
    pub(crate) deleted: &'a std::collections::BTreeSet<String>,
    pub(crate) now: Timestamp,
}

/// Description of a violated invariant.
pub(crate) type Violation = String;

pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> Violation) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

impl Rows {
    /// Checks the new state of one row. Returns a trace line when its state changed.
    pub(crate) fn see(&mut self, row: Instance, facts: &Facts<'_>) -> Result<Option<String>, Violation> {
        let name = row.k8s_name.clone();
        ensure(row.revision > self.revision, || {
            format!("the revision of {name} must exceed the last one, but is {}", row.revision)
        })?;
        self.revision = row.revision;
        ensure(row.applied_version <= row.spec_version, || {
            format!("{name}: applied_version is greater than spec_version")
        })?;
        let before = self.all.insert(name.clone(), row.clone());
        if let Some(before) = &before {
            moved(before, &row)?;
        }
        explained(&row, before.as_ref(), facts)?;
        truly_gone(&row, before.as_ref(), facts)?;
        let state = before.map(|before| before.state);
        let said = format!("{name} is {:?} {:?} {:?}", row.state, row.end_reason, row.reason.map(|why| why.code));
        Ok((state != Some(row.state)).then_some(said))
    }

    /// Checks that the current rows exceed no limit of the launcher: instances of one person and of the class, starts, launch
    /// rate.
    pub(crate) fn within(&self, limits: &Limits, class_template: Uuid) -> Result<(), Violation> {
        let of_class = || self.all.values().filter(|row| row.template_id == class_template);
        let held = of_class().filter(|row| row.counts_against_limit()).count();
        ensure(held <= CLASS_LIMIT as usize, || format!("the class holds {held} workshops"))?;
        let stranger = of_class().find(|row| row.owner_email.as_str().starts_with("carol"));
        ensure(stranger.is_none(), || format!("{stranger:?} belongs to a person who is no member"))?;
        let mut held: BTreeMap<&str, u32> = BTreeMap::new();
        let mut starting = 0;
        for row in self.all.values() {
            starting += u32::from(row.state == InstanceState::Starting);
            *held.entry(row.owner_email.as_str()).or_default() += u32::from(row.counts_against_limit());
        }
        ensure(starting <= limits.max_concurrent_starts, || format!("{starting} workshops start at once"))?;
        for (person, held) in held {
            let limited = !person.starts_with("admin");
            ensure(!limited || held <= limits.max_instances_per_user, || format!("{person} holds {held} workshops"))?;
        }
        self.within_rate(limits)
    }

    /// Checks that no user except the admin launched more often than the rate limit allows.
    fn within_rate(&self, limits: &Limits) -> Result<(), Violation> {
        let mut launches: Vec<(&str, Timestamp)> =
            self.all.values().map(|row| (row.owner_email.as_str(), row.created_at)).collect();
        launches.retain(|(person, _)| !person.starts_with("admin"));
        launches.sort_unstable();
        for launches in launches.chunk_by(|(one, _), (other, _)| one == other) {
            let mut full_at = Timestamp::MIN;
            for (person, at) in launches {
                let taken = limits.rate().take(full_at, *at);
                full_at = taken.map_err(|_| format!("{person} launches too often: {launches:?}"))?;
            }
        }
        Ok(())
    }
}

/// True when a row may change from one state to another, possibly in several steps.
fn may_become(from: InstanceState, to: InstanceState) -> bool {
    use InstanceState::{Failed, Queued, Running, Starting, Suspended, Suspending, Terminated, Terminating};
    match from {
        Queued => true,
        Starting => to != Queued,
        Running => !matches!(to, Queued | Starting),
        Failed => matches!(to, Failed | Terminating | Terminated),
        Terminating => matches!(to, Terminating | Terminated),
        Terminated => to == Terminated,
        // No workshop of the simulation has a volume.
        Suspending | Suspended => false,
    }
}

fn moved(before: &Instance, after: &Instance) -> Result<(), Violation> {
    let name = &after.k8s_name;
    ensure(may_become(before.state, after.state), || {
        format!("{name} went from {:?} to {:?}", before.state, after.state)
    })?;
    let same = before.owner_email == after.owner_email
        && before.instance_id == after.instance_id
        && before.settings == after.settings
        && before.created_at == after.created_at;
    ensure(same, || format!("{name}: an immutable field has changed"))?;
    ensure(before.spec_version <= after.spec_version, || format!("{name}: spec_version has decreased"))?;
    ensure(before.end_reason.is_none() || before.end_reason == after.end_reason, || {
        format!("{name}: the reason of its end was {:?} and is {:?}", before.end_reason, after.end_reason)
    })?;
    ensure(before.started_at.is_none() || before.started_at == after.started_at, || {
        format!("{name}: it was ready at {:?}, and now it was at {:?}", before.started_at, after.started_at)
    })?;
    ensure(before.workshop_uid.is_none() || before.workshop_uid == after.workshop_uid, || {
        format!("{name}: its Workshop was {:?} and is {:?}", before.workshop_uid, after.workshop_uid)
    })?;
    ensure(before.expires_at <= after.expires_at, || format!("{name}: expires_at has moved to an earlier time"))
}

/// Checks that each end and each failure has a real cause.
fn explained(row: &Instance, before: Option<&Instance>, facts: &Facts<'_>) -> Result<(), Violation> {
    let name = &row.k8s_name;
    if row.state == InstanceState::Running {
        let complete = row.started_at.is_some() && row.expires_at.is_some() && row.report.url.is_some();
        ensure(complete, || format!("{name} runs without a time or an address"))?;
    }
    if before.is_some_and(|before| before.end_reason == row.end_reason) {
        return Ok(());
    }
    let asked = facts.book.ends_asked.get(name);
    let owner = row.owner_email.as_str().trim_end_matches("@example.org");
    let caused = match row.end_reason {
        None => true,
        Some(EndReason::Owner) => asked.is_some_and(|asked| asked.contains(owner)),
        Some(EndReason::Admin) => asked.is_some_and(|asked| asked.contains("admin")),
        Some(EndReason::Teacher) => owner != TEACHER && asked.is_some_and(|asked| asked.contains(TEACHER)),
        Some(EndReason::Lost) => facts.deleted.contains(name),
        Some(EndReason::Expired) => {
            let lifetime = SignedDuration::from_secs(i64::from(row.settings.lifetime_seconds));
            // Possibly the fleet ended the workshop before it received an extension. The earliest allowed end is
            // therefore the expiry without extensions.
            let since = row.started_at.or(row.dispatched_at);
            since.is_some_and(|since| since + lifetime <= facts.now + SKEW)
        }
        Some(EndReason::Failed) => may_fail(row, facts),
    };
    ensure(caused, || {
        let reason = row.reason.as_ref().map(|reason| reason.code);
        format!("{name} ended without that cause: {:?} {reason:?}", row.end_reason)
    })
}

/// Checks that a row that has just become terminated has no Workshop. Exception: the row did not know the uid yet, because
/// another launcher created the Workshop while this one found none. Such a Workshop is deleted soon, as `agree` checks.
fn truly_gone(row: &Instance, before: Option<&Instance>, facts: &Facts<'_>) -> Result<(), Violation> {
    let terminated = InstanceState::Terminated;
    if row.state != terminated
        || before.is_none_or(|before| before.state == terminated || before.workshop_uid.is_none())
    {
        return Ok(());
    }
    let objects = facts.server.look();
    let found = objects.get("workshops", &row.k8s_name).map(|object| text(object, "/metadata/uid"));
    let there = row.workshop_uid.is_some() && found == row.workshop_uid.as_deref();
    ensure(!there, || format!("{} is terminated, and its Workshop is there", row.k8s_name))
}

fn may_fail(row: &Instance, facts: &Facts<'_>) -> bool {
    let Some(reason) = &row.reason else { return false };
    if reason.code == FailureCode::StartTimeout {
        let patience = SignedDuration::try_from(START_TIMEOUT).unwrap();
        let late = row.dispatched_at.is_some_and(|since| since + patience <= facts.now + SKEW);
        return late && !has_run_for_long(row, facts);
    }
    facts.cluster.causes.get(&row.k8s_name).is_some_and(|causes| causes.contains(reason.code.as_str()))
}

/// True when the Workshop has been ready for so long that no watch or cache can still show it as not ready.
fn has_run_for_long(row: &Instance, facts: &Facts<'_>) -> bool {
    let objects = facts.server.look();
    let found = objects.get("workshops", &row.k8s_name);
    found.filter(|object| text(object, "/status/phase") == "Running").is_some_and(|object| {
        let ready_at: Option<Timestamp> = text(object, "/status/readyAt").parse().ok();
        ready_at.is_some_and(|ready_at| ready_at + SKEW < facts.now)
    })
}
