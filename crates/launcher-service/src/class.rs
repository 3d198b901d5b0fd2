//! Use cases of a class: all instances of one template, for admins.

use jiff::Timestamp;
use launcher_domain::access::Action;
use launcher_domain::lifetime::{ExtendError, UntilExtension, extend_until};
use launcher_domain::{Caller, EmailAddress, InstanceState, Template};
use launcher_store::{InstanceFilter, ListedInstance, Page, StateFilter};
use uuid::Uuid;

use crate::change::Target;
use crate::error::{ServiceError, require};
use crate::launcher::Launcher;

/// Instances that are read from the database at once.
const BATCH: u32 = 100;

/// A template, and the number of its instances in each state.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassStates {
    /// The template.
    pub template: Template,
    /// Current number of instances by state in lifecycle order, without terminated instances.
    pub states: Vec<(InstanceState, u64)>,
}

/// Result of the extension of one instance of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassExtension {
    /// Name of the instance.
    pub k8s_name: String,
    /// Owner of the instance.
    pub owner_email: EmailAddress,
    /// Expiry after the extension; `None` if the instance does not run.
    pub expires_at: Option<Timestamp>,
    /// The outcome.
    pub outcome: ClassOutcome,
}

/// Outcome of the extension of one instance of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassOutcome {
    /// The instance was extended until the requested time.
    Extended,
    /// The instance was extended until its latest possible expiry, which is before the requested time.
    Shortened,
    /// The instance already lasted until the requested time or longer.
    Unchanged,
    /// The instance was not extended: it ended in the meantime, or has reached its latest possible expiry.
    Refused(ExtendError),
}

impl Launcher {
    /// Returns a template and the number of its current instances by state, for admins. Their list is
    /// [`Launcher::instances`] with the template in the filter.
    ///
    /// # Errors
    /// Forbidden, NotFound, Unavailable.
    pub async fn class_states(&self, caller: &Caller, template_id: Uuid) -> Result<ClassStates, ServiceError> {
        require(caller, Action::ManageClass)?;
        let template = self.template(caller, template_id).await?;
        let counts = self.0.store.count_template_states(caller, template_id).await?;
        let count = |state| counts.iter().find(|(counted, _)| *counted == state).map_or(0, |(_, count)| *count);
        let shown = InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Terminated);
        Ok(ClassStates { template, states: shown.map(|state| (state, count(state))).collect() })
    }

    /// Extends every running instance of a template until this time, for admins. Never shortens a lifetime, and never
    /// exceeds the maximum lifetime of an instance. Each extension is one change with its activity log entry, like
    /// [`Launcher::extend`]. Idempotent: after an error, a repeated call continues.
    ///
    /// Returns one result for each running instance, newest first. Instances that begin to run during the call may be
    /// absent.
    ///
    /// # Errors
    /// Forbidden, NotFound, Unavailable.
    pub async fn extend_class(
        &self,
        caller: &Caller,
        template_id: Uuid,
        until: Timestamp,
    ) -> Result<Vec<ClassExtension>, ServiceError> {
        require(caller, Action::ManageClass)?;
        self.template(caller, template_id).await?;
        let state = StateFilter::Only(InstanceState::Running);
        let filter = InstanceFilter { state, template_id: Some(template_id), ..InstanceFilter::default() };
        let (mut results, mut after) = (Vec::new(), None);
        loop {
            let batch = self.instances(caller, &filter, &Page { limit: BATCH, after }).await?;
            let Some(last) = batch.last() else { return Ok(results) };
            after = Some(last.instance.instance_id);
            for ListedInstance { instance, .. } in batch {
                results.push(self.extend_one(caller, instance.k8s_name, instance.owner_email, until).await?);
            }
        }
    }

    async fn extend_one(
        &self,
        caller: &Caller,
        k8s_name: String,
        owner_email: EmailAddress,
        until: Timestamp,
    ) -> Result<ClassExtension, ServiceError> {
        let now = self.0.clock.now();
        let mut outcome = ClassOutcome::Refused(ExtendError::NotRunning);
        let stored = self
            .change_instance(Target::ByCaller(caller, &k8s_name), |instance| {
                let (decided, after) = match extend_until(instance, until, now) {
                    UntilExtension::Extended(after) => (ClassOutcome::Extended, Some(*after)),
                    UntilExtension::Shortened(after) => (ClassOutcome::Shortened, Some(*after)),
                    UntilExtension::Unchanged => (ClassOutcome::Unchanged, None),
                    UntilExtension::Refused(error) => (ClassOutcome::Refused(error), None),
                };
                outcome = decided;
                Ok(after)
            })
            .await?;
        let running = stored.filter(|instance| instance.state == InstanceState::Running);
        let expires_at = running.and_then(|instance| instance.expires_at);
        Ok(ClassExtension { k8s_name, owner_email, expires_at, outcome })
    }
}
