//! Join links of classes, and joining by one.

use std::sync::LazyLock;

use jiff::Timestamp;
use launcher_domain::class::MAX_MEMBERS;
use launcher_domain::{
    Act, Activity, ActivityAction, Caller, Class, ClassRole, EmailAddress, Invitation, JoinLink, JoinRefusal,
    MemberSource, Membership,
};
use sqlx::AnyConnection;
use uuid::Uuid;

use crate::classes::{UPSERT, is_teacher};
use crate::error::StoreError;
use crate::rows;
use crate::sql::query;
use crate::store::Store;
use crate::table::{FromRow, Record};

static INSERT: LazyLock<String> = LazyLock::new(|| JoinLink::TABLE.insert());
pub(crate) static SAVE: LazyLock<String> =
    LazyLock::new(|| format!("UPDATE class_links SET {} WHERE link_id = $1", JoinLink::TABLE.set(2)));
pub(crate) const CURRENT: &str = links!(" WHERE class_id = $1 AND revoked_at IS NULL");
pub(crate) const BY_CODE: &str = links!(" WHERE code = $1");
pub(crate) const CLASS: &str = classes!(" WHERE class_id = $1");
pub(crate) const OF_PERSON: &str = members!(" WHERE class_id = $1 AND email = $2");
pub(crate) const COUNT: &str =
    "SELECT count(DISTINCT email) AS members FROM class_members WHERE class_id = $1 AND removed_at IS NULL";

/// Outcome of [`Store::join`]. Only the first `Joined` of a person writes to the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinOutcome {
    /// The person is a member of this class.
    Joined(Box<Class>),
    /// The link does not admit the person.
    Refused(JoinRefusal),
    Unknown,
}

impl Store {
    /// Returns the link of a class that is not revoked.
    pub async fn join_link(&self, class: &Class) -> Result<Option<JoinLink>, StoreError> {
        query(CURRENT).bind(class.class_id.to_string()).read_optional(&self.pool).await
    }

    /// Revokes the link of a class, and stores a new one, if given. Returns false, and writes nothing, if the caller is neither
    /// an admin nor a teacher of the class any more.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn replace_join_link(
        &self,
        class: &Class,
        new: Option<&JoinLink>,
        by: &Caller,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let act = Act { actor_email: Some(by.email().clone()), at };
        let mut write = self.write().await?;
        let revision = write.take_revisions(2).await?;
        if !is_teacher(&write.memberships(class).await?, by) {
            return Ok(false);
        }
        let current = query(CURRENT).bind(class.class_id.to_string());
        if let Some(former) = current.read_optional(write.connection()).await? {
            let revoked = JoinLink { revoked_at: Some(at), ..former };
            let save = revoked.bind_changed(query(&SAVE).bind(revoked.link_id.to_string()))?;
            save.execute(write.connection()).await?;
            let activity = Activity::of_class(class, act.clone(), ActivityAction::JoinLinkRevoked);
            write.log_activity(revision - 1, &activity).await?;
        }
        if let Some(link) = new {
            link.bind_all(query(&INSERT))?.execute(write.connection()).await?;
            let activity = Activity::of_class(class, act, ActivityAction::JoinLinkCreated);
            write.log_activity(revision, &activity).await?;
        }
        write.commit().await?;
        Ok(true)
    }

    /// Returns the link with this code, also a revoked one, as this person finds it.
    pub async fn invitation(&self, code: &str, email: &EmailAddress) -> Result<Option<Invitation>, StoreError> {
        let mut connection = self.pool.acquire().await?;
        find(&mut connection, code, email).await
    }

    /// Makes a person a student of the class whose link has this code. A member stays as before.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn join(
        &self,
        code: &str,
        by: &Caller,
        membership_id: Uuid,
        now: Timestamp,
    ) -> Result<JoinOutcome, StoreError> {
        let email = by.email();
        let mut write = self.write().await?;
        // The lock of the change counter orders the joins, so that two of them never take the same seat.
        let revision = write.take_revisions(1).await?;
        let Some(invitation) = find(write.connection(), code, email).await? else { return Ok(JoinOutcome::Unknown) };
        if invitation.is_member() {
            return Ok(JoinOutcome::Joined(Box::new(invitation.class)));
        }
        if let Some(refusal) = invitation.refusal(email, now) {
            return Ok(JoinOutcome::Refused(refusal));
        }
        let Invitation { link, class, .. } = invitation;
        let class_id = class.class_id.to_string();
        let row = query(COUNT).bind(class_id).fetch_one(write.connection()).await?;
        if rows::count(&row, "members")? >= MAX_MEMBERS as u64 {
            return Ok(JoinOutcome::Refused(JoinRefusal::ClassFull));
        }
        let membership = Membership {
            membership_id,
            class_id: class.class_id,
            email: email.clone(),
            source: MemberSource::Link,
            role: ClassRole::Student,
            name: String::new(),
            joined_at: now,
            removed_at: None,
        };
        membership.bind_all(query(&UPSERT))?.execute(write.connection()).await?;
        let link = JoinLink { joined: link.joined.saturating_add(1), ..link };
        let save = link.bind_changed(query(&SAVE).bind(link.link_id.to_string()))?;
        save.execute(write.connection()).await?;
        let act = Act { actor_email: Some(email.clone()), at: now };
        if let Some(activity) = Activity::of_member(&class, email, None, Some(membership.role), act) {
            write.log_activity(revision, &activity).await?;
        }
        write.signal_class(class.class_id, revision).await?;
        write.commit().await?;
        Ok(JoinOutcome::Joined(Box::new(class)))
    }
}

async fn find(
    connection: &mut AnyConnection,
    code: &str,
    email: &EmailAddress,
) -> Result<Option<Invitation>, StoreError> {
    let by_code = query(BY_CODE).bind(rows::text(code));
    let Some(link) = by_code.read_optional::<JoinLink>(&mut *connection).await? else { return Ok(None) };
    let class_id = link.class_id.to_string();
    let class = Class::read(&query(CLASS).bind(class_id.clone()).fetch_one(&mut *connection).await?)?;
    let memberships = query(OF_PERSON).bind(class_id).bind(email.to_string()).read_all(connection).await?;
    Ok(Some(Invitation { link, class, memberships }))
}
