//! Template settings at the time of a launch. Equal settings are stored once, and instances refer to them.

use launcher_domain::TemplateSettings;
use sha2::{Digest, Sha256};
use sqlx::Row;

use crate::error::StoreError;
use crate::rows;
use crate::sql::query;
use crate::store::Store;
use crate::write::WriteTransaction;

pub(crate) const KNOWN: &str = "SELECT 1 FROM template_settings WHERE settings_hash = $1";
const INSERT: &str =
    "INSERT INTO template_settings (settings_hash, settings) VALUES ($1, $2) ON CONFLICT (settings_hash) DO NOTHING";
/// One batch of instances whose settings an earlier version of this program stored in the row. Batches are small,
/// because settings can take hundreds of kilobytes.
pub(crate) const INLINE: &str =
    "SELECT instance_id, settings FROM workshop_instances WHERE settings_hash IS NULL LIMIT 50";
pub(crate) const MOVE: &str = "UPDATE workshop_instances SET settings = '', settings_hash = $1 \
                               WHERE instance_id = $2 AND settings_hash IS NULL";
pub(crate) const UNUSED: &str = "SELECT 1 FROM template_settings WHERE NOT EXISTS (SELECT 1 FROM workshop_instances \
     WHERE workshop_instances.settings_hash = template_settings.settings_hash) LIMIT 1";
pub(crate) const PURGE: &str = "DELETE FROM template_settings WHERE NOT EXISTS (SELECT 1 FROM workshop_instances \
     WHERE workshop_instances.settings_hash = template_settings.settings_hash)";

/// Settings in their stored form, identified by the SHA-256 of their content.
pub(crate) struct StoredSettings {
    pub(crate) hash: String,
    json: String,
}

impl StoredSettings {
    pub(crate) fn of(settings: &TemplateSettings) -> Result<Self, StoreError> {
        rows::json(settings).map(Self::from_json)
    }

    fn from_json(json: String) -> Self {
        let hash = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { hash, json }
    }
}

impl WriteTransaction {
    /// Stores settings unless they are stored already. The caller must have locked the change counter. Otherwise a
    /// purge could remove the settings before an instance refers to them.
    pub(crate) async fn store_settings(&mut self, settings: &StoredSettings) -> Result<(), StoreError> {
        if query(KNOWN).bind(settings.hash.clone()).fetch_optional(self.connection()).await?.is_none() {
            query(INSERT).bind(settings.hash.clone()).bind(settings.json.clone()).execute(self.connection()).await?;
        }
        Ok(())
    }
}

impl Store {
    /// Moves settings that an earlier version of this program stored in instance rows into the shared table. Reads
    /// return the same values as before. Returns the number of changed rows.
    ///
    /// # Errors
    /// [`StoreError`]. The batches before the error stay moved.
    pub async fn move_inline_settings(&self) -> Result<u64, StoreError> {
        let mut moved = 0;
        loop {
            let inline = query(INLINE).fetch_all(&self.pool).await?;
            if inline.is_empty() {
                return Ok(moved);
            }
            let mut write = self.write().await?;
            write.take_revisions(0).await?;
            for row in &inline {
                let instance_id: String = row.try_get("instance_id")?;
                let settings = StoredSettings::from_json(row.try_get("settings")?);
                write.store_settings(&settings).await?;
                moved += query(MOVE)
                    .bind(settings.hash)
                    .bind(instance_id)
                    .execute(write.connection())
                    .await?
                    .rows_affected();
            }
            write.commit().await?;
        }
    }

    /// Removes the settings to which no instance refers. Returns the number of removed settings.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn purge_settings(&self) -> Result<u64, StoreError> {
        // Check with a read first, because a read does not block writers. Usually all settings are in use.
        if query(UNUSED).fetch_optional(&self.pool).await?.is_none() {
            return Ok(0);
        }
        let mut write = self.write().await?;
        write.take_revisions(0).await?;
        let removed = query(PURGE).execute(write.connection()).await?.rows_affected();
        write.commit().await?;
        Ok(removed)
    }
}
