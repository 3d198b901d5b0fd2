//! Template settings at the time of a launch. Equal settings are stored once, and instances refer to them.

use launcher_domain::TemplateSettings;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::rows;
use crate::sql::query;
use crate::store::Store;
use crate::write::WriteTransaction;

pub(crate) const KNOWN: &str = "SELECT 1 FROM template_settings WHERE settings_hash = $1";
const INSERT: &str =
    "INSERT INTO template_settings (settings_hash, settings) VALUES ($1, $2) ON CONFLICT (settings_hash) DO NOTHING";
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
        let json = rows::json(settings)?;
        let hash = Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { hash, json })
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
