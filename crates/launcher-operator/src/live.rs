//! Reads a Workshop from the API server instead of the watch cache. If a watch connection has died unnoticed, the cache
//! lags by more than a minute.

use kube::{Api, ResourceExt};
use launcher_workshop::Workshop;

use crate::context::Context;

/// Reads the Workshop. Returns none if it is gone, is being deleted, or if another one has its name.
///
/// # Errors
/// The API server's error, or that the response is unreadable.
pub(crate) async fn reread(context: &Context, known: &Workshop) -> Result<Option<Workshop>, kube::Error> {
    let api: Api<Workshop> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let found = api.get_opt(&known.name_any()).await?;
    Ok(found.filter(|found| found.uid() == known.uid() && found.metadata.deletion_timestamp.is_none()))
}
