//! Reports the addresses on which a starting app listens instead of its port.

use std::convert::Infallible;
use std::sync::Arc;

use launcher_domain::listening::{LISTEN_GRACE, LISTEN_INTERVAL};
use launcher_domain::{Clock, ListensElsewhere};
use tokio::time::sleep;

use super::record::{Process, StoredRecord};

/// Keeps the addresses in the status of a workshop whose app has just started, until the caller drops the future. `look`
/// returns `None` if it cannot read them now.
pub(crate) async fn report_listening<P: Process, F: Future<Output = Option<Option<ListensElsewhere>>>>(
    record: &Arc<StoredRecord<P>>,
    clock: &dyn Clock,
    look: impl Fn() -> F,
) -> Infallible {
    sleep(LISTEN_GRACE).await;
    loop {
        if let Some(found) = look().await
            && record.get().status().report.listens_elsewhere != found
        {
            if let Some(elsewhere) = &found {
                tracing::warn!(workshop = record.name(), "{elsewhere}");
            }
            record.observe_listening(found, clock.now()).await;
        }
        sleep(LISTEN_INTERVAL).await;
    }
}
