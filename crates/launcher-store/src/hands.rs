//! Hands and messages of classes, and the signal that tells all launchers of their changes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use launcher_domain::{
    Act, Activity, ActivityAction, Attention, ClassAccess, ClassAction, ClassMessage, EmailAddress, Hand, Member,
};
use uuid::Uuid;

use crate::classes::{CURRENT, MEMBERS};
use crate::error::StoreError;
use crate::sql::query;
use crate::store::{Store, WriteTransaction};
use crate::table::Record;

/// Hands of a class. A class has at most one for each of its members: the reader sorts them.
pub(crate) const HANDS: &str = hands!(" WHERE class_id = $1");
pub(crate) const HAND: &str = hands!(" WHERE class_id = $1 AND email = $2");
pub(crate) const DELETE_HAND: &str = "DELETE FROM class_hands WHERE class_id = $1 AND email = $2";
pub(crate) const MESSAGE: &str = messages!(" WHERE class_id = $1");
pub(crate) const DELETE_MESSAGE: &str = "DELETE FROM class_messages WHERE class_id = $1";
pub(crate) const OLD_HANDS: &str = "SELECT 1 FROM class_hands WHERE raised_at < $1 LIMIT 1";
pub(crate) const PURGE_HANDS: &str = "DELETE FROM class_hands WHERE raised_at < $1";
pub(crate) const OLD_MESSAGES: &str = "SELECT 1 FROM class_messages WHERE sent_at < $1 LIMIT 1";
pub(crate) const PURGE_MESSAGES: &str = "DELETE FROM class_messages WHERE sent_at < $1";
static INSERT_HAND: LazyLock<String> = LazyLock::new(|| Hand::TABLE.insert());
pub(crate) static TAKE_HAND: LazyLock<String> = LazyLock::new(|| {
    let set = Hand::TABLE.set(3);
    format!("UPDATE class_hands SET {set} WHERE class_id = $1 AND email = $2")
});
static UPSERT_MESSAGE: LazyLock<String> = LazyLock::new(|| {
    let (insert, set) = (ClassMessage::TABLE.insert(), ClassMessage::TABLE.set_excluded());
    format!("{insert} ON CONFLICT (class_id) DO UPDATE SET {set}")
});

impl Store {
    /// Returns hands, message and members of a class.
    pub async fn attention(&self, class_id: Uuid) -> Result<Attention, StoreError> {
        let class = class_id.to_string();
        let mut hands: Vec<Hand> = query(HANDS).bind(class.clone()).read_all(&self.pool).await?;
        hands.sort_by_key(|hand| hand.raised_at);
        let message = self.class_message(class_id).await?;
        let members = Member::of(query(MEMBERS).bind(class).read_all(&self.pool).await?);
        let members: BTreeMap<_, _> = members.into_iter().map(|member| (member.email, member.name)).collect();
        Ok(Attention { class_id, hands, message, members })
    }

    /// Returns what one member may see of a class: the own hand, the message, and as `members` only this person and the person
    /// who has taken the hand. Does not read the other members.
    pub async fn attention_of(&self, class_id: Uuid, email: &EmailAddress) -> Result<Attention, StoreError> {
        let class = class_id.to_string();
        let find = query(HAND).bind(class.clone()).bind(email.to_string());
        let hand: Option<Hand> = find.read_optional(&self.pool).await?;
        let message = self.class_message(class_id).await?;
        let mut members = BTreeMap::new();
        for email in [Some(email), hand.as_ref().and_then(|hand| hand.taken_by.as_ref())].into_iter().flatten() {
            let find = query(CURRENT).bind(email.to_string()).bind(class.clone());
            let found = Member::of(find.read_all(&self.pool).await?);
            members.extend(found.into_iter().map(|member| (member.email, member.name)));
        }
        Ok(Attention { class_id, hands: hand.into_iter().collect(), message, members })
    }

    /// Returns the stored message of a class.
    pub async fn class_message(&self, class_id: Uuid) -> Result<Option<ClassMessage>, StoreError> {
        query(MESSAGE).bind(class_id.to_string()).read_optional(&self.pool).await
    }

    /// Raises the hand of the caller. A raised hand stays as it is, unless it has ended. Returns the hand as it is now.
    ///
    /// # Errors
    /// [`StoreError::ClassRole`] when the caller has lost the right to it; otherwise [`StoreError`]. Nothing was written.
    pub async fn raise_hand(&self, access: &ClassAccess, at: Timestamp) -> Result<Hand, StoreError> {
        let (class_id, email) = (access.class().class_id, access.caller().email());
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.require(access, ClassAction::RaiseHand).await?;
        if let Some(hand) = write.hand(class_id, email).await? {
            if hand.is_raised(at) {
                return Ok(hand);
            }
            write.delete_hand(class_id, email).await?;
        }
        let hand = Hand { class_id, email: email.clone(), raised_at: at, taken_by: None, taken_at: None };
        hand.bind_all(query(&INSERT_HAND))?.execute(write.connection()).await?;
        write.signal_class(class_id, revision).await?;
        write.commit().await?;
        Ok(hand)
    }

    /// Takes the hand of a member. A hand that another person has taken stays this person's. Returns the hand as it is
    /// now; `None` if it is not raised.
    ///
    /// # Errors
    /// [`StoreError::ClassRole`] when the caller has lost the right to it; otherwise [`StoreError`]. Nothing was written.
    pub async fn take_hand(
        &self,
        access: &ClassAccess,
        email: &EmailAddress,
        at: Timestamp,
    ) -> Result<Option<Hand>, StoreError> {
        let class_id = access.class().class_id;
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.require(access, ClassAction::AnswerHands).await?;
        let Some(hand) = write.hand(class_id, email).await?.filter(|hand| hand.is_raised(at)) else {
            return Ok(None);
        };
        if hand.taken_by.is_some() {
            return Ok(Some(hand));
        }
        let hand = Hand { taken_by: Some(access.caller().email().clone()), taken_at: Some(at), ..hand };
        let take = query(&TAKE_HAND).bind(class_id.to_string()).bind(email.to_string());
        hand.bind_changed(take)?.execute(write.connection()).await?;
        write.signal_class(class_id, revision).await?;
        write.commit().await?;
        Ok(Some(hand))
    }

    /// Lowers the hand of a person. Does nothing if it is not raised.
    ///
    /// # Errors
    /// [`StoreError::ClassRole`] when the caller has lost the right to it; otherwise [`StoreError`]. Nothing was written.
    pub async fn lower_hand(&self, access: &ClassAccess, email: &EmailAddress) -> Result<(), StoreError> {
        let class_id = access.class().class_id;
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.require(access, access.lowering_of(email)).await?;
        if write.delete_hand(class_id, email).await? > 0 {
            write.signal_class(class_id, revision).await?;
            write.commit().await?;
        }
        Ok(())
    }

    /// Replaces the message of a class, and logs it.
    ///
    /// # Errors
    /// [`StoreError::ClassRole`] when the caller has lost the right to it; otherwise [`StoreError`]. Nothing was written.
    pub async fn send_message(&self, access: &ClassAccess, message: &ClassMessage) -> Result<(), StoreError> {
        let class = access.class();
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.require(access, ClassAction::SendMessage).await?;
        message.bind_all(query(&UPSERT_MESSAGE))?.execute(write.connection()).await?;
        let act = Act { actor_email: Some(message.sent_by.clone()), at: message.sent_at };
        write.log_activity(revision, &Activity::of_class(class, act, ActivityAction::ClassMessageSent)).await?;
        write.signal_class(class.class_id, revision).await?;
        write.commit().await?;
        Ok(())
    }

    /// Removes the message of a class, if it has one.
    ///
    /// # Errors
    /// [`StoreError::ClassRole`] when the caller has lost the right to it; otherwise [`StoreError`]. Nothing was written.
    pub async fn remove_message(&self, access: &ClassAccess) -> Result<(), StoreError> {
        let class_id = access.class().class_id;
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.require(access, ClassAction::SendMessage).await?;
        let delete = query(DELETE_MESSAGE).bind(class_id.to_string());
        if delete.execute(write.connection()).await?.rows_affected() > 0 {
            write.signal_class(class_id, revision).await?;
            write.commit().await?;
        }
        Ok(())
    }

    /// Removes the hands and messages that have ended at this time. Returns their number.
    pub async fn purge_attention(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut purged = 0;
        for (lifetime, old, purge) in
            [(Hand::LIFETIME, OLD_HANDS, PURGE_HANDS), (ClassMessage::LIFETIME, OLD_MESSAGES, PURGE_MESSAGES)]
        {
            if let Ok(before) = now.checked_sub(lifetime) {
                purged += self.purge_batches(old, purge, before).await?;
            }
        }
        Ok(purged)
    }
}

impl WriteTransaction {
    /// Removes the hand of a person. Returns the number of removed hands.
    pub(crate) async fn delete_hand(&mut self, class_id: Uuid, email: &EmailAddress) -> Result<u64, StoreError> {
        let delete = query(DELETE_HAND).bind(class_id.to_string()).bind(email.to_string());
        Ok(delete.execute(self.connection()).await?.rows_affected())
    }

    async fn hand(&mut self, class_id: Uuid, email: &EmailAddress) -> Result<Option<Hand>, StoreError> {
        let find = query(HAND).bind(class_id.to_string()).bind(email.to_string());
        find.read_optional(self.connection()).await
    }
}
