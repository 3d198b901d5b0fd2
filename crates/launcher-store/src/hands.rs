//! Hands and messages of classes, and the signal that tells all launchers of their changes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use launcher_domain::{
    Act, Activity, ActivityAction, Attention, ClassAccess, ClassAction, ClassMessage, EmailAddress, Hand, Member,
};
use uuid::Uuid;

use crate::classes::MEMBERS;
use crate::error::StoreError;
use crate::rows;
use crate::sql::query;
use crate::store::{Store, WriteTransaction};
use crate::table::Record;

/// Hands of a class. A class has at most one for each of its members: the reader sorts them.
pub(crate) const HANDS: &str = concat!("SELECT ", hand_columns!(), " FROM class_hands WHERE class_id = $1");
pub(crate) const HAND: &str =
    concat!("SELECT ", hand_columns!(), " FROM class_hands WHERE class_id = $1 AND email = $2");
pub(crate) const DELETE_HAND: &str = "DELETE FROM class_hands WHERE class_id = $1 AND email = $2";
pub(crate) const MESSAGE: &str =
    concat!("SELECT ", class_message_columns!(), " FROM class_messages WHERE class_id = $1");
pub(crate) const DELETE_MESSAGE: &str = "DELETE FROM class_messages WHERE class_id = $1";
pub(crate) const ROLE: &str = concat!(
    "SELECT ",
    membership_columns!(),
    " FROM class_members WHERE email = $1 AND class_id = $2 AND removed_at IS NULL"
);
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

/// Outcome of a change of a hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandOutcome {
    /// The hand as it is now, changed or not.
    Hand(Hand),
    /// The person has not raised a hand.
    NotRaised,
    /// The caller has lost the right to this change, or was never a member.
    Refused,
}

impl Store {
    /// Returns hands, message and members of a class.
    pub async fn attention(&self, class_id: Uuid) -> Result<Attention, StoreError> {
        let class = class_id.to_string();
        let rows = query(HANDS).bind(class.clone()).fetch_all(&self.pool).await?;
        let mut hands = rows::all(&rows, rows::hand)?;
        hands.sort_by_key(|hand| hand.raised_at);
        let message = self.class_message(class_id).await?;
        let rows = query(MEMBERS).bind(class).fetch_all(&self.pool).await?;
        let members = Member::of(rows::all(&rows, rows::membership)?);
        let members: BTreeMap<_, _> = members.into_iter().map(|member| (member.email, member.name)).collect();
        Ok(Attention { class_id, hands, message, members })
    }

    /// Returns what one member may see of a class: the own hand, the message, and as `members` only this person and the person
    /// who has taken the hand. Does not read the other members.
    pub async fn attention_of(&self, class_id: Uuid, email: &EmailAddress) -> Result<Attention, StoreError> {
        let class = class_id.to_string();
        let find = query(HAND).bind(class.clone()).bind(email.to_string());
        let hand = find.fetch_optional(&self.pool).await?.as_ref().map(rows::hand).transpose()?;
        let message = self.class_message(class_id).await?;
        let mut members = BTreeMap::new();
        for email in [Some(email), hand.as_ref().and_then(|hand| hand.taken_by.as_ref())].into_iter().flatten() {
            let find = query(ROLE).bind(email.to_string()).bind(class.clone());
            let found = Member::of(rows::all(&find.fetch_all(&self.pool).await?, rows::membership)?);
            members.extend(found.into_iter().map(|member| (member.email, member.name)));
        }
        Ok(Attention { class_id, hands: hand.into_iter().collect(), message, members })
    }

    /// Returns the stored message of a class.
    pub async fn class_message(&self, class_id: Uuid) -> Result<Option<ClassMessage>, StoreError> {
        let row = query(MESSAGE).bind(class_id.to_string()).fetch_optional(&self.pool).await?;
        row.as_ref().map(rows::class_message).transpose()
    }

    /// Raises the hand of the caller. A raised hand stays as it is, unless it has ended.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn raise_hand(&self, access: &ClassAccess, at: Timestamp) -> Result<HandOutcome, StoreError> {
        let (class_id, email) = (access.class().class_id, access.caller().email());
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        if !write.may(access, ClassAction::RaiseHand).await? {
            return Ok(HandOutcome::Refused);
        }
        if let Some(hand) = write.hand(class_id, email).await? {
            if hand.is_raised(at) {
                return Ok(HandOutcome::Hand(hand));
            }
            write.delete_hand(class_id, email).await?;
        }
        let hand = Hand { class_id, email: email.clone(), raised_at: at, taken_by: None, taken_at: None };
        hand.bind_all(query(&INSERT_HAND))?.execute(write.connection()).await?;
        write.signal_class(class_id, revision).await?;
        write.commit().await?;
        Ok(HandOutcome::Hand(hand))
    }

    /// Takes the hand of a member. A hand that another person has taken stays this person's.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn take_hand(
        &self,
        access: &ClassAccess,
        email: &EmailAddress,
        at: Timestamp,
    ) -> Result<HandOutcome, StoreError> {
        let class_id = access.class().class_id;
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        if !write.may(access, ClassAction::AnswerHands).await? {
            return Ok(HandOutcome::Refused);
        }
        let Some(hand) = write.hand(class_id, email).await?.filter(|hand| hand.is_raised(at)) else {
            return Ok(HandOutcome::NotRaised);
        };
        if hand.taken_by.is_some() {
            return Ok(HandOutcome::Hand(hand));
        }
        let hand = Hand { taken_by: Some(access.caller().email().clone()), taken_at: Some(at), ..hand };
        let take = query(&TAKE_HAND).bind(class_id.to_string()).bind(email.to_string());
        hand.bind_changed(take)?.execute(write.connection()).await?;
        write.signal_class(class_id, revision).await?;
        write.commit().await?;
        Ok(HandOutcome::Hand(hand))
    }

    /// Lowers the hand of a person. Does nothing if it is not raised. Returns false, and writes nothing, if the caller has
    /// lost the right to it.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn lower_hand(&self, access: &ClassAccess, email: &EmailAddress) -> Result<bool, StoreError> {
        let class_id = access.class().class_id;
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        if !write.may(access, access.lowering_of(email)).await? {
            return Ok(false);
        }
        if write.delete_hand(class_id, email).await? > 0 {
            write.signal_class(class_id, revision).await?;
            write.commit().await?;
        }
        Ok(true)
    }

    /// Replaces the message of a class, and logs it. Returns false, and writes nothing, if the caller is no teacher any more.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn send_message(&self, access: &ClassAccess, message: &ClassMessage) -> Result<bool, StoreError> {
        let class = access.class();
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        if !write.may(access, ClassAction::SendMessage).await? {
            return Ok(false);
        }
        message.bind_all(query(&UPSERT_MESSAGE))?.execute(write.connection()).await?;
        let act = Act { actor_email: Some(message.sent_by.clone()), at: message.sent_at };
        write.log_activity(revision, &Activity::of_class(class, act, ActivityAction::ClassMessageSent)).await?;
        write.signal_class(class.class_id, revision).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Removes the message of a class, if it has one. Returns false, and writes nothing, if the caller is no teacher any more.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn remove_message(&self, access: &ClassAccess) -> Result<bool, StoreError> {
        let class_id = access.class().class_id;
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        if !write.may(access, ClassAction::SendMessage).await? {
            return Ok(false);
        }
        let delete = query(DELETE_MESSAGE).bind(class_id.to_string());
        if delete.execute(write.connection()).await?.rows_affected() > 0 {
            write.signal_class(class_id, revision).await?;
            write.commit().await?;
        }
        Ok(true)
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
        find.fetch_optional(self.connection()).await?.as_ref().map(rows::hand).transpose()
    }
}
