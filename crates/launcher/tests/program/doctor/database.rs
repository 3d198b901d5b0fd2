use std::path::Path;

use launcher_store::Store;
use sqlx::{AnyConnection, Connection, Executor};

use super::Visit;

fn url(data: &Path) -> String {
    format!("sqlite:{}", data.join("launcher.db").display())
}

/// Creates a data directory with a database that is bound to the fleet with this identity.
async fn data(fleet: &str) -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    let store = Store::open(&url(data.path())).await.unwrap();
    store.bind_fleet(fleet).await.unwrap();
    store.close().await;
    data
}

async fn told(data: &Path, statement: &'static str) {
    let mut connection = AnyConnection::connect(&url(data)).await.unwrap();
    connection.execute(statement).await.unwrap();
    connection.close().await.unwrap();
}

#[test]
fn doctor_reports_missing_database_and_does_not_create_it() {
    let data = tempfile::tempdir().unwrap();
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "database", &["launcher.db: there is no such file", "its first start creates the file"]);
    visit.is_silent_about("schema");
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "expected no new file");
}

#[test]
fn doctor_reports_invalid_database_path_or_url() {
    let file = tempfile::NamedTempFile::new().unwrap();
    Visit::at(file.path(), &[]).says("FAIL", "database", &["Not a directory", "SERVICE_DATA_DIR"]);
    let wrong = [("SERVICE_DATABASE_URL", "mysql://localhost/launcher")];
    Visit::with(&wrong).says("FAIL", "database", &["set SERVICE_DATABASE_URL to sqlite:///"]);
}

#[test]
fn doctor_reports_file_that_is_no_database() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("launcher.db"), "not a database").unwrap();
    Visit::at(data.path(), &[]).says("FAIL", "database", &["file is not a database", "restore a backup"]);
}

#[tokio::test]
async fn doctor_reports_database_of_other_fleet() {
    let data = data("elsewhere").await;
    Visit::at(data.path(), &[]).says("FAIL", "fleet binding", &["elsewhere", "SERVICE_DATA_DIR"]);
    std::fs::create_dir(data.path().join("fleet")).unwrap();
    std::fs::write(data.path().join("fleet/id"), "here\n").unwrap();
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "fleet binding", &["another fleet (elsewhere, and this one is here)"]);
    std::fs::write(data.path().join("fleet/id"), "elsewhere\n").unwrap();
    Visit::at(data.path(), &[]).says("ok", "fleet binding", &["elsewhere"]);
}

#[tokio::test]
async fn doctor_reports_newer_or_missing_schema() {
    let data = data("here").await;
    told(
        data.path(),
        "UPDATE _sqlx_migrations SET version = 9000 WHERE version = (SELECT max(version) FROM _sqlx_migrations)",
    )
    .await;
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "schema", &["schema change 9000", "run the newer version"]);
    visit.is_silent_about("fleet binding");
    told(data.path(), "DELETE FROM _sqlx_migrations").await;
    Visit::at(data.path(), &[]).says("warn", "schema", &["the database is empty", "SERVICE_DATABASE_URL"]);
}

#[tokio::test]
async fn doctor_reports_locked_database() {
    let data = data("here").await;
    let mut other = AnyConnection::connect(&url(data.path())).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "writes", &["database is locked", "programs that have the file open"]);
    visit.says("ok", "schema", &[]);
    other.execute("ROLLBACK").await.unwrap();
    Visit::at(data.path(), &[]).says("ok", "writes", &[]);
    other.close().await.unwrap();
}

#[tokio::test]
async fn doctor_reports_stalled_queue() {
    let data = data("here").await;
    told(
        data.path(),
        "INSERT INTO workshop_templates (template_id, settings, active, version, created_by, created_at, updated_at) \
         VALUES ('01900000-0000-7000-8000-000000000001', '{}', 0, 1, 'x', 0, 0); \
         INSERT INTO template_settings (settings_hash, settings) VALUES ('x', '{}'); \
         INSERT INTO workshop_instances (instance_id, k8s_name, owner_email, template_id, settings_hash, state, created_at, \
         spec_version, applied_version, revision, queue_number) VALUES ('1', 'a', 'a@example.org', \
         '01900000-0000-7000-8000-000000000001', 'x', 'queued', 0, 0, 0, 1, 1)",
    )
    .await;
    let visit = Visit::at(data.path(), &[]);
    visit.says("warn", "workshops", &["1 queued", "The queue stalls"]);
}
