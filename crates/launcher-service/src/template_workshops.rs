//! Use cases of all workshops of one template, for admins; and the extension of all workshops of a class.

use std::collections::BTreeMap;

use jiff::Timestamp;
use launcher_domain::access::Action;
use launcher_domain::lifetime::{Bound, ExtensionOutcome, extend_until};
use launcher_domain::{Caller, ClassAccess, ClassAction, EmailAddress, Instance, InstanceState, Template};
use launcher_store::{InstanceFilter, ListedInstance, Page, SortBy, SortOrder, StateFilter};
use uuid::Uuid;

use crate::class_bulk::Group;
use crate::error::{ServiceError, require};
use crate::instances::require_bound;
use crate::launcher::Launcher;

/// Instances that are read from the database at once.
const BATCH: u32 = 100;

/// A template, and the number of its instances in each state.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateStates {
    /// The template.
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
    /// Name of the instance.
    pub k8s_name: String,
    /// Owner of the instance.
    pub owner_email: EmailAddress,
    /// Expiry after the extension; `None` if the instance does not run.
    pub expires_at: Option<Timestamp>,
    /// The outcome.
    pub outcome: ExtensionOutcome,
}

const RUNNING: StateFilter = StateFilter::Only(InstanceState::Running);

fn of_template(template_id: Uuid, state: StateFilter) -> InstanceFilter {
    InstanceFilter { state, template_id: Some(template_id), ..InstanceFilter::default() }
}

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
        let last = self.sorted_instances(caller, &of_template(template_id, RUNNING), latest, None, 1).await?;
        Ok(TemplateStates {
            states,
            latest_end: last.first().and_then(|last| last.instance.expires_at),
            material_troubles: self.material_troubles(caller, &template).await?,
            template,
        })
    }

    async fn material_troubles(&self, caller: &Caller, template: &Template) -> Result<u64, ServiceError> {
        if template.settings.material.is_none() {
            return Ok(0);
        }
        let (mut troubles, mut after) = (0, None);
        while let Some(batch) = self.template_batch(caller, template.template_id, RUNNING, &mut after).await? {
            let has_trouble = |listed: &&ListedInstance| listed.instance.material_trouble().is_some();
            troubles += batch.iter().filter(has_trouble).count() as u64;
        }
        Ok(troubles)
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
        let action = match bound {
            Bound::Maximum => ClassAction::Extend,
            Bound::Longest => ClassAction::End,
        };
        self.extend_all(&Group::of_class(access, action, RUNNING)?, until, bound).await
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
        let (mut count, mut after) = (0, None);
        while let Some(batch) = self.template_batch(caller, template_id, StateFilter::Live, &mut after).await? {
            count += batch.iter().filter(|listed| listed.instance.raise_max_lifetime(maximum).is_some()).count();
        }
        Ok(count)
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

    /// Reads the next instances of a template after `after`; `None` if there are no more.
    async fn template_batch(
        &self,
        caller: &Caller,
        template_id: Uuid,
        state: StateFilter,
        after: &mut Option<Uuid>,
    ) -> Result<Option<Vec<ListedInstance>>, ServiceError> {
        let (filter, page) = (of_template(template_id, state), Page { limit: BATCH, after: *after });
        let batch = self.instances(caller, &filter, &page).await?;
        *after = batch.last().map(|last| last.instance.instance_id);
        Ok(after.is_some().then_some(batch))
    }
}
