//! Templates. Every user may read all of them; callers of the store authorize writes.

use launcher_domain::{Activity, Caller, EmailAddress, Template};
use uuid::Uuid;

use crate::error::StoreError;
use crate::page::Page;
use crate::rows::{self, template_columns};
use crate::sql::{Sql, query};
use crate::store::Store;

const INSERT: &str = concat!(
    "INSERT INTO workshop_templates (",
    template_columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (template_id) DO NOTHING RETURNING template_id"
);
pub(crate) const BY_ID: &str =
    concat!("SELECT ", template_columns!(), " FROM workshop_templates WHERE template_id = $1");
pub(crate) const SAVE: &str = "UPDATE workshop_templates SET settings = $1, active = $2, version = $3, updated_at = $4 \
                               WHERE template_id = $5 AND version = $6";

impl Store {
    /// Stores a new template. Returns false, and writes nothing, if its identifier exists.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn create_template(&self, template: &Template) -> Result<bool, StoreError> {
        self.insert_template(template, Some(template.created_by.clone())).await
    }

    /// Stores a template unless its identifier exists. A template that an admin has changed is therefore kept. Returns
    /// true if the template was stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn seed_template(&self, template: &Template) -> Result<bool, StoreError> {
        self.insert_template(template, None).await
    }

    async fn insert_template(&self, template: &Template, actor: Option<EmailAddress>) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        let row = query(INSERT)
            .bind(template.template_id.to_string())
            .bind(rows::json(&template.settings)?)
            .bind(i64::from(template.active))
            .bind(template.version)
            .bind(template.created_by.as_str().to_owned())
            .bind(template.created_at.as_millisecond())
            .bind(template.updated_at.as_millisecond())
            .fetch_optional(write.connection())
            .await?;
        if row.is_none() {
            return Ok(false);
        }
        write.log_activity(revision, &Activity::of_new_template(template, actor)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Returns the template with this identifier, active or not: every user may read it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn template(&self, template_id: Uuid) -> Result<Option<Template>, StoreError> {
        let row = query(BY_ID).bind(template_id.to_string()).fetch_optional(&self.pool).await?;
        row.as_ref().map(rows::template).transpose()
    }

    /// Returns a page of the catalog, newest first: active templates, or all of them for an admin.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn templates(&self, caller: &Caller, page: &Page) -> Result<Vec<Template>, StoreError> {
        let rows = list(caller.is_admin(), page).fetch_all(&self.pool).await?;
        rows::all(&rows, rows::template)
    }

    /// Replaces `before` by `after` on behalf of an admin. Returns false, and writes nothing, if the template changed
    /// since `before` was read.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn save_template(&self, before: &Template, after: &Template, by: &Caller) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let revision = write.take_revisions(1).await?;
        let saved = query(SAVE)
            .bind(rows::json(&after.settings)?)
            .bind(i64::from(after.active))
            .bind(after.version)
            .bind(after.updated_at.as_millisecond())
            .bind(before.template_id.to_string())
            .bind(before.version)
            .execute(write.connection())
            .await?
            .rows_affected();
        if saved == 0 {
            return Ok(false);
        }
        write.log_activity(revision, &Activity::of_template_change(before, after, by.email().clone())).await?;
        write.commit().await?;
        Ok(true)
    }
}

/// Builds the query of a catalog page. Sorts by `created_at`, because the identifier of a seeded template does not
/// always contain its creation time.
pub(crate) fn list(with_inactive: bool, page: &Page) -> Sql {
    let mut sql = Sql::new(concat!("SELECT ", template_columns!(), " FROM workshop_templates"));
    if !with_inactive {
        sql.condition("active = 1");
    }
    if let Some(after) = page.after {
        sql.condition_with(
            "(created_at, template_id) < (SELECT created_at, template_id FROM workshop_templates WHERE template_id = ",
            after.to_string(),
        );
        sql.push(")");
    }
    sql.push(" ORDER BY created_at DESC, template_id DESC LIMIT ");
    sql.bind(i64::from(page.limit));
    sql
}
