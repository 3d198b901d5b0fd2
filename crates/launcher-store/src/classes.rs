//! Classes and their members. A person who is not an admin finds only the classes in which the person has a role.

use std::sync::LazyLock;

use jiff::Timestamp;
use launcher_domain::class::MAX_MEMBERS;
use launcher_domain::names::earliest_uuid;
use launcher_domain::{
    Act, Activity, ActivityAction, Caller, Class, ClassAccess, ClassAction, ClassRole, EmailAddress, Member,
    Membership, Scope, Template,
};
use sqlx::{Any, Executor, Row};
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::{Page, push_page, push_scope};
use crate::sql::{Sql, query};
use crate::store::{Store, WriteTransaction};
use crate::table::Record;
use crate::{rows, templates};

static INSERT: LazyLock<String> = LazyLock::new(|| Class::TABLE.insert());
pub(crate) static SAVE: LazyLock<String> = LazyLock::new(|| {
    let set = Class::TABLE.set(3);
    format!("UPDATE classes SET {set} WHERE class_id = $1 AND version = $2")
});
const SLUG_HOLDER: &str = classes!(" WHERE slug = $1");
pub(crate) const OF_CREATOR: &str = classes!(" WHERE created_by = $1");
/// Classes of a creator with workshops that have not ended.
pub(crate) const LIVE_OF_CREATOR: &str = "SELECT DISTINCT class_id FROM workshop_instances \
     WHERE state NOT IN ('terminated', 'failed') AND class_id IN (SELECT class_id FROM classes WHERE created_by = $1)";
pub(crate) const MEMBERS: &str = members!(" WHERE class_id = $1 ORDER BY email, source");
/// Current memberships of a person in a class.
pub(crate) const CURRENT: &str = members!(" WHERE email = $1 AND class_id = $2 AND removed_at IS NULL");
pub(crate) const SIGNAL: &str = "UPDATE classes SET changed = $1 WHERE class_id = $2";
pub(crate) static UPSERT: LazyLock<String> = LazyLock::new(|| {
    let (insert, set) = (Membership::TABLE.insert(), Membership::TABLE.set_excluded());
    format!("{insert} ON CONFLICT (class_id, email, source) DO UPDATE SET {set}")
});

/// Change of the memberships of one person in a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberChange {
    /// Adds the person, or replaces role and name of the membership from this source.
    Set {
        /// The membership as it becomes. A current membership keeps its identifier and its time of joining.
        membership: Membership,
    },
    /// Removes all memberships of the person.
    Remove { email: EmailAddress },
}

impl Store {
    /// Stores a new class with its first members and templates, all or nothing. The templates have different slugs.
    ///
    /// # Errors
    /// [`StoreError::ClassSlugTaken`] when another class has its slug; [`StoreError::TooManyClasses`] when its creator would have
    /// more than `max_classes` that are not archived; otherwise [`StoreError`].
    pub async fn create_class(
        &self,
        class: &Class,
        members: &[Membership],
        templates: &[Template],
        by: &Caller,
        max_classes: Option<u32>,
    ) -> Result<(), StoreError> {
        let actor = Some(by.email().clone());
        let act = Act { actor_email: actor.clone(), at: class.created_at };
        let of_member =
            |member: &Membership| Activity::of_member(class, &member.email, None, Some(member.role), act.clone());
        let of_template = |template: &Template| Activity::of_new_template(template, actor.clone());
        let mut activities = vec![Activity::of_class(class, act.clone(), ActivityAction::ClassCreated)];
        activities.extend(members.iter().filter_map(of_member));
        activities.extend(templates.iter().map(of_template));

        let mut write = self.write().await?;
        let last = write.take_revisions(i64::try_from(activities.len()).unwrap_or(1)).await?;
        write.check_class_slug(class).await?;
        write.check_class_count(class, max_classes).await?;
        class.bind_all(query(&INSERT))?.execute(write.connection()).await?;
        for member in members {
            member.bind_all(query(&UPSERT))?.execute(write.connection()).await?;
        }
        for template in templates {
            template.bind_all(query(&templates::INSERT))?.execute(write.connection()).await?;
        }
        for (activity, back) in activities.iter().zip(0..) {
            write.log_activity(last - back, activity).await?;
        }
        write.commit().await
    }

    /// Returns the class with this slug, and the caller's access to it. `None` if there is no such class, or the caller is
    /// neither an admin nor a member.
    pub async fn class(&self, caller: &Caller, slug: &str) -> Result<Option<ClassAccess>, StoreError> {
        // No row contains NUL, and PostgreSQL rejects it.
        self.class_with(caller, "slug = ", rows::text(slug)).await
    }

    /// Like [`Store::class`], by identifier.
    pub async fn class_by_id(&self, caller: &Caller, class_id: Uuid) -> Result<Option<ClassAccess>, StoreError> {
        self.class_with(caller, "class_id = ", class_id.to_string()).await
    }

    async fn class_with(
        &self,
        caller: &Caller,
        condition: &'static str,
        value: String,
    ) -> Result<Option<ClassAccess>, StoreError> {
        let mut sql = of_caller(caller, false);
        sql.condition_with(condition, value);
        let Some(class) = sql.statement()?.read_optional(&self.pool).await? else { return Ok(None) };
        access(&self.pool, caller, class).await
    }

    /// Returns a page of the classes that the caller may see, newest first: of all classes for an admin, unless `with_role` is
    /// true, else of those in which the caller has a role.
    pub async fn classes(&self, caller: &Caller, with_role: bool, page: &Page) -> Result<Vec<ClassAccess>, StoreError> {
        let found = list(caller, with_role, page).statement()?.read_all(&self.pool).await?;
        let mut classes = Vec::with_capacity(found.len());
        for class in found {
            classes.extend(access(&self.pool, caller, class).await?);
        }
        Ok(classes)
    }

    /// Replaces `before` by `after`. Returns false, and writes nothing, if the class changed since `before` was read, or if the
    /// caller is neither an admin nor a teacher of the class any more.
    ///
    /// # Errors
    /// [`StoreError::ClassSlugTaken`] when another class has the slug of `after`; [`StoreError::TooManyClasses`] when its creator
    /// would have more than `max_classes` that are not archived; otherwise [`StoreError`].
    pub async fn save_class(
        &self,
        before: &Class,
        after: &Class,
        by: &Caller,
        max_classes: Option<u32>,
    ) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        if !is_teacher(&write.memberships(before).await?, by) {
            return Ok(false);
        }
        write.check_class_slug(after).await?;
        write.check_class_count(after, max_classes).await?;
        let save = query(&SAVE).bind(before.class_id.to_string()).bind(before.version);
        if after.bind_changed(save)?.execute(write.connection()).await?.rows_affected() == 0 {
            return Ok(false);
        }
        let act = Act { actor_email: Some(by.email().clone()), at: after.updated_at };
        write.log_activity(revision, &Activity::of_class_change(before, after, act)).await?;
        write.signal_class(before.class_id, revision).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Returns the memberships of a class by address, also the removed ones.
    pub async fn memberships(&self, class: &Class) -> Result<Vec<Membership>, StoreError> {
        query(MEMBERS).bind(class.class_id.to_string()).read_all(&self.pool).await
    }

    /// Changes the members of a class, all or none. A change that leaves the person as before writes nothing. Returns the current
    /// members after the change, by address.
    ///
    /// # Errors
    /// [`StoreError::ClassRole`] when the caller is neither an admin nor a teacher of the class any more;
    /// [`StoreError::NoTeacher`], [`StoreError::TooManyMembers`]; otherwise [`StoreError`]. Nothing was written.
    pub async fn change_members(
        &self,
        class: &Class,
        changes: &[MemberChange],
        by: &Caller,
        at: Timestamp,
    ) -> Result<Vec<Member>, StoreError> {
        let act = &Act { actor_email: Some(by.email().clone()), at };
        let mut write = self.write().await?;
        // The lock of the change counter orders the changes of members, so that two of them never remove both teachers.
        let last = write.take_revisions(i64::try_from(changes.len()).unwrap_or(0)).await?;
        let before = write.memberships(class).await?;
        if !is_teacher(&before, by) {
            return Err(StoreError::ClassRole);
        }
        for change in changes {
            write.apply_change(&before, change, act.at).await?;
        }
        let (before, after) = (Member::of(before), Member::of(write.memberships(class).await?));
        if !after.iter().any(|member| member.role == ClassRole::Teacher) {
            return Err(StoreError::NoTeacher);
        }
        if after.len() > MAX_MEMBERS {
            return Err(StoreError::TooManyMembers);
        }
        let role = |members: &[Member], email: &EmailAddress| {
            members.iter().find(|member| member.email == *email).map(|member| member.role)
        };
        for (change, back) in changes.iter().zip(0..) {
            let email = change.email();
            let (from, to) = (role(&before, email), role(&after, email));
            if let Some(activity) = Activity::of_member(class, email, from, to, act.clone()) {
                write.log_activity(last - back, &activity).await?;
            }
            if to.is_none() {
                write.delete_hand(class.class_id, email).await?;
            }
        }
        write.signal_class(class.class_id, last).await?;
        write.commit().await?;
        Ok(after)
    }
}

/// True for an admin, and for a person with a current membership as teacher.
pub(crate) fn is_teacher(memberships: &[Membership], caller: &Caller) -> bool {
    let is_current = |one: &&Membership| one.email == *caller.email() && one.removed_at.is_none();
    caller.is_admin() || memberships.iter().filter(is_current).any(|one| one.role == ClassRole::Teacher)
}

/// Launches of one person in a class. Instances that were purged do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attendance {
    pub email: EmailAddress,
    pub workshops: u64,
    pub first_launch: Timestamp,
    /// Latest end of an instance; `None` if none has ended.
    pub last_end: Option<Timestamp>,
    /// Last use of an app; `None` if no bar above an app reported one.
    pub last_use: Option<Timestamp>,
    /// True if an instance is starting, running or ending.
    pub is_active: bool,
}

impl Store {
    /// Returns the launches in a class by person. With `since`, only of instances that were launched after this time.
    pub async fn attendance(&self, class: &Class, since: Option<Timestamp>) -> Result<Vec<Attendance>, StoreError> {
        attendance(class, since).statement()?.read_all(&self.pool).await
    }
}

/// Builds the query of [`Store::attendance`]. The identifiers of instances begin with the time of the launch.
pub(crate) fn attendance(class: &Class, since: Option<Timestamp>) -> Sql {
    let mut sql = Sql::new(
        "SELECT owner_email, count(*) AS workshops, min(created_at) AS first_launch, max(ended_at) AS last_end, \
         max(used_at) AS last_use, \
         count(CASE WHEN state IN ('queued', 'starting', 'running', 'terminating') THEN 1 END) AS active FROM workshop_instances",
    );
    push_scope(&mut sql, Scope::Class { class_id: class.class_id, owner: None });
    if let Some(since) = since {
        sql.condition_with("instance_id > ", earliest_uuid(since).to_string());
    }
    sql.push(" GROUP BY owner_email");
    sql
}

impl MemberChange {
    #[must_use]
    pub fn email(&self) -> &EmailAddress {
        match self {
            Self::Set { membership } => &membership.email,
            Self::Remove { email } => email,
        }
    }
}

impl WriteTransaction {
    /// Tells all launchers that content, members, hands or message of a class changed. `revision` is that of the change.
    pub(crate) async fn signal_class(&mut self, class_id: Uuid, revision: i64) -> Result<(), StoreError> {
        query(SIGNAL).bind(revision).bind(class_id.to_string()).execute(self.connection()).await?;
        Ok(())
    }

    /// Refuses a caller who may no longer perform this action in the class.
    pub(crate) async fn require(&mut self, access: &ClassAccess, action: ClassAction) -> Result<(), StoreError> {
        let now = self::access(self.connection(), access.caller(), access.class().clone()).await?;
        if now.is_some_and(|access| access.allows(action)) { Ok(()) } else { Err(StoreError::ClassRole) }
    }

    pub(crate) async fn memberships(&mut self, class: &Class) -> Result<Vec<Membership>, StoreError> {
        query(MEMBERS).bind(class.class_id.to_string()).read_all(self.connection()).await
    }

    async fn apply_change(
        &mut self,
        before: &[Membership],
        change: &MemberChange,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let of_person = before.iter().filter(|one| one.email == *change.email());
        let changed: Vec<Membership> = match change {
            MemberChange::Set { membership } => {
                let known = of_person.clone().find(|one| one.source == membership.source && one.removed_at.is_none());
                let is_same = |known: &Membership| known.role == membership.role && known.name == membership.name;
                if known.is_some_and(is_same) {
                    return Ok(());
                }
                let joined_at = known.map_or(now, |known| known.joined_at);
                vec![Membership { joined_at, removed_at: None, ..membership.clone() }]
            }
            MemberChange::Remove { .. } => {
                let current = of_person.filter(|one| one.removed_at.is_none());
                current.map(|one| Membership { removed_at: Some(now), ..one.clone() }).collect()
            }
        };
        for membership in changed {
            membership.bind_all(query(&UPSERT))?.execute(self.connection()).await?;
        }
        Ok(())
    }

    /// Refuses a class whose creator has this number of other classes that are not archived, or have workshops. Like
    /// [`WriteTransaction::check_class_slug`], it needs the lock of all changes.
    async fn check_class_count(&mut self, class: &Class, most: Option<u32>) -> Result<(), StoreError> {
        let Some(limit) = most.filter(|_| !class.content.archived) else { return Ok(()) };
        let creator = class.created_by.to_string();
        let all: Vec<Class> = query(OF_CREATOR).bind(creator.clone()).read_all(self.connection()).await?;
        let live = query(LIVE_OF_CREATOR).bind(creator).fetch_all(self.connection()).await?;
        let live: Vec<String> = live.iter().map(|row| row.try_get("class_id")).collect::<Result<_, _>>()?;
        let counts = |other: &Class| !other.content.archived || live.contains(&other.class_id.to_string());
        let others = all.iter().filter(|other| counts(other) && other.class_id != class.class_id);
        if others.count() < limit as usize { Ok(()) } else { Err(StoreError::TooManyClasses { limit }) }
    }

    /// Refuses a class whose slug another class has. The transaction must have taken a revision: it then holds the lock of
    /// all changes.
    async fn check_class_slug(&mut self, class: &Class) -> Result<(), StoreError> {
        let slug = class.content.slug.clone();
        match query(SLUG_HOLDER).bind(slug.clone()).read_optional::<Class>(self.connection()).await? {
            Some(holder) if holder.class_id != class.class_id => Err(StoreError::ClassSlugTaken { slug }),
            _ => Ok(()),
        }
    }
}

/// Returns the caller's access to a class, with the highest role of the current memberships.
async fn access<'c>(
    on: impl Executor<'c, Database = Any>,
    caller: &Caller,
    class: Class,
) -> Result<Option<ClassAccess>, StoreError> {
    let current = query(CURRENT).bind(caller.email().to_string()).bind(class.class_id.to_string());
    let memberships: Vec<Membership> = current.read_all(on).await?;
    let role = memberships.into_iter().map(|membership| membership.role).max();
    Ok(ClassAccess::new(class, caller, role))
}

/// Begins a query of classes that the caller may see, or with `with_role` of those in which the caller has a role.
fn of_caller(caller: &Caller, with_role: bool) -> Sql {
    let mut sql = Sql::new(classes!());
    if with_role || !caller.is_admin() {
        let of_member = "class_id IN (SELECT class_id FROM class_members WHERE email = ";
        sql.condition_with(of_member, caller.email().to_string());
        sql.push(" AND removed_at IS NULL)");
    }
    sql
}

/// Builds the query of a page of classes.
pub(crate) fn list(caller: &Caller, with_role: bool, page: &Page) -> Sql {
    let mut sql = of_caller(caller, with_role);
    push_page(&mut sql, page, ["class_id < ", " ORDER BY class_id DESC LIMIT "]);
    sql
}
