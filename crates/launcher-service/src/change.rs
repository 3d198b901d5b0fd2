//! Changes of one row under concurrency.

use launcher_domain::{Act, Caller, EmailAddress, Instance, InstanceState};

use crate::{Launcher, ServiceError, traces};

/// Maximum attempts after concurrent changes. A single row does not see this many concurrent changes.
const ATTEMPTS: usize = 16;

/// A row to change, and on whose behalf.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// On behalf of a caller, who must be allowed to see the row.
    ByCaller(&'a Caller, &'a str),
    /// On behalf of a loop of the service.
    ByService(&'a str),
}

impl Target<'_> {
    /// Actor in the activity log; `None` for the service itself.
    fn actor(self) -> Option<EmailAddress> {
        match self {
            Self::ByCaller(caller, _) => Some(caller.email().clone()),
            Self::ByService(_) => None,
        }
    }
}

impl Launcher {
    /// Changes a row as `decide` requests, and retries on the fresh row after a concurrent change. Then wakes the
    /// loops concerned. `decide` returns `Ok(None)` to leave the row unchanged.
    ///
    /// Returns the resulting row, or `None` when no row exists.
    pub(crate) async fn change_instance<D>(
        &self,
        target: Target<'_>,
        decide: D,
    ) -> Result<Option<Instance>, ServiceError>
    where
        D: Fn(&Instance) -> Result<Option<Instance>, ServiceError>,
    {
        for _ in 0..ATTEMPTS {
            let Some(before) = self.load(target).await? else { return Ok(None) };
            let Some(after) = decide(&before)? else { return Ok(Some(before)) };
            let act = Act { actor_email: target.actor(), at: self.0.clock.now() };
            if let Some(stored) = self.0.store.change_instance(&before, &after, &act).await? {
                self.announce(&before, &stored);
                return Ok(Some(stored));
            }
        }
        Err(ServiceError::Internal("a row was changed by others again and again".into()))
    }

    async fn load(&self, target: Target<'_>) -> Result<Option<Instance>, ServiceError> {
        match target {
            Target::ByCaller(caller, k8s_name) => {
                Ok(self.0.store.instance(caller, k8s_name).await?.map(|listed| listed.instance))
            }
            Target::ByService(k8s_name) => Ok(self.0.store.observe_instance(k8s_name).await?),
        }
    }

    fn announce(&self, before: &Instance, after: &Instance) {
        self.0.changed.notify_one();
        self.0.metrics.record_change(before, after);
        traces::record_change(before, after, self.0.clock.now());
        let frees_start_slot = before.state == InstanceState::Starting && after.state != InstanceState::Starting;
        if after.spec_version > after.applied_version || frees_start_slot {
            self.0.dispatch.notify_one();
        }
        tracing::info!(
            instance = %after.k8s_name,
            from = before.state.as_str(),
            to = after.state.as_str(),
            end_reason = after.end_reason.map(|reason| reason.as_str()),
            failure = after.reason.as_ref().map(|reason| reason.code.as_str()),
            "instance changed"
        );
    }
}
