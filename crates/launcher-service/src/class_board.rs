//! The board of a class: a stream of notifications about its changes, and who was there.

use std::time::Duration;

use futures_util::Stream;
use jiff::{SignedDuration, Timestamp};
use launcher_domain::{ClassAccess, ClassAction};
use launcher_store::Attendance;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::error::{ServiceError, require_in};
use crate::feed::{FeedMessage, event_stream};
use crate::launcher::Launcher;

/// Minimum time between two notifications of one board: a burst of changes causes at most 10 per second.
const GAP: Duration = Duration::from_millis(100);
/// Time without a change after which the board is notified: the last uses of the apps are no changes.
const REFRESH: Duration = Duration::from_secs(60);
/// Time after the launch for which a member whose workshops have ended counts as present.
const PRESENT: SignedDuration = SignedDuration::from_hours(24);

impl Launcher {
    /// Notifies of each change of the class, its members, and the instances of its templates, and at least every minute, until the stream is dropped or
    /// the caller may no longer watch. The first notification is sent at once, and one more before the stream ends for a
    /// caller without permission. Changes within 100 ms are one notification.
    pub fn watch_class(&self, access: &ClassAccess) -> impl Stream<Item = ()> + Send + use<> + 'static {
        let (launcher, access) = (self.clone(), access.clone());
        event_stream(1, "reading changes failed, closing event stream of a class", |events| async move {
            launcher.notify_board(&access, &events).await
        })
    }

    async fn notify_board(&self, access: &ClassAccess, events: &mpsc::Sender<()>) -> Result<(), ServiceError> {
        let class_id = access.class().class_id;
        // Subscribe before the first notification: a change between the two would otherwise be lost.
        let mut messages = self.0.feed.subscribe();
        loop {
            // Read the role again: another replica may have removed the caller.
            let current = self.0.store.class_by_id(access.caller(), class_id).await?;
            let may_watch = current.is_some_and(|access| access.allows(ClassAction::Watch));
            if events.send(()).await.is_err() || !may_watch {
                return Ok(());
            }
            sleep(GAP).await;
            loop {
                let Ok(message) = timeout(REFRESH, messages.recv()).await else { break };
                match message {
                    Ok(FeedMessage::Class(changed)) if changed.class_id != class_id => {}
                    Ok(FeedMessage::Changed(event)) if event.listed.instance.class_id != Some(class_id) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Ok(()),
                }
            }
            drain(&mut messages);
        }
    }

    /// Returns the launches of the last 24 hours in a class by person, for the board.
    ///
    /// # Errors
    /// ClassRole, Unavailable.
    pub async fn present(&self, access: &ClassAccess) -> Result<Vec<Attendance>, ServiceError> {
        require_in(access, ClassAction::Watch)?;
        let since = self.0.clock.now().checked_sub(PRESENT).unwrap_or(Timestamp::MIN);
        Ok(self.0.store.attendance(access.class(), Some(since)).await?)
    }

    /// Returns the launches in a class by person, also of former members. Purged instances do not count.
    ///
    /// # Errors
    /// ClassRole, Unavailable.
    pub async fn attendance(&self, access: &ClassAccess) -> Result<Vec<Attendance>, ServiceError> {
        require_in(access, ClassAction::Watch)?;
        Ok(self.0.store.attendance(access.class(), None).await?)
    }
}

/// Removes the messages that one notification covers.
fn drain(messages: &mut Receiver<FeedMessage>) {
    while !matches!(messages.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
}
