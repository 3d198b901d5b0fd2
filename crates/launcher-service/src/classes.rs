//! Use cases of classes. A class is found only by its members and by admins: [`Launcher::class`] returns their access to it,
//! which all other use cases of a class take.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use launcher_domain::access::Action;
use launcher_domain::class::MAX_MEMBERS;
use launcher_domain::lifetime::Bound;
use launcher_domain::template::is_slug;
use launcher_domain::{
    Caller, Class, ClassAccess, ClassAction, ClassContent, ClassRole, EmailAddress, FieldRule, Instance, JsonObject,
    Member, MemberSource, is_member_name,
};
use launcher_store::{InstanceFilter, ListedInstance, MemberChange, Page};
use uuid::Uuid;

use crate::change::Target;
use crate::class_bulk::{Group, ending_by, extending};
use crate::class_file::check_namespace;
use crate::error::{ServiceError, require, require_in};
use crate::launcher::Launcher;

/// Maximum attempts to change a class. Only a concurrent change causes another attempt.
const ATTEMPTS: usize = 16;
/// Maximum number of classes on the start page of a person.
const OWN_CLASSES: u32 = 50;

/// A class as it is created.
#[derive(Debug, Clone)]
pub struct NewClass {
    /// Content: see [`ClassContent::read`].
    pub body: JsonObject,
    /// Teachers; the caller if empty. A caller who is no admin is always one of them.
    pub teachers: Vec<EmailAddress>,
}

/// A member as a teacher writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberDraft {
    pub email: EmailAddress,
    pub role: ClassRole,
    /// Name of the person; empty if unknown.
    pub name: String,
}

impl Launcher {
    /// Lists a page of the caller's classes, newest first; for an admin, of all classes.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn classes(&self, caller: &Caller, page: &Page) -> Result<Vec<ClassAccess>, ServiceError> {
        Ok(self.0.store.classes(caller, false, page).await?)
    }

    /// Returns the access of the caller to the class with this slug or identifier.
    ///
    /// # Errors
    /// NotFound when the class does not exist, or the caller is neither an admin nor a member; Unavailable.
    pub async fn class(&self, caller: &Caller, slug: &str) -> Result<ClassAccess, ServiceError> {
        if let Ok(class_id) = Uuid::try_parse(slug) {
            return self.0.store.class_by_id(caller, class_id).await?.ok_or(ServiceError::NotFound);
        }
        if !is_slug(slug) {
            return Err(ServiceError::NotFound);
        }
        self.0.store.class(caller, slug).await?.ok_or(ServiceError::NotFound)
    }

    /// Creates a class. Its first member is a teacher.
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn create_class(&self, caller: &Caller, new: &NewClass) -> Result<ClassAccess, ServiceError> {
        require(caller, Action::CreateClasses)?;
        let derives_slug = !ClassContent::has_slug(&new.body);
        if !derives_slug && !caller.is_admin() {
            return Err(ServiceError::invalid("/slug", FieldRule::OnlyAdmins));
        }
        let content = self.class_files().read_content(caller, &new.body).map_err(ServiceError::Invalid)?;
        let class = self.class_files().create(caller, content, derives_slug, &new.teachers, Vec::new()).await?;
        self.class(caller, &class.class_id.to_string()).await
    }

    /// Namespaces that a class can have.
    #[must_use]
    pub fn class_namespaces(&self) -> &[String] {
        self.0.fleets.class_namespaces()
    }

    /// Generates an identifier for a new row.
    #[must_use]
    pub fn draw_id(&self) -> Uuid {
        self.class_files().draw_id()
    }

    /// Replaces the content of a class. `expected_version` is the version that the caller read, if given.
    ///
    /// # Errors
    /// Forbidden, NotFound, Invalid, ClassVersionMismatch, Unavailable.
    pub async fn update_class(
        &self,
        access: &ClassAccess,
        body: &JsonObject,
        expected_version: Option<i64>,
    ) -> Result<ClassAccess, ServiceError> {
        require_in(access, ClassAction::Edit)?;
        let content = ClassContent::read(body, Some(&access.class().content)).map_err(ServiceError::Invalid)?;
        let (caller, mut before) = (access.caller(), access.clone());
        for _ in 0..ATTEMPTS {
            let class = before.class();
            if expected_version.is_some_and(|expected| expected != class.version) {
                return Err(ServiceError::ClassVersionMismatch);
            }
            if class.content == content {
                return Ok(before);
            }
            let refused = content.change_errors(caller, &class.content);
            let errors = [refused, content.unknown_sizes(Some(&class.content), self.sizes())].concat();
            if !errors.is_empty() {
                return Err(ServiceError::Invalid(errors));
            }
            if content.namespace != class.content.namespace {
                check_namespace(&content, self.class_namespaces())
                    .map_err(|error| ServiceError::Invalid(vec![error]))?;
            }
            let (version, updated_at) = (class.version + 1, self.0.clock.now());
            let after = Class { content: content.clone(), version, updated_at, ..class.clone() };
            // A creator who opens an archived class again has one class more.
            let is_limited = class.content.archived && !caller.is_admin() && class.created_by == *caller.email();
            let most = is_limited.then_some(self.0.limits.max_classes_per_creator);
            if self.0.store.save_class(class, &after, caller, most).await? {
                self.0.changed.notify_one();
                tracing::info!(class = %after.content.slug, by = %caller.email(), version, "class changed");
                return self.class(caller, &after.class_id.to_string()).await;
            }
            let again = self.0.store.class_by_id(caller, class.class_id).await?;
            before = again.ok_or(ServiceError::NotFound)?;
            require_in(&before, ClassAction::Edit)?;
        }
        Err(ServiceError::ClassVersionMismatch)
    }

    /// Returns the access of the caller to each class in which the caller has a role, newest first, at most 50 of them.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn own_classes(&self, caller: &Caller) -> Result<Vec<ClassAccess>, ServiceError> {
        Ok(self.0.store.classes(caller, true, &Page { limit: OWN_CLASSES, after: None }).await?)
    }

    /// Returns the members of a class, by address.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn members(&self, access: &ClassAccess) -> Result<Vec<Member>, ServiceError> {
        require_in(access, ClassAction::Watch)?;
        Ok(Member::of(self.0.store.memberships(access.class()).await?))
    }

    /// Adds members to a class, or replaces role and name of members of the roster, all or none. Returns all members.
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn set_members(
        &self,
        access: &ClassAccess,
        drafts: Vec<MemberDraft>,
    ) -> Result<Vec<Member>, ServiceError> {
        self.change_roster(access, drafts, &[]).await
    }

    /// Like [`Launcher::set_members`], and removes people whose only memberships are of the roster, like
    /// [`Launcher::remove_member`]. All or none, except for the end of workshops, which a repeated call continues.
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn change_roster(
        &self,
        access: &ClassAccess,
        drafts: Vec<MemberDraft>,
        removed: &[EmailAddress],
    ) -> Result<Vec<Member>, ServiceError> {
        require_in(access, ClassAction::ManageMembers)?;
        if drafts.iter().any(|draft| !is_member_name(&draft.name)) {
            return Err(ServiceError::invalid("/name", FieldRule::Name));
        }
        if drafts.len() > MAX_MEMBERS {
            return Err(ServiceError::invalid("", FieldRule::MemberCount));
        }
        let memberships =
            if removed.is_empty() { Vec::new() } else { self.0.store.memberships(access.class()).await? };
        let is_of_roster = |email: &&EmailAddress| {
            let mut of_person = memberships.iter().filter(|one| one.email == **email).peekable();
            of_person.peek().is_some()
                && of_person.all(|one| one.removed_at.is_some() || one.source == MemberSource::Roster)
        };
        let removed: BTreeSet<&EmailAddress> = removed.iter().filter(is_of_roster).collect();
        // The last draft of a person counts.
        let drafts: BTreeMap<_, _> = drafts.into_iter().map(|draft| (draft.email.clone(), draft)).collect();
        let membership = |draft| self.class_files().membership(access.class().class_id, draft);
        let set = drafts.into_values().map(|draft| MemberChange::Set { membership: membership(draft) });
        let remove = removed.iter().map(|email| MemberChange::Remove { email: (*email).clone() });
        let members = self.change_members(access, &set.chain(remove).collect::<Vec<_>>()).await?;
        for email in removed {
            self.end_workshops(access, email).await?;
        }
        Ok(members)
    }

    /// Removes a person from a class, and ends the person's workshops in it. Their saved files stay the person's. Idempotent:
    /// after an error, a repeated call continues.
    ///
    /// # Errors
    /// Forbidden, NotFound, Invalid, Unavailable.
    pub async fn remove_member(&self, access: &ClassAccess, email: &EmailAddress) -> Result<(), ServiceError> {
        require_in(access, ClassAction::ManageMembers)?;
        let memberships = self.0.store.memberships(access.class()).await?;
        let of_person: Vec<_> = memberships.iter().filter(|one| one.email == *email).collect();
        let is_current = of_person.iter().any(|one| one.removed_at.is_none());
        if of_person.is_empty() {
            return Err(ServiceError::NotFound);
        }
        // A repeated request continues to end the workshops.
        if is_current {
            self.change_members(access, &[MemberChange::Remove { email: email.clone() }]).await?;
        }
        self.end_workshops(access, email).await
    }

    async fn end_workshops(&self, access: &ClassAccess, email: &EmailAddress) -> Result<(), ServiceError> {
        let now = self.0.clock.now();
        let end = |instance: &Instance| ((), instance.terminate(ending_by(access, instance), now));
        self.change_all(&Group::of_removed_member(access, email), end).await.map(drop)
    }

    async fn change_members(
        &self,
        access: &ClassAccess,
        changes: &[MemberChange],
    ) -> Result<Vec<Member>, ServiceError> {
        let (caller, now) = (access.caller(), self.0.clock.now());
        let members = self.0.store.change_members(access.class(), changes, caller, now).await?;
        self.0.changed.notify_one();
        Ok(members)
    }

    /// Lists a page of the instances of a class, newest first: those of all members for callers who may watch, else the
    /// caller's own.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn class_instances(
        &self,
        access: &ClassAccess,
        filter: &InstanceFilter,
        page: &Page,
    ) -> Result<Vec<ListedInstance>, ServiceError> {
        Ok(self.0.store.instances(access.scope(), filter, page).await?)
    }

    /// Extends the lifetime of an instance of a class once. Only callers who may end it extend it beyond its maximum lifetime.
    ///
    /// # Errors
    /// Forbidden, NotFound, Extend, Unavailable.
    pub async fn extend_in_class(
        &self,
        access: &ClassAccess,
        k8s_name: &str,
        expected_expires_at: Option<Timestamp>,
        bound: Bound,
    ) -> Result<ListedInstance, ServiceError> {
        let action = extending(bound);
        require_in(access, action)?;
        let (target, now) = (Target::InClass(access, k8s_name, action), self.0.clock.now());
        self.change_listed(target, |instance| Ok(Some(instance.extend(expected_expires_at, bound, now)?))).await
    }

    /// Terminates an instance of a class, or dismisses a failed one. Idempotent.
    ///
    /// # Errors
    /// Forbidden, NotFound, Unavailable.
    pub async fn end_in_class(&self, access: &ClassAccess, k8s_name: &str) -> Result<ListedInstance, ServiceError> {
        require_in(access, ClassAction::End)?;
        let (target, now) = (Target::InClass(access, k8s_name, ClassAction::End), self.0.clock.now());
        self.change_listed(target, |instance| Ok(instance.terminate(ending_by(access, instance), now))).await
    }
}
