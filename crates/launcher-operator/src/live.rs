//! A Workshop as it is, and not as a watch last told it: a watch whose connection has died unnoticed is behind by more
//! than a minute.

use kube::{Api, ResourceExt};
use launcher_workshop::Workshop;

use crate::context::Context;

/// The Workshop as it is now; none when it is gone, on its way out, or another one of its name.
///
/// # Errors
/// The API server's, and that what it answers cannot be read.
pub(crate) async fn look(context: &Context, known: &Workshop) -> Result<Option<Workshop>, kube::Error> {
    let api: Api<Workshop> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let found = api.get_opt(&known.name_any()).await?;
    Ok(found.filter(|found| found.uid() == known.uid() && found.metadata.deletion_timestamp.is_none()))
}
