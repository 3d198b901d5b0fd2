//! Use case of the activity log: admins read it.

use launcher_domain::Caller;
use launcher_domain::access::{Action, Verdict, decide};
use launcher_store::{ActivityFilter, LoggedActivity, Page};

use crate::error::ServiceError;
use crate::launcher::Launcher;

impl Launcher {
    /// Lists a page of the activity log, newest first.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn activities(
        &self,
        caller: &Caller,
        filter: &ActivityFilter,
        page: &Page<i64>,
    ) -> Result<Vec<LoggedActivity>, ServiceError> {
        match decide(caller, Action::ReadActivities) {
            Verdict::Granted => Ok(self.0.store.activities(filter, page).await?),
            Verdict::Hidden | Verdict::Forbidden => Err(ServiceError::Forbidden),
        }
    }
}
