//! Templates of the shared catalog and of classes. Every user may read the shared catalog. Callers of the store authorize
//! writes, and reads of a class.

use std::sync::LazyLock;

use launcher_domain::{Activity, Caller, ClassAccess, ClassAction, EmailAddress, Template, TemplateSettings};
use sha2::{Digest, Sha256};
use sqlx::Row;
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::Page;
use crate::rows;
use crate::sql::{Sql, query};
use crate::store::{Store, WriteTransaction};
use crate::table::Record;

pub(crate) static INSERT: LazyLock<String> = LazyLock::new(|| Template::TABLE.insert());
pub(crate) const BY_ID: &str = templates!(" WHERE template_id = $1");
pub(crate) const BY_SLUG: &str = templates!(" WHERE class_id = '' AND slug = $1");
const SLUG_HOLDER: &str = "SELECT template_id FROM workshop_templates WHERE slug = $1 AND class_id = $2";
pub(crate) static SAVE: LazyLock<String> = LazyLock::new(|| {
    let set = Template::TABLE.set(3);
    format!("UPDATE workshop_templates SET {set} WHERE template_id = $1 AND version = $2")
});

impl Store {
    /// Stores a new template, with `access` one of this class. Returns false, and writes nothing, if its identifier exists.
    ///
    /// # Errors
    /// [`StoreError::SlugTaken`] when another template has its slug; [`StoreError::ClassRole`] when the caller may no longer
    /// manage the templates of the class; otherwise [`StoreError`].
    pub async fn create_template(&self, template: &Template, access: Option<&ClassAccess>) -> Result<bool, StoreError> {
        self.insert_template(template, Some(template.created_by.clone()), access).await
    }

    /// Stores a template unless its identifier exists. A template that an admin has changed is therefore kept. Returns
    /// true if the template was stored.
    ///
    /// # Errors
    /// [`StoreError::SlugTaken`] when another template has its slug; otherwise [`StoreError`].
    pub async fn seed_template(&self, template: &Template) -> Result<bool, StoreError> {
        self.insert_template(template, None, None).await
    }

    async fn insert_template(
        &self,
        template: &Template,
        actor: Option<EmailAddress>,
        access: Option<&ClassAccess>,
    ) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.require_manager(access).await?;
        let same = query(BY_ID).bind(template.template_id.to_string()).fetch_optional(write.connection()).await?;
        if same.is_some() {
            return Ok(false);
        }
        write.check_slug(template).await?;
        template.bind_all(query(&INSERT))?.execute(write.connection()).await?;
        write.log_activity(revision, &Activity::of_new_template(template, actor)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Returns the template with this identifier, active or not, of the shared catalog or of any class: the caller of the
    /// store compares the class.
    pub async fn any_template(&self, template_id: Uuid) -> Result<Option<Template>, StoreError> {
        query(BY_ID).bind(template_id.to_string()).read_optional(&self.pool).await
    }

    /// Returns the template with this identifier, active or not, of a class, or for `None` of the shared catalog.
    pub async fn template(&self, class_id: Option<Uuid>, template_id: Uuid) -> Result<Option<Template>, StoreError> {
        Ok(self.any_template(template_id).await?.filter(|template| template.class_id == class_id))
    }

    /// Returns the template of the shared catalog with this slug, active or not: every user may read it.
    pub async fn template_by_slug(&self, slug: &str) -> Result<Option<Template>, StoreError> {
        // No row contains NUL, and PostgreSQL rejects it.
        query(BY_SLUG).bind(rows::text(slug)).read_optional(&self.pool).await
    }

    /// Returns a page of the templates of a class, or for `None` of the shared catalog, newest first: active and listed
    /// templates, or with `with_hidden` all of them.
    pub async fn templates(
        &self,
        class_id: Option<Uuid>,
        with_hidden: bool,
        page: &Page,
    ) -> Result<Vec<Template>, StoreError> {
        list(class_id, with_hidden, page).statement()?.read_all(&self.pool).await
    }

    /// Replaces `before` by `after` on behalf of an admin, or with `access` of a teacher. Returns false, and writes nothing, if
    /// the template changed since `before` was read.
    ///
    /// # Errors
    /// [`StoreError::SlugTaken`] when another template has the slug of `after`; [`StoreError::ClassRole`] when the caller may no
    /// longer manage the templates of the class; otherwise [`StoreError`].
    pub async fn save_template(
        &self,
        before: &Template,
        after: &Template,
        by: &Caller,
        access: Option<&ClassAccess>,
    ) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        write.require_manager(access).await?;
        write.check_slug(after).await?;
        let save = query(&SAVE).bind(before.template_id.to_string()).bind(before.version);
        let saved = after.bind_changed(save)?.execute(write.connection()).await?.rows_affected();
        if saved == 0 {
            return Ok(false);
        }
        write.log_activity(revision, &Activity::of_template_change(before, after, by.email().clone())).await?;
        write.commit().await?;
        Ok(true)
    }
}

impl WriteTransaction {
    /// Refuses a caller who may no longer manage the templates of the class.
    async fn require_manager(&mut self, access: Option<&ClassAccess>) -> Result<(), StoreError> {
        let Some(access) = access else { return Ok(()) };
        self.require(access, ClassAction::ManageTemplates).await
    }

    /// Refuses a template whose slug another template of the same class, or of the shared catalog, has. The transaction must
    /// have taken a revision: it then holds the lock of all changes, so that no other transaction can take the slug first.
    async fn check_slug(&mut self, template: &Template) -> Result<(), StoreError> {
        let Some(slug) = template.listing.slug.clone() else { return Ok(()) };
        let class = class_text(template.class_id);
        let row = query(SLUG_HOLDER).bind(slug.clone()).bind(class).fetch_optional(self.connection()).await?;
        let holder: Option<String> = row.map(|row| row.try_get(0)).transpose()?;
        match holder {
            Some(holder) if holder != template.template_id.to_string() => Err(StoreError::SlugTaken { slug }),
            _ => Ok(()),
        }
    }
}

/// Returns the stored form of the class of a template: empty for the shared catalog.
fn class_text(class_id: Option<Uuid>) -> String {
    class_id.map(|class| class.to_string()).unwrap_or_default()
}

/// Builds the query of a catalog page. Sorts by `created_at`, because the identifier of a seeded template does not
/// always contain its creation time.
pub(crate) fn list(class_id: Option<Uuid>, with_hidden: bool, page: &Page) -> Sql {
    let mut sql = Sql::new(templates!());
    sql.condition_with("class_id = ", class_text(class_id));
    if !with_hidden {
        sql.condition("active = 1");
        sql.condition("unlisted = 0");
    }
    if let Some(after) = page.after {
        sql.condition_with(
            "(created_at, template_id) < (SELECT created_at, template_id FROM workshop_templates WHERE template_id = ",
            after.to_string(),
        );
        sql.push_with(" AND class_id = ", class_text(class_id));
        sql.push(")");
    }
    sql.push_with(" ORDER BY created_at DESC, template_id DESC LIMIT ", i64::from(page.limit));
    sql
}

pub(crate) const SETTINGS_KNOWN: &str = "SELECT 1 FROM template_settings WHERE settings_hash = $1";
const INSERT_SETTINGS: &str =
    "INSERT INTO template_settings (settings_hash, settings) VALUES ($1, $2) ON CONFLICT (settings_hash) DO NOTHING";
pub(crate) const UNUSED_SETTINGS: &str = "SELECT 1 FROM template_settings WHERE NOT EXISTS (SELECT 1 FROM workshop_instances \
     WHERE workshop_instances.settings_hash = template_settings.settings_hash) LIMIT 1";
pub(crate) const PURGE_SETTINGS: &str = "DELETE FROM template_settings WHERE NOT EXISTS (SELECT 1 FROM workshop_instances \
     WHERE workshop_instances.settings_hash = template_settings.settings_hash)";

/// Settings in their stored form, identified by the SHA-256 of their content.
pub(crate) struct StoredSettings {
    pub(crate) hash: String,
    json: String,
}

impl StoredSettings {
    pub(crate) fn of(settings: &TemplateSettings) -> Result<Self, StoreError> {
        let json = rows::json(settings)?;
        Ok(Self { hash: hex::encode(Sha256::digest(&json)), json })
    }
}

impl WriteTransaction {
    /// Stores settings unless they are stored already. The caller must have locked the change counter. Otherwise a
    /// purge could remove the settings before an instance refers to them.
    pub(crate) async fn store_settings(&mut self, settings: &StoredSettings) -> Result<(), StoreError> {
        if query(SETTINGS_KNOWN).bind(settings.hash.clone()).fetch_optional(self.connection()).await?.is_none() {
            query(INSERT_SETTINGS)
                .bind(settings.hash.clone())
                .bind(settings.json.clone())
                .execute(self.connection())
                .await?;
        }
        Ok(())
    }
}

impl Store {
    /// Removes the settings to which no instance refers. Returns the number of removed settings.
    pub async fn purge_settings(&self) -> Result<u64, StoreError> {
        // Check with a read first, because a read does not block writers. Usually all settings are in use.
        if query(UNUSED_SETTINGS).fetch_optional(&self.pool).await?.is_none() {
            return Ok(0);
        }
        let mut write = self.write().await?;
        write.take_revisions(0).await?;
        let removed = query(PURGE_SETTINGS).execute(write.connection()).await?.rows_affected();
        write.commit().await?;
        Ok(removed)
    }
}
