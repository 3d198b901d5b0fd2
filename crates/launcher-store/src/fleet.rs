//! Binding of the database to one fleet.

use sqlx::Row;

use crate::error::StoreError;
use crate::sql::query;
use crate::store::Store;

const BOUND: &str = "SELECT fleet FROM fleet_binding WHERE binding_id = 1";
const BIND: &str = "INSERT INTO fleet_binding (binding_id, fleet) VALUES (1, $1) ON CONFLICT (binding_id) DO NOTHING";

impl Store {
    /// Returns the identity of the fleet to which the rows are bound; `None` if they are not bound.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bound_fleet(&self) -> Result<Option<String>, StoreError> {
        let row = query(BOUND).fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.try_get("fleet")).transpose()?)
    }

    /// Binds the rows of this database to a fleet, unless they are already bound. Returns the identity of the fleet to
    /// which they are bound now.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bind_fleet(&self, fleet: &str) -> Result<String, StoreError> {
        let mut write = self.write().await?;
        query(BIND).bind(fleet.to_owned()).execute(write.connection()).await?;
        let bound = query(BOUND).fetch_one(write.connection()).await?.try_get("fleet")?;
        write.commit().await?;
        Ok(bound)
    }
}
