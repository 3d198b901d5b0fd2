//! Users who subscribe to the feed. Checks the events, their order, and that the last change of each row arrives.

use std::collections::BTreeMap;
use std::pin::Pin;

use futures_util::{FutureExt, Stream, StreamExt};
use launcher_domain::{Caller, InstanceState};
use launcher_service::{FeedEvent, Launcher};

use crate::rows::{Rows, Violation, ensure};
use crate::users::{USERS, caller};

/// One subscriber of the feed.
struct Listener {
    person: &'static str,
    caller: Caller,
    stream: Option<Pin<Box<dyn Stream<Item = FeedEvent> + Send>>>,
    /// Index of the launcher whose feed the listener reads.
    replica: usize,
    last: Option<i64>,
    /// Revision at which the subscription began. Of instances that changed earlier, the listener receives only those
    /// that have not ended.
    begun: i64,
    /// The latest revision of each row that the listener received.
    told: BTreeMap<String, i64>,
}

/// One listener for each user.
pub(crate) struct Listeners(Vec<Listener>);

impl Listeners {
    pub(crate) fn new() -> Self {
        let listener = |person| Listener {
            person,
            caller: caller(person),
            stream: None,
            replica: 0,
            last: None,
            begun: 0,
            told: BTreeMap::new(),
        };
        Self(USERS.into_iter().map(listener).collect())
    }

    /// Drops the connections to a killed launcher.
    pub(crate) fn lose(&mut self, replica: usize) {
        self.0.iter_mut().filter(|one| one.replica == replica).for_each(|one| one.stream = None);
    }

    /// Receives pending events. A listener without a connection opens one.
    pub(crate) fn listen(&mut self, replicas: &[(usize, Launcher)], rows: &Rows) -> Result<(), Violation> {
        for (count, listener) in self.0.iter_mut().enumerate() {
            if listener.stream.is_none()
                && let Some((replica, launcher)) = replicas.get(count % replicas.len().max(1))
            {
                listener.replica = *replica;
                listener.stream = Some(launcher.subscribe(&listener.caller, listener.last).boxed());
            }
            listener.listen()?;
            if listener.last.is_none() {
                listener.begun = rows.revision;
            }
        }
        Ok(())
    }

    /// Checks that every listener has received the last change of each row in its scope.
    pub(crate) fn know(&self, rows: &Rows) -> Result<(), Violation> {
        for listener in &self.0 {
            for row in rows.all.values() {
                let theirs = listener.caller.scope().includes(&row.owner_email);
                let told = listener.told.get(&row.k8s_name).copied().unwrap_or_default();
                let ended_before = row.state == InstanceState::Terminated && row.revision <= listener.begun;
                ensure(!theirs || told == row.revision || ended_before, || {
                    let (person, name) = (listener.person, &row.k8s_name);
                    format!("{person} received {name} at revision {told}, but its revision is {}", row.revision)
                })?;
            }
        }
        Ok(())
    }
}

impl Listener {
    fn listen(&mut self) -> Result<(), Violation> {
        while let Some(stream) = &mut self.stream {
            match stream.next().now_or_never() {
                None => return Ok(()),
                Some(None) => self.stream = None,
                Some(Some(event)) => self.take(&event)?,
            }
        }
        Ok(())
    }

    fn take(&mut self, event: &FeedEvent) -> Result<(), Violation> {
        let row = &event.listed.instance;
        let theirs = self.caller.scope().includes(&row.owner_email);
        ensure(theirs, || {
            format!("{} received {}, which is outside of the caller's scope", self.person, row.k8s_name)
        })?;
        self.last = self.last.max(Some(event.id));
        let told = self.told.entry(row.k8s_name.clone()).or_default();
        ensure(row.revision >= *told, || {
            format!(
                "{} received {} at revision {told}, and then at the older revision {}",
                self.person, row.k8s_name, row.revision
            )
        })?;
        *told = row.revision;
        Ok(())
    }
}
