//! Changes of one row, with a retry after a concurrent change of the same row.

use launcher_domain::{Act, Caller, ClassAccess, ClassAction, EmailAddress, Instance, InstanceState};
use launcher_store::ListedInstance;

use crate::error::ServiceError;
use crate::launcher::Launcher;
use crate::traces;

/// Maximum attempts to change one row. Each attempt fails only after a concurrent change of the same row, so the limit
/// is not reached in practice.
pub(crate) const ATTEMPTS: usize = 16;

/// Name of the row to change, and the actor that changes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// A caller changes the row. The row must be within the scope of the caller.
    ByCaller(&'a Caller, &'a str),
    /// A member of a class changes the row. The row must be within the member's scope in the class. The change needs the
    /// permission also when it is stored.
    InClass(&'a ClassAccess, &'a str, ClassAction),
    /// A loop of the service changes the row.
    ByService(&'a str),
}

impl Target<'_> {
    /// Actor in the activity log; `None` for the service itself.
    pub(crate) fn actor(self) -> Option<EmailAddress> {
        match self {
            Self::ByCaller(caller, _) => Some(caller.email().clone()),
            Self::InClass(access, ..) => Some(access.caller().email().clone()),
            Self::ByService(_) => None,
        }
    }
}

impl Launcher {
    /// Changes a row to the result of `decide`, and then wakes the dispatch and feed loops. After a concurrent change,
    /// this function reads the row again and retries. `decide` returns `Ok(None)` to leave the row unchanged.
    ///
    /// Returns the resulting row, or `None` when no row exists.
    pub(crate) async fn change_instance<D>(
        &self,
        target: Target<'_>,
        mut decide: D,
    ) -> Result<Option<Instance>, ServiceError>
    where
        D: FnMut(&Instance) -> Result<Option<Instance>, ServiceError>,
    {
        for _ in 0..ATTEMPTS {
            let Some(before) = self.load(target).await? else { return Ok(None) };
            let Some(after) = decide(&before)? else { return Ok(Some(before)) };
            let act = Act { actor_email: target.actor(), at: self.0.clock.now() };
            let stored = match target {
                Target::InClass(access, _, action) => {
                    let changes = [(before.clone(), after)];
                    let stored = self.0.store.change_instances(&changes, Some((access, action)), &act).await?;
                    stored.into_iter().flatten().next()
                }
                Target::ByCaller(..) | Target::ByService(_) => {
                    self.0.store.change_instance(&before, &after, &act).await?
                }
            };
            if let Some(stored) = stored {
                self.announce(&before, &stored);
                return Ok(Some(stored));
            }
        }
        Err(ServiceError::exhausted())
    }

    /// Changes a row like [`Launcher::change_instance`], for an answer. The instance must not be in the queue after the change.
    pub(crate) async fn change_listed<D>(&self, target: Target<'_>, decide: D) -> Result<ListedInstance, ServiceError>
    where
        D: FnMut(&Instance) -> Result<Option<Instance>, ServiceError>,
    {
        self.change_instance(target, decide).await?.map(ListedInstance::from).ok_or(ServiceError::NotFound)
    }

    pub(crate) async fn load(&self, target: Target<'_>) -> Result<Option<Instance>, ServiceError> {
        match target {
            Target::ByCaller(caller, k8s_name) => {
                Ok(self.0.store.instance(caller, k8s_name).await?.map(|listed| listed.instance))
            }
            Target::InClass(access, k8s_name, _) => {
                Ok(self.0.store.instance(access.scope(), k8s_name).await?.map(|listed| listed.instance))
            }
            Target::ByService(k8s_name) => Ok(self.0.store.observe_instance(k8s_name).await?),
        }
    }

    pub(crate) fn announce(&self, before: &Instance, after: &Instance) {
        self.0.changed.notify_one();
        self.0.metrics.record_change(before, after);
        traces::record_change(before, after, self.0.clock.now());
        let frees_start_slot = before.state == InstanceState::Starting && after.state != InstanceState::Starting;
        let is_queued = after.state == InstanceState::Queued;
        if after.spec_version > after.applied_version || frees_start_slot || is_queued {
            self.0.dispatch.notify_one();
        }
        if after.waits_for_snapshot() {
            self.0.ending.notify_one();
        }
        tracing::info!(
            workshop = %after.k8s_name,
            from = before.state.as_str(),
            to = after.state.as_str(),
            end_reason = after.end_reason.map(|reason| reason.as_str()),
            failure = after.reason.as_ref().map(|reason| reason.code.as_str()),
            "instance changed"
        );
    }
}
