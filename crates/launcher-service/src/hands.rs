//! Use cases of attention in a class: hands of members, the message of a teacher to all, and the last use of an app.

use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use jiff::SignedDuration;
use launcher_domain::{Attention, Caller, ClassAccess, ClassAction, ClassMessage, EmailAddress, Hand, Instance};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{MissedTickBehavior, interval};

use crate::attempts::Attempts;
use crate::error::{ServiceError, require_in};
use crate::feed::{FeedMessage, event_stream};
use crate::launcher::Launcher;

/// Maximum time between two events of a stream. A message ends for its readers at the next event. Proxies close a stream
/// without data after a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Changes of the own hand in [`WINDOW`]. Each one takes the lock of all changes, and reaches every reader of the class; an app
/// can cause them.
const MAX_CHANGES: u32 = 20;
/// Time after which a person may raise or lower the own hand again.
const WINDOW: SignedDuration = SignedDuration::from_mins(1);
/// Minimum time between two stored uses of an app: each one is a write.
const USE_INTERVAL: SignedDuration = SignedDuration::from_secs(30);
/// Maximum events buffered for a slow client.
const EVENT_BUFFER: usize = 4;

/// Returns the limit of changes of the own hand.
pub(crate) fn hand_changes() -> Attempts {
    Attempts::new(MAX_CHANGES, WINDOW)
}

impl Launcher {
    fn count_hand_change(&self, email: &EmailAddress) -> Result<(), ServiceError> {
        let counted = self.0.hand_changes.take(email, self.0.clock.now());
        counted.map_err(|retry_after| ServiceError::TooManyHandChanges { retry_after })
    }

    /// Returns hands, message and members of a class for those who answer hands. Other members get the own hand, the message,
    /// and as members only themselves and the person who has taken the hand.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn attention(&self, access: &ClassAccess) -> Result<Attention, ServiceError> {
        require_in(access, ClassAction::Read)?;
        let class_id = access.class().class_id;
        if access.allows(ClassAction::AnswerHands) {
            return Ok(self.0.store.attention(class_id).await?);
        }
        Ok(self.0.store.attention_of(class_id, access.caller().email()).await?)
    }

    /// Returns the current message of a class.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn class_message(&self, access: &ClassAccess) -> Result<Option<ClassMessage>, ServiceError> {
        require_in(access, ClassAction::Read)?;
        let (message, now) = (self.0.store.class_message(access.class().class_id).await?, self.0.clock.now());
        Ok(message.filter(|message| message.is_current(now)))
    }

    /// Raises the hand of the caller in a class. Idempotent.
    ///
    /// # Errors
    /// Forbidden for all but students; TooManyHandChanges, Unavailable.
    pub async fn raise_hand(&self, access: &ClassAccess) -> Result<Hand, ServiceError> {
        require_in(access, ClassAction::RaiseHand)?;
        self.count_hand_change(access.caller().email())?;
        let hand = self.0.store.raise_hand(access, self.0.clock.now()).await?;
        self.0.changed.notify_one();
        Ok(hand)
    }

    /// Takes the hand of a member: the caller comes to help. A hand that another person has taken stays this person's.
    ///
    /// # Errors
    /// Forbidden, NotFound when the hand is not raised; Unavailable.
    pub async fn take_hand(&self, access: &ClassAccess, email: &EmailAddress) -> Result<Hand, ServiceError> {
        require_in(access, ClassAction::AnswerHands)?;
        let taken = self.0.store.take_hand(access, email, self.0.clock.now()).await?;
        let hand = taken.ok_or(ServiceError::NotFound)?;
        self.0.changed.notify_one();
        Ok(hand)
    }

    /// Lowers the hand of the caller or, for those who answer hands, of a member. Idempotent.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn lower_hand(&self, access: &ClassAccess, email: &EmailAddress) -> Result<(), ServiceError> {
        let action = access.lowering_of(email);
        require_in(access, action)?;
        if action == ClassAction::RaiseHand {
            self.count_hand_change(email)?;
        }
        self.0.store.lower_hand(access, email).await?;
        self.0.changed.notify_one();
        Ok(())
    }

    /// Sends a message to all members of a class. It replaces the current one, and ends after [`ClassMessage::LIFETIME`].
    ///
    /// # Errors
    /// Forbidden, Invalid, Unavailable.
    pub async fn send_message(&self, access: &ClassAccess, text: &str) -> Result<ClassMessage, ServiceError> {
        require_in(access, ClassAction::SendMessage)?;
        let text = ClassMessage::read(text).map_err(|error| ServiceError::Invalid(vec![error]))?;
        let (class, sent_by) = (access.class(), access.caller().email().clone());
        let message = ClassMessage { class_id: class.class_id, text, sent_by, sent_at: self.0.clock.now() };
        self.0.store.send_message(access, &message).await?;
        self.0.changed.notify_one();
        tracing::info!(class = %class.content.slug, by = %message.sent_by, "message sent to a class");
        Ok(message)
    }

    /// Removes the message of a class. Idempotent.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn remove_message(&self, access: &ClassAccess) -> Result<(), ServiceError> {
        require_in(access, ClassAction::SendMessage)?;
        self.0.store.remove_message(access).await?;
        self.0.changed.notify_one();
        Ok(())
    }

    /// Notes that the caller uses the app of an own instance now. Ignores a report within 30 seconds of the last one, and of an
    /// instance that does not run.
    ///
    /// # Errors
    /// NotFound as in [`Launcher::class_of_own_instance`]; Unavailable.
    pub async fn note_use(&self, caller: &Caller, k8s_name: &str) -> Result<(), ServiceError> {
        let listed = self.instance(caller, k8s_name).await?;
        self.class_of(caller, &listed.instance).await?;
        let now = self.0.clock.now();
        if listed.used_at.is_none_or(|known| now.duration_since(known) >= USE_INTERVAL) {
            self.0.store.note_use(listed.instance.instance_id, now).await?;
        }
        Ok(())
    }

    /// Returns the access of the caller to the class of an own instance.
    ///
    /// # Errors
    /// NotFound when the instance is not the caller's, or not of a class in which the caller has a role; Unavailable.
    pub async fn class_of_own_instance(&self, caller: &Caller, k8s_name: &str) -> Result<ClassAccess, ServiceError> {
        self.class_of(caller, &self.instance(caller, k8s_name).await?.instance).await
    }

    async fn class_of(&self, caller: &Caller, instance: &Instance) -> Result<ClassAccess, ServiceError> {
        let class_id = instance.class_id.filter(|_| instance.owner_email == *caller.email());
        let class_id = class_id.ok_or(ServiceError::NotFound)?;
        let access = self.0.store.class_by_id(caller, class_id).await?;
        access.filter(|access| access.role().is_some()).ok_or(ServiceError::NotFound)
    }

    /// Streams [`Launcher::attention`] of a class: at once, after each change, and at least every 15 seconds. After a change,
    /// each subscriber gets the same value: show a member only what concerns the member. The stream ends when the caller is
    /// neither a member nor an admin any more.
    pub fn follow_attention(
        &self,
        access: &ClassAccess,
    ) -> impl Stream<Item = Arc<Attention>> + Send + use<> + 'static {
        let (launcher, access) = (self.clone(), access.clone());
        event_stream(EVENT_BUFFER, "reading a class failed, closing event stream", |events| async move {
            launcher.serve_attention(&access, &events).await
        })
    }

    async fn serve_attention(
        &self,
        access: &ClassAccess,
        events: &mpsc::Sender<Arc<Attention>>,
    ) -> Result<(), ServiceError> {
        let (class_id, caller) = (access.class().class_id, access.caller());
        // Subscribe before the first read of the database: a change between the two would otherwise be lost.
        let mut messages = self.0.feed.subscribe();
        let mut current = Arc::new(self.attention(access).await?);
        let mut heartbeat = interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        heartbeat.reset();
        loop {
            let may_follow = caller.is_admin() || current.members.contains_key(caller.email());
            if !may_follow || events.send(Arc::clone(&current)).await.is_err() {
                return Ok(());
            }
            loop {
                let message = tokio::select! {
                    message = messages.recv() => message,
                    _ = heartbeat.tick() => break,
                };
                match message {
                    Ok(FeedMessage::Class(attention)) if attention.class_id == class_id => {
                        current = attention;
                        break;
                    }
                    Ok(FeedMessage::Class(_) | FeedMessage::Changed(_)) => {}
                    Ok(FeedMessage::Started) | Err(broadcast::error::RecvError::Lagged(_)) => {
                        current = Arc::new(self.attention(access).await?);
                        break;
                    }
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                }
            }
        }
    }
}
