//! Examination of a database for `launcher doctor`. It does not create, migrate or change the database.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use launcher_domain::AppType;
use sqlx::Row;

use crate::driver;
use crate::error::StoreError;
use crate::filter::Page;
use crate::sql::query;
use crate::store::Store;

const APPLIED: &str = "SELECT version, checksum FROM _sqlx_migrations ORDER BY version";
pub(crate) const OLDEST: &str =
    "SELECT created_at FROM workshop_instances WHERE state = 'queued' ORDER BY queue_number LIMIT 1";
/// Templates per batch.
const PORTION: u32 = 200;

/// A database under examination.
#[derive(Debug)]
pub struct Examination {
    store: Store,
    file: Option<PathBuf>,
}

/// Needs of the templates that users can launch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogNeeds {
    pub apps: Vec<AppType>,
    /// True if a template has course material.
    pub material: bool,
}

/// Schema of a database compared with this program's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// Equal to this program's.
    Current,
    /// The schema is missing: the first start creates it.
    None,
    /// This many migrations are missing: the next start applies them.
    Older(usize),
    /// This program does not know this migration of the database.
    Newer(i64),
    /// This migration differs from the one embedded in this program.
    Changed(i64),
}

/// Instance counts of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Number of instances by state. Omits states without instances.
    pub states: BTreeMap<&'static str, u32>,
    /// Launch time of the first instance in the queue.
    pub oldest_queued: Option<Timestamp>,
}

impl Examination {
    /// Opens the database at `url`, which must exist.
    ///
    /// # Errors
    /// [`StoreError::Open`] when the URL, the path or the server is unusable, [`StoreError::Unavailable`] when the
    /// database does not answer.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let (pool, engine) = driver::open_unmigrated(url).await?;
        let file = url.strip_prefix("sqlite:").map(|path| PathBuf::from(path.strip_prefix("//").unwrap_or(path)));
        Ok(Self { store: Store::new(pool, engine), file })
    }

    /// Returns the file of a SQLite database.
    #[must_use]
    pub fn file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }

    /// Returns the engine with its version, for example `PostgreSQL 17.2`.
    pub async fn engine(&self) -> Result<String, StoreError> {
        let row = query(self.store.engine.doctor.version).fetch_one(&self.store.pool).await?;
        let name = if self.file.is_some() { "SQLite" } else { "PostgreSQL" };
        Ok(format!("{name} {}", row.try_get::<String, _>(0)?))
    }

    /// Compares the schema with this program's.
    pub async fn schema(&self) -> Result<Schema, StoreError> {
        let engine = self.store.engine;
        if query(engine.doctor.migrated).fetch_optional(&self.store.pool).await?.is_none() {
            return Ok(Schema::None);
        }
        let rows = query(APPLIED).fetch_all(&self.store.pool).await?;
        let applied = rows.iter().map(|row| Ok((row.try_get("version")?, row.try_get("checksum")?)));
        Ok(compare(engine.migrations().collect(), &applied.collect::<Result<Vec<_>, StoreError>>()?))
    }

    /// Returns true if the server refuses all writes: a standby, or a server configured as read-only.
    pub async fn is_read_only(&self) -> Result<bool, StoreError> {
        let Some(question) = self.store.engine.read_only else { return Ok(false) };
        Ok(query(question).fetch_one(&self.store.pool).await?.try_get::<String, _>(0)? == "on")
    }

    /// Tests whether the database accepts writes: makes one write and rolls it back.
    ///
    /// # Errors
    /// [`StoreError`] when the write fails.
    pub async fn try_to_write(&self) -> Result<(), StoreError> {
        // The transaction is dropped without a commit, which rolls the write back.
        self.store.write().await?.take_revisions(0).await.map(|_| ())
    }

    /// Returns the identity of the fleet to which the rows are bound; `None` if they are not bound.
    pub async fn bound_fleet(&self) -> Result<Option<String>, StoreError> {
        self.store.bound_fleet().await
    }

    /// Counts the instances by state, and reads the oldest queued one.
    pub async fn rows(&self) -> Result<Rows, StoreError> {
        let counts = self.store.count_states().await?.into_iter().filter(|(_, count)| *count > 0);
        let states = counts.map(|(state, count)| (state.as_str(), u32::try_from(count).unwrap_or(u32::MAX))).collect();
        let oldest = query(OLDEST).fetch_optional(&self.store.pool).await?;
        let oldest = oldest.map(|row| row.try_get("created_at")).transpose()?;
        Ok(Rows { states, oldest_queued: oldest.and_then(|millis| Timestamp::from_millisecond(millis).ok()) })
    }

    /// Returns the needs of the active templates, which users can launch.
    pub async fn catalog_needs(&self) -> Result<CatalogNeeds, StoreError> {
        let mut needs = CatalogNeeds::default();
        let mut page = Page { limit: PORTION, after: None };
        loop {
            let templates = self.store.templates(None, false, &page).await?;
            for template in &templates {
                needs.material |= template.settings.material.is_some();
                if !needs.apps.contains(&template.settings.app_type) {
                    needs.apps.push(template.settings.app_type);
                }
            }
            match templates.last() {
                Some(last) if templates.len() >= PORTION as usize => page.after = Some(last.template_id),
                _ => return Ok(needs),
            }
        }
    }

    /// Returns the time of the server's clock; `None` if the engine uses this host's clock.
    pub async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        let Some(question) = self.store.engine.doctor.clock else { return Ok(None) };
        let millis = query(question).fetch_one(&self.store.pool).await?.try_get(0)?;
        Ok(Timestamp::from_millisecond(millis).ok())
    }

    pub async fn close(&self) {
        self.store.close().await;
    }
}

/// Compares the applied migrations of a database with a program's, each as version and checksum.
fn compare(mut ours: BTreeMap<i64, &[u8]>, applied: &[(i64, Vec<u8>)]) -> Schema {
    let all = ours.len();
    for (version, checksum) in applied {
        match ours.remove(version) {
            None => return Schema::Newer(*version),
            Some(known) if known != checksum => return Schema::Changed(*version),
            Some(_) => {}
        }
    }
    match ours.len() {
        0 => Schema::Current,
        missing if missing == all => Schema::None,
        missing => Schema::Older(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_older_while_the_next_version_has_not_migrated_it() {
        let next = || [(1, &b"first"[..]), (2, b"next")].into();
        let applied =
            |versions: &[(i64, &str)]| versions.iter().map(|(n, sum)| (*n, sum.as_bytes().to_vec())).collect();
        let cases: [(&[(i64, &str)], Schema); 5] = [
            (&[], Schema::None),
            (&[(1, "first")], Schema::Older(1)),
            (&[(1, "first"), (2, "next")], Schema::Current),
            (&[(1, "first"), (3, "later")], Schema::Newer(3)),
            (&[(1, "other")], Schema::Changed(1)),
        ];
        for (versions, expected) in cases {
            let applied: Vec<_> = applied(versions);
            assert_eq!(compare(next(), &applied), expected, "{versions:?}");
        }
    }
}
