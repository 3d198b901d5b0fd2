//! Sends the saved files of earlier instances to Workshops that wait for them. On one machine, no Workshop waits.

use std::collections::HashMap;
use std::sync::Mutex;

use launcher_domain::sync::lock;
use launcher_domain::{ArchiveToken, Instance};
use launcher_workshop::Workshop;

use crate::launcher::Launcher;

/// The Workshops to which this launcher sends saved files now, by name. The value is true if the Workshop waits, or waits
/// again, since the current call began.
#[derive(Debug, Default)]
pub(crate) struct Restores(Mutex<HashMap<String, bool>>);

impl Restores {
    /// Records a Workshop that waits. Returns true if no call is in progress.
    fn begin(&self, workshop: &str) -> bool {
        let mut sending = lock(&self.0);
        if let Some(again) = sending.get_mut(workshop) {
            *again = true;
            return false;
        }
        sending.insert(workshop.to_owned(), false);
        true
    }

    /// Records the end of a call. Returns true if another call must follow.
    fn end(&self, workshop: &str) -> bool {
        let mut sending = lock(&self.0);
        let again = sending.get_mut(workshop).is_some_and(std::mem::take);
        if !again {
            sending.remove(workshop);
        }
        again
    }
}

impl Launcher {
    /// Sends the saved files of an instance in the background if its Workshop waits for them. A stop of the launcher interrupts
    /// the call. The next launcher sends all files again.
    pub(crate) fn send_saved_files(&self, instance: &Instance, workshop: &Workshop) {
        let waits = workshop.status.as_ref().is_some_and(|status| status.restore_address.is_some());
        let Some(snapshot) = instance.snapshot.as_ref().filter(|_| waits) else { return };
        if self.0.restores.begin(&instance.k8s_name) {
            let (launcher, instance, token) = (self.clone(), instance.clone(), snapshot.token.clone());
            tokio::spawn(async move { launcher.send_until_placed(&instance, &token).await });
        }
    }

    async fn send_until_placed(&self, instance: &Instance, token: &ArchiveToken) {
        let workshop = &instance.k8s_name;
        loop {
            if let Some(archives) = self.fleet_of(instance).ok().and_then(|fleet| fleet.archives()) {
                archives.send_saved_files(workshop, token).await;
            }
            if !self.0.restores.end(workshop) {
                return;
            }
        }
    }
}
