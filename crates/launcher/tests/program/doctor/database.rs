use std::path::Path;

use launcher_store::Store;
use sqlx::{AnyConnection, Connection, Executor};

use super::Visit;

fn url(data: &Path) -> String {
    format!("sqlite:{}", data.join("launcher.db").display())
}

/// Creates a data directory with a database that is bound to this fleet.
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
fn missing_database_is_reported_and_not_created() {
    let data = tempfile::tempdir().unwrap();
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "database", &["launcher.db: there is no such file", "its first start makes it"]);
    visit.is_silent_about("schema");
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn invalid_database_path_or_url_is_reported() {
    let file = tempfile::NamedTempFile::new().unwrap();
    Visit::at(file.path(), &[]).says("FAIL", "database", &["Not a directory", "SERVICE_DATA_DIR"]);
    let wrong = [("SERVICE_DATABASE_URL", "mysql://localhost/launcher")];
    Visit::with(&wrong).says("FAIL", "database", &["set SERVICE_DATABASE_URL to sqlite:///"]);
}

#[test]
fn non_database_file_is_reported() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("launcher.db"), "not a database, however one looks at it").unwrap();
    Visit::at(data.path(), &[]).says("FAIL", "database", &["file is not a database", "restore a backup"]);
}

#[tokio::test]
async fn database_of_other_fleet_is_reported() {
    let data = data("elsewhere").await;
    Visit::at(data.path(), &[]).says("FAIL", "belonging", &["elsewhere", "SERVICE_DATA_DIR"]);
    std::fs::create_dir(data.path().join("fleet")).unwrap();
    std::fs::write(data.path().join("fleet/id"), "here\n").unwrap();
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "belonging", &["another fleet (elsewhere, and this one is here)"]);
    std::fs::write(data.path().join("fleet/id"), "elsewhere\n").unwrap();
    Visit::at(data.path(), &[]).says("ok", "belonging", &["elsewhere"]);
}

#[tokio::test]
async fn newer_or_older_schema_is_reported() {
    let data = data("here").await;
    told(
        data.path(),
        "UPDATE _sqlx_migrations SET version = 9000 WHERE version = (SELECT max(version) FROM _sqlx_migrations)",
    )
    .await;
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "schema", &["schema change 9000", "run the newer version"]);
    visit.is_silent_about("belonging");
    told(data.path(), "DELETE FROM _sqlx_migrations WHERE version = 9000").await;
    Visit::at(data.path(), &[]).says(
        "warn",
        "schema",
        &["changes of the schema are missing (1)", "Back the database up"],
    );
}

#[tokio::test]
async fn locked_database_is_reported() {
    let data = data("here").await;
    let mut other = AnyConnection::connect(&url(data.path())).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let visit = Visit::at(data.path(), &[]);
    visit.says("FAIL", "writing", &["database is locked", "who else has the file open"]);
    visit.says("ok", "schema", &[]);
    other.execute("ROLLBACK").await.unwrap();
    Visit::at(data.path(), &[]).says("ok", "writing", &[]);
    other.close().await.unwrap();
}

#[tokio::test]
async fn stalled_queue_is_reported() {
    let data = data("here").await;
    told(
        data.path(),
        "INSERT INTO workshop_templates VALUES ('01900000-0000-7000-8000-000000000001', '{}', 0, 1, 'x', 0, 0); \
         INSERT INTO workshop_instances (instance_id, k8s_name, owner_email, template_id, settings, state, created_at, \
         spec_version, applied_version, revision, launch_number) VALUES ('1', 'a', 'a@example.org', \
         '01900000-0000-7000-8000-000000000001', '{}', 'queued', 0, 0, 0, 1, 1)",
    )
    .await;
    let visit = Visit::at(data.path(), &[]);
    visit.says("warn", "workshops", &["1 queued", "nobody takes launches from the line"]);
}
