use launcher_store::Store;

use crate::{launcher, text};

fn copy(from: &str, to: &str) -> (bool, String) {
    let output = launcher(&["move-database", "--from", from, "--to", to], &[]);
    (output.status.success(), format!("{}{}", text(&output.stdout), text(&output.stderr)))
}

#[tokio::test]
async fn database_is_moved_and_second_move_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| format!("sqlite://{}", folder.path().join(name).display());
    let store = Store::open(&url("old.db")).await.unwrap();
    store.bind_fleet("here").await.unwrap();
    store.close().await;

    let (done, said) = copy(&url("old.db"), &url("new.db"));
    assert!(done && said.contains("1  fleet_binding") && said.contains("Set SERVICE_DATABASE_URL"), "{said}");
    let moved = Store::open(&url("new.db")).await.unwrap();
    assert_eq!(moved.bound_fleet().await.unwrap().as_deref(), Some("here"));
    moved.close().await;

    let (done, said) = copy(&url("old.db"), &url("new.db"));
    assert!(!done && said.starts_with("launcher: "), "a second time the target is not empty: {said}");
}

#[test]
fn missing_source_database_is_refused_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("lunacher.db"), folder.path().join("new.db"));
    let (done, said) = copy(&format!("sqlite://{}", from.display()), &format!("sqlite://{}", to.display()));
    assert!(!done && said.contains("lunacher.db: there is no such file"), "{said}");
    assert!(!from.exists() && !to.exists());
}
