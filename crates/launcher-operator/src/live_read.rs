//! Reads a Workshop from the API server instead of the watch cache. The cache is stale for more than a minute if a
//! watch connection has died unnoticed.

use kube::{Api, ResourceExt};
use launcher_workshop::Workshop;

use crate::context::Context;

/// Reads a Workshop that is known from the cache. Returns `None` if it is gone or being deleted, or if a new Workshop
/// has its name.
///
/// # Errors
/// The API server does not answer or answers with an error, or the response cannot be parsed.
pub(crate) async fn read_live(context: &Context, known: &Workshop) -> Result<Option<Workshop>, kube::Error> {
    let api: Api<Workshop> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let found = api.get_opt(&known.name_any()).await?;
    Ok(found.filter(|found| found.uid() == known.uid() && found.metadata.deletion_timestamp.is_none()))
}
