//! Use cases of all workshops of one template, for admins; and the extension of all workshops of a class.

use std::collections::BTreeMap;

use jiff::Timestamp;
use launcher_domain::access::Action;
use launcher_domain::lifetime::{Bound, ExtensionOutcome, extend_until};
use launcher_domain::{Caller, ClassAccess, EmailAddress, Instance, InstanceState, Template};
use launcher_store::{InstanceFilter, Page, SortBy, SortOrder, StateFilter};
use uuid::Uuid;

use crate::class_bulk::{Group, extending};
use crate::error::{ServiceError, require};
use crate::instances::require_bound;
use crate::launcher::Launcher;

/// Instances that are read from the database at once.
const BATCH: u32 = 100;

/// A template, and the number of its instances in each state.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateStates {
    pub template: Template,
    /// Current number of instances by state in lifecycle order, without terminated instances.
    pub states: Vec<(InstanceState, u64)>,
    /// Latest expiry of its running instances.
    pub latest_end: Option<Timestamp>,
    /// Number of its instances whose course material could not be loaded, or has files in conflict. Zero if the template has
    /// no course material.
    pub material_troubles: u64,
}

/// Result of the extension of one instance among many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    pub k8s_name: String,
    pub owner_email: EmailAddress,
    /// Expiry after the extension; `None` if the instance does not run.
    pub expires_at: Option<Timestamp>,
    pub outcome: ExtensionOutcome,
}

const RUNNING: StateFilter = StateFilter::Only(InstanceState::Running);

impl Launcher {
    /// Returns a template and the number of its current instances by state, for admins. Their list is
    /// [`Launcher::instances`] with the template in the filter.
    ///
    /// # Errors
    /// Forbidden, NotFound, Unavailable.
    pub async fn template_states(&self, caller: &Caller, template_id: Uuid) -> Result<TemplateStates, ServiceError> {
        require(caller, Action::ManageWorkshops)?;
        let template = self.template(caller, template_id).await?;
        let counts = self.0.store.count_template_states(caller, template_id).await?;
        let count = |state| counts.iter().find(|(counted, _)| *counted == state).map_or(0, |(_, count)| *count);
        let shown = InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Terminated);
        let states = shown.map(|state| (state, count(state))).collect();
        let latest = SortOrder { by: SortBy::End, descending: true };
        let running = InstanceFilter::of_template(template_id, RUNNING);
        let last = self.sorted_instances(caller, &running, latest, None, 1).await?;
        let has_trouble = |instance: &Instance| instance.material_trouble().is_some();
        let material_troubles = match template.settings.material {
            Some(_) => self.count_matching(caller, &running, has_trouble).await? as u64,
            None => 0,
        };
        Ok(TemplateStates {
            states,
            latest_end: last.first().and_then(|last| last.instance.expires_at),
            material_troubles,
            template,
        })
    }

    /// Returns the number of running instances of each template, for admins. Omits templates without any.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn running_by_template(&self, caller: &Caller) -> Result<BTreeMap<Uuid, u64>, ServiceError> {
        require(caller, Action::ManageWorkshops)?;
        let mut sizes = BTreeMap::new();
        for count in self.0.store.count_live(caller, self.0.clock.now()).await? {
            if count.state == InstanceState::Running {
                *sizes.entry(count.template_id).or_default() += count.instances;
            }
        }
        Ok(sizes)
    }

    /// Extends every running instance of a template until this time, for admins. Never shortens a lifetime, and never
    /// exceeds the bound. Each extension is one change with its activity log entry, like
    /// [`Launcher::extend`]. Idempotent: after an error, a repeated call continues.
    ///
    /// Returns one result for each running instance, newest first. Instances that begin to run during the call may be
    /// absent.
    ///
    /// # Errors
    /// Forbidden, NotFound, Unavailable.
    pub async fn extend_template(
        &self,
        caller: &Caller,
        template_id: Uuid,
        until: Timestamp,
        bound: Bound,
    ) -> Result<Vec<Extension>, ServiceError> {
        require(caller, Action::ManageWorkshops)?;
        require_bound(caller, bound)?;
        self.template(caller, template_id).await?;
        self.extend_all(&Group::of_template(caller, template_id, RUNNING), until, bound).await
    }

    /// Extends every running instance of a class until this time, like [`Launcher::extend_template`]. Only callers who may end
    /// the instances extend them beyond their maximum lifetime.
    ///
    /// # Errors
    /// ClassRole, Unavailable.
    pub async fn extend_all_in_class(
        &self,
        access: &ClassAccess,
        until: Timestamp,
        bound: Bound,
    ) -> Result<Vec<Extension>, ServiceError> {
        self.extend_all(&Group::of_class(access, extending(bound), RUNNING)?, until, bound).await
    }

    async fn extend_all(
        &self,
        group: &Group<'_>,
        until: Timestamp,
        bound: Bound,
    ) -> Result<Vec<Extension>, ServiceError> {
        let now = self.0.clock.now();
        let extend = |instance: &Instance| extend_until(instance, until, bound, now);
        let result = |(Instance { k8s_name, owner_email, state, expires_at, .. }, outcome)| {
            let expires_at = expires_at.filter(|_| state == InstanceState::Running);
            Extension { k8s_name, owner_email, expires_at, outcome }
        };
        Ok(self.change_all(group, extend).await?.into_iter().map(result).collect())
    }

    /// Counts the instances of a template with a maximum lifetime below that of the template, for admins.
    ///
    /// # Errors
    /// Forbidden, NotFound, Unavailable.
    pub async fn count_below_maximum(&self, caller: &Caller, template_id: Uuid) -> Result<usize, ServiceError> {
        require(caller, Action::ManageWorkshops)?;
        let maximum = self.template(caller, template_id).await?.settings.max_lifetime_seconds;
        let live = InstanceFilter::of_template(template_id, StateFilter::Live);
        self.count_matching(caller, &live, |instance| instance.raise_max_lifetime(maximum).is_some()).await
    }

    /// Applies the maximum lifetime of a template to its instances with a lower maximum, for admins. Each change has its
    /// activity log entry. Idempotent: after an error, a repeated call continues. Returns the changed instances.
    ///
    /// # Errors
    /// Forbidden, NotFound, Unavailable.
    pub async fn apply_maximum(&self, caller: &Caller, template_id: Uuid) -> Result<Vec<Instance>, ServiceError> {
        require(caller, Action::ManageWorkshops)?;
        let maximum = self.template(caller, template_id).await?.settings.max_lifetime_seconds;
        let group = Group::of_template(caller, template_id, StateFilter::Live);
        let raise = |instance: &Instance| {
            let raised = instance.raise_max_lifetime(maximum);
            (raised.is_some(), raised)
        };
        let changed = self.change_all(&group, raise).await?.into_iter();
        Ok(changed.filter_map(|(instance, is_raised)| is_raised.then_some(instance)).collect())
    }

    /// Counts the instances of a filter that also match a condition, which the database cannot examine.
    async fn count_matching(
        &self,
        caller: &Caller,
        filter: &InstanceFilter,
        is_match: impl Fn(&Instance) -> bool,
    ) -> Result<usize, ServiceError> {
        let (mut count, mut page) = (0, Page { limit: BATCH, after: None });
        loop {
            let batch = self.instances(caller, filter, &page).await?;
            let Some(last) = batch.last() else { return Ok(count) };
            page.after = Some(last.instance.instance_id);
            count += batch.iter().filter(|listed| is_match(&listed.instance)).count();
        }
    }
}
