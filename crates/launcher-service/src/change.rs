//! Changing one row when others may change it at the same time.

use launcher_domain::{Instance, InstanceState};

use crate::{Launcher, ServiceError};

/// How often a change is tried again when somebody else was quicker. Nobody changes one row this often at once.
const ATTEMPTS: usize = 16;

impl Launcher {
    /// Changes a row as `decide` says, and again on the fresh row when somebody was quicker; then wakes whom the change
    /// concerns. `load` gives the row as it is now; `Ok(None)` of `decide` means that nothing is to be changed.
    ///
    /// Returns the row as it is afterwards, or `None` when there is none.
    pub(crate) async fn change<L, D>(&self, load: L, decide: D) -> Result<Option<Instance>, ServiceError>
    where
        L: AsyncFn() -> Result<Option<Instance>, ServiceError>,
        D: Fn(&Instance) -> Result<Option<Instance>, ServiceError>,
    {
        for _ in 0..ATTEMPTS {
            let Some(before) = load().await? else { return Ok(None) };
            let Some(after) = decide(&before)? else { return Ok(Some(before)) };
            if let Some(stored) = self.0.store.change_instance(&before, &after).await? {
                self.announce(&before, &stored);
                return Ok(Some(stored));
            }
        }
        Err(ServiceError::Internal("a row was changed by others again and again".into()))
    }

    fn announce(&self, before: &Instance, after: &Instance) {
        self.0.changed.notify_one();
        let room_for_another = before.state == InstanceState::Starting && after.state != InstanceState::Starting;
        if after.spec_version > after.applied_version || room_for_another {
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
