//! Invariants that must hold at the end of a run, some time after the last fault.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{Activity, ActivityAction, EndReason, Instance, InstanceState, Scope};
use launcher_operator::RESTARTED_AT;
use launcher_store::{ActivityFilter, Page};
use launcher_workshop::{Phase, Workshop, WorkshopSpec, labels, parameters_secret};

use crate::cluster::kinds_below;
use crate::objects::{is_leaving, owner, text};
use crate::rows::{Violation, ensure};
use crate::users::{TOKEN, USERS};
use crate::world::{LIMITS, World};

/// Maximum time between the expiry of a workload and its removal.
const GRACE: SignedDuration = SignedDuration::from_secs(20);

impl World {
    /// Checks that rows, Workshops and their dependent objects agree.
    pub(crate) async fn agree(&self) -> Result<(), Violation> {
        let rows = self.store.feed_since(Scope::Everyone, 0, 10_000).await.unwrap().listed;
        let rows: BTreeMap<String, Instance> =
            rows.into_iter().map(|listed| (listed.instance.k8s_name.clone(), listed.instance)).collect();
        let workshops = self.workshops();
        let starting = rows.values().filter(|row| row.state == InstanceState::Starting).count();
        for row in rows.values() {
            self.agrees(row, workshops.get(&row.k8s_name), starting)?;
        }
        for name in workshops.keys() {
            ensure(rows.contains_key(name), || format!("the Workshop {name} has no row"))?;
        }
        self.nothing_is_left(&workshops)?;
        self.listeners.know(&self.rows)
    }

    fn workshops(&self) -> BTreeMap<String, Workshop> {
        let all = self.server.look().of("workshops");
        let read = |object: &serde_json::Value| serde_json::from_value::<Workshop>(object.clone()).unwrap();
        all.iter().map(|object| (text(object, "/metadata/name").to_owned(), read(object))).collect()
    }

    fn agrees(&self, row: &Instance, workshop: Option<&Workshop>, starting: usize) -> Result<(), Violation> {
        let name = &row.k8s_name;
        let queued = row.state == InstanceState::Queued;
        let full = starting >= usize::try_from(LIMITS.max_concurrent_starts).unwrap();
        ensure(!queued || full, || format!("{name} is queued although the limit of concurrent starts is not reached"))?;
        ensure(row.state != InstanceState::Terminating, || format!("{name} is still terminating"))?;
        ensure(queued || row.applied_version == row.spec_version, || {
            format!("the last version of {name} was not applied to the fleet")
        })?;
        let known = self.rows.all.get(name).and_then(|row| row.workshop_uid.as_ref());
        ensure(known.is_none() || known == row.workshop_uid.as_ref(), || {
            format!("the Workshop of {name} was deleted and created again: its uid differs")
        })?;
        let Some(workshop) = workshop else {
            return ensure(!row.state.wants_workshop(), || format!("{name} is {:?} without a Workshop", row.state));
        };
        ensure(row.state.wants_workshop(), || format!("{name} is {:?} and has a Workshop", row.state))?;
        ensure(workshop.metadata.uid == row.workshop_uid, || format!("{name} has another's Workshop"))?;
        ensure(workshop.spec == WorkshopSpec::of(row), || format!("the Workshop {name} is not what its row wants"))?;
        ensure(workshop.metadata.labels == Some(labels()), || format!("the Workshop {name} has other labels"))?;
        self.has_secrets(workshop)?;
        self.is_restarted(row)?;
        let phase = workshop.status.as_ref().map(|status| status.phase);
        let over = matches!(phase, Some(Phase::Failed | Phase::Expired));
        ensure(!over, || format!("{name} is {:?} and its Workshop {phase:?}", row.state))?;
        let runs = phase == Some(Phase::Running);
        ensure(!runs || row.state == InstanceState::Running, || format!("{name} runs, and its row does not know"))
    }

    /// Checks that the Secret with the values of a Workshop exists, and belongs to it.
    fn has_secrets(&self, workshop: &Workshop) -> Result<(), Violation> {
        let name = workshop.metadata.name.as_deref().unwrap_or_default();
        let objects = self.server.look();
        let secret = objects.get("secrets", &parameters_secret(name));
        let is_right = |secret: &serde_json::Value| {
            Some(owner(secret)) == workshop.metadata.uid.as_deref() && secret["stringData"]["parameter.TOKEN"] == TOKEN
        };
        ensure(workshop.spec.secret_env == ["TOKEN"], || format!("the Workshop {name} names no secrets"))?;
        ensure(secret.is_some_and(|secret| is_right(secret)), || format!("the Workshop {name} lacks its Secret"))
    }

    /// Checks that the pod of an instance is not from before its last restart.
    fn is_restarted(&self, row: &Instance) -> Result<(), Violation> {
        let objects = self.server.look();
        let (Some(pod), Some(restarted_at)) = (objects.get("pods", &row.k8s_name), row.restarted_at) else {
            return Ok(());
        };
        let noted = &pod["metadata"]["annotations"][RESTARTED_AT];
        let created: Timestamp = text(pod, "/metadata/creationTimestamp").parse().unwrap();
        let is_successor = *noted == restarted_at.to_string() || created.as_second() > restarted_at.as_second();
        ensure(is_successor, || format!("{} was not restarted: its pod is from {created}", row.k8s_name))
    }

    /// Checks that no object is orphaned, and that no workload exists after its expiry.
    fn nothing_is_left(&self, workshops: &BTreeMap<String, Workshop>) -> Result<(), Violation> {
        let objects = self.server.look();
        let owners: Vec<&str> = workshops.values().filter_map(|one| one.metadata.uid.as_deref()).collect();
        for kind in kinds_below() {
            for object in objects.of(kind) {
                let name = text(&object, "/metadata/name");
                ensure(owners.contains(&owner(&object)), || format!("{kind} {name} is left behind"))?;
            }
        }
        let now = self.server.time.now();
        for pod in objects.of("pods").iter().filter(|pod| !is_leaving(pod)) {
            let name = text(pod, "/metadata/ownerReferences/0/name");
            let end = workshops.get(name).and_then(|one| one.spec.expiry(one.status.as_ref()?.ready_at));
            ensure(workshops.contains_key(name), || format!("a pod of {name} is left behind"))?;
            ensure(end.is_none_or(|end| now <= end + GRACE), || format!("{name} runs beyond its end"))?;
        }
        Ok(())
    }

    /// Checks that all launches and terminations confirmed by the API happened, and that each instance was requested.
    pub(crate) async fn promises(&self) -> Result<(), Violation> {
        let book = self.users.book();
        let (rows, mut named) = (&self.rows.all, Vec::new());
        for attempt in &book.attempts {
            let Some(name) = &attempt.told else { continue };
            let row =
                rows.get(name).ok_or_else(|| format!("{} was promised {name}, which is not there", attempt.person))?;
            let theirs = row.owner_email.as_str().starts_with(attempt.person) && row.template_id == attempt.template;
            ensure(theirs, || format!("{name} is not what {} asked for", attempt.person))?;
            ensure(!named.contains(&name), || format!("{name} was promised for two launches"))?;
            named.push(name);
        }
        for person in USERS {
            let theirs = rows.values().filter(|row| row.owner_email.as_str().starts_with(person));
            let more = theirs.filter(|row| !named.contains(&&row.k8s_name)).count();
            let open = |attempt: &&crate::users::LaunchAttempt| {
                attempt.person == person && attempt.told.is_none() && attempt.unanswered > 0
            };
            let open = book.attempts.iter().filter(open).count();
            ensure(more <= open, || {
                format!("{person} has {more} workshops too many, with {open} launches unanswered")
            })?;
        }
        for name in &book.ends_promised {
            let state = rows.get(name).map(|row| row.state);
            ensure(state == Some(InstanceState::Terminated), || format!("the end of {name} was promised: {state:?}"))?;
        }
        Ok(())
    }

    /// Checks that the activity log has one entry for each logged change, and no other entry.
    pub(crate) async fn logged(&self) -> Result<(), Violation> {
        let page = Page { limit: 10_000, after: None };
        let entries = self.store.activities(&ActivityFilter::default(), &page).await.unwrap();
        let entries: Vec<Activity> = entries.into_iter().map(|entry| entry.activity).collect();
        for row in self.rows.all.values() {
            self.told_of(row, &entries)?;
        }
        let subjects = entries.iter().filter(|entry| entry.owner_email.is_some() && !entry.action.is_of_class());
        let mut unknown = subjects.filter(|entry| !self.rows.all.contains_key(&entry.subject));
        ensure(unknown.next().is_none(), || "an activity log entry names an unknown instance".to_owned())
    }

    fn told_of(&self, row: &Instance, entries: &[Activity]) -> Result<(), Violation> {
        use ActivityAction::{Dismissed, Ended, Extended, Failed, Launched, Restarted};
        let name = &row.k8s_name;
        let count = |action| entries.iter().filter(|entry| entry.subject == *name && entry.action == action).count();
        let over = matches!(row.state, InstanceState::Terminated | InstanceState::Failed);
        let failed = row.end_reason == Some(EndReason::Failed);
        let dismissed = failed && row.state == InstanceState::Terminated;
        for (action, times) in [
            (Launched, 1),
            (Failed, usize::from(failed)),
            (Dismissed, usize::from(dismissed)),
            (Ended, usize::from(over && !failed)),
        ] {
            let found = count(action);
            ensure(found == times, || format!("the activity log says {found} times that {name} was {action:?}"))?;
        }
        let (promised, open) = self.users.book().extended.get(name).copied().unwrap_or_default();
        let (restarts, unsure) = self.users.book().restarted.get(name).copied().unwrap_or_default();
        let restarted = count(Restarted);
        ensure((restarts..=restarts + unsure).contains(&restarted), || {
            format!("the activity log says {restarted} times that {name} was restarted, and {restarts} were promised")
        })?;
        let extended = count(Extended);
        ensure((promised..=promised + open).contains(&extended), || {
            format!("the activity log says {extended} times that {name} was extended, and {promised} were promised")
        })
    }
}
