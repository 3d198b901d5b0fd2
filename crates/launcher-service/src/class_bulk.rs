//! Changes of many instances at once: of one template for admins, of a class for its teachers.

use launcher_domain::lifetime::Bound;
use launcher_domain::{
    Act, Caller, ClassAccess, ClassAction, ClassRole, EmailAddress, EndReason, Instance, InstanceState, Scope,
};
use launcher_store::{InstanceFilter, LaunchOutcome, Page, StateFilter};
use uuid::Uuid;

use crate::change::ATTEMPTS;
use crate::error::{ServiceError, require_in};
use crate::launch::{LaunchRequest, read};
use crate::launcher::Launcher;

/// Instances that are read and changed at once. One transaction changes them, so that a class of 500 does not wait for 500
/// commits, and other writes wait only for a part of the class.
const BATCH: u32 = 100;

/// Result of an action on all workshops of a class, or on all of its students, for one of them.
#[derive(Debug)]
pub struct BulkResult {
    pub owner_email: EmailAddress,
    /// Name of the instance; `None` for a launch without a new instance.
    pub k8s_name: Option<String>,
    pub outcome: BulkOutcome,
}

/// Outcome of an action for one instance or student.
#[derive(Debug)]
pub enum BulkOutcome {
    Done,
    /// Nothing to do: the student has a workshop of the template already, or the instance is ending already.
    Unchanged,
    Refused(ServiceError),
}

/// Instances that change together.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    scope: Scope<'a>,
    filter: InstanceFilter,
    caller: &'a Caller,
    permission: Option<(&'a ClassAccess, ClassAction)>,
}

impl<'a> Group<'a> {
    /// Returns the instances of a template that the caller may see.
    pub(crate) fn of_template(caller: &'a Caller, template_id: Uuid, state: StateFilter) -> Self {
        let filter = InstanceFilter::of_template(template_id, state);
        Self { scope: caller.scope(), filter, caller, permission: None }
    }

    /// Returns the instances of a class. Their change needs this permission.
    ///
    /// # Errors
    /// ClassRole.
    pub(crate) fn of_class(
        access: &'a ClassAccess,
        action: ClassAction,
        state: StateFilter,
    ) -> Result<Self, ServiceError> {
        require_in(access, action)?;
        let filter = InstanceFilter { state, ..InstanceFilter::default() };
        Ok(Self { scope: access.scope(), filter, caller: access.caller(), permission: Some((access, action)) })
    }

    /// Returns the instances in a class of a person whom the caller has removed. Their change needs no permission: a teacher who
    /// leaves has no role any more.
    pub(crate) fn of_removed_member(access: &'a ClassAccess, email: &EmailAddress) -> Self {
        let filter = InstanceFilter { owner_email: Some(email.clone()), ..InstanceFilter::default() };
        Self { scope: access.scope(), filter, caller: access.caller(), permission: None }
    }
}

impl Launcher {
    /// Suspends all running instances of a class that keep files. Idempotent.
    ///
    /// # Errors
    /// ClassRole, Unavailable. After an error, a repeated call continues.
    pub async fn suspend_class(&self, access: &ClassAccess) -> Result<Vec<BulkResult>, ServiceError> {
        let running = StateFilter::Only(InstanceState::Running);
        let (group, now) = (Group::of_class(access, ClassAction::End, running)?, self.0.clock.now());
        let suspend = |instance: &Instance| match instance.suspend(now) {
            Ok(after) => (BulkOutcome::Done, after),
            Err(error) => (BulkOutcome::Refused(error.into()), None),
        };
        Ok(results(self.change_all(&group, suspend).await?))
    }

    /// Ends all instances of a class, and dismisses the failed ones. Idempotent.
    ///
    /// # Errors
    /// ClassRole, Unavailable. After an error, a repeated call continues.
    pub async fn end_class(&self, access: &ClassAccess) -> Result<Vec<BulkResult>, ServiceError> {
        let (group, now) = (Group::of_class(access, ClassAction::End, StateFilter::Live)?, self.0.clock.now());
        let end = |instance: &Instance| {
            let after = instance.terminate(ending_by(access, instance), now);
            (if after.is_some() { BulkOutcome::Done } else { BulkOutcome::Unchanged }, after)
        };
        Ok(results(self.change_all(&group, end).await?))
    }

    /// Launches a template of the class for each student without an instance of it. The student is the owner, so the limits of
    /// the student apply, and those of the class. Idempotent.
    ///
    /// Returns one result for each student, by address.
    ///
    /// # Errors
    /// ClassRole, NotFound, TemplateInactive, TemplateNotAllowed, ClassNotBegun, ClassOver, Invalid (a parameter needs a value), Unavailable.
    pub async fn launch_for_class(
        &self,
        access: &ClassAccess,
        template_id: Uuid,
    ) -> Result<Vec<BulkResult>, ServiceError> {
        require_in(access, ClassAction::LaunchForMembers)?;
        let mut template = self.template(access, template_id).await?;
        if !template.active {
            return Err(ServiceError::TemplateInactive);
        }
        if let Some(closure) = access.class().content.closure(self.0.clock.now()) {
            return Err(closure.into());
        }
        self.require_allowed(access, &template)?;
        let values = read(&mut template, &LaunchRequest::default()).map_err(ServiceError::Invalid)?;
        let rules = self.rules_of(true, Some(access.limits_of_student()));
        let members = self.members(access).await?;
        let students = members.into_iter().filter(|member| member.role == ClassRole::Student);
        let mut results = Vec::new();
        for owner_email in students.map(|member| member.email) {
            let instance = self.draft(&owner_email, &template, &values, Some(access));
            let launched = self.0.store.launch(Some(access), &instance, &values.secrets, &rules, None).await?;
            let (k8s_name, outcome) = match launched {
                LaunchOutcome::Created(instance) => {
                    self.record_launch(&instance);
                    (Some(instance.k8s_name), BulkOutcome::Done)
                }
                LaunchOutcome::HasInstance => (None, BulkOutcome::Unchanged),
                refusal => (None, BulkOutcome::Refused(self.refusal(&owner_email, refusal))),
            };
            results.push(BulkResult { owner_email, k8s_name, outcome });
        }
        Ok(results)
    }

    /// Changes each instance of a group to the result of `decide`, which returns `None` to leave it unchanged. Returns the
    /// instances afterwards, newest first, with the decisions.
    pub(crate) async fn change_all<T>(
        &self,
        group: &Group<'_>,
        mut decide: impl FnMut(&Instance) -> (T, Option<Instance>),
    ) -> Result<Vec<(Instance, T)>, ServiceError> {
        let (mut results, mut page) = (Vec::new(), Page { limit: BATCH, after: None });
        loop {
            let batch = self.0.store.instances(group.scope, &group.filter, &page).await?;
            let Some(last) = batch.last() else { return Ok(results) };
            page.after = Some(last.instance.instance_id);
            let rows = batch.into_iter().map(|listed| listed.instance).collect();
            results.extend(self.change_batch(group, rows, &mut decide).await?);
        }
    }

    async fn change_batch<T>(
        &self,
        group: &Group<'_>,
        rows: Vec<Instance>,
        decide: &mut impl FnMut(&Instance) -> (T, Option<Instance>),
    ) -> Result<Vec<(Instance, T)>, ServiceError> {
        let (mut done, mut pending): (Vec<_>, Vec<_>) = (Vec::new(), rows.into_iter().enumerate().collect());
        for _ in 0..ATTEMPTS {
            let (mut changes, mut decided) = (Vec::new(), Vec::new());
            for (index, before) in pending.drain(..) {
                match decide(&before) {
                    (outcome, None) => done.push((index, before, outcome)),
                    (outcome, Some(after)) => {
                        changes.push((before, after));
                        decided.push((index, outcome));
                    }
                }
            }
            if changes.is_empty() {
                done.sort_by_key(|(index, ..)| *index);
                return Ok(done.into_iter().map(|(_, instance, outcome)| (instance, outcome)).collect());
            }
            let act = Act { actor_email: Some(group.caller.email().clone()), at: self.0.clock.now() };
            let stored = self.0.store.change_instances(&changes, group.permission, &act).await?;
            for (((index, outcome), (before, _)), stored) in decided.into_iter().zip(changes).zip(stored) {
                if let Some(after) = stored {
                    self.announce(&before, &after);
                    done.push((index, after, outcome));
                } else if let Some(now) = self.0.store.instance(group.scope, &before.k8s_name).await? {
                    pending.push((index, now.instance));
                }
            }
        }
        Err(ServiceError::exhausted())
    }
}

/// Returns the permission for an extension within this bound.
pub(crate) fn extending(bound: Bound) -> ClassAction {
    match bound {
        Bound::Maximum => ClassAction::Extend,
        Bound::Longest => ClassAction::End,
    }
}

/// Returns the reason of an end that a member of a class causes.
pub(crate) fn ending_by(access: &ClassAccess, instance: &Instance) -> EndReason {
    match (instance.owner_email == *access.caller().email(), access.caller().is_admin()) {
        (true, _) => EndReason::Owner,
        (false, true) => EndReason::Admin,
        (false, false) => EndReason::Teacher,
    }
}

fn results(changed: Vec<(Instance, BulkOutcome)>) -> Vec<BulkResult> {
    let result = |(Instance { owner_email, k8s_name, .. }, outcome)| BulkResult {
        owner_email,
        k8s_name: Some(k8s_name),
        outcome,
    };
    changed.into_iter().map(result).collect()
}
