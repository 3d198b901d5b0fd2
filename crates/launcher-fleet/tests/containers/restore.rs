//! Workshops that start with saved files of an earlier one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io};

use async_trait::async_trait;
use futures_util::StreamExt;
use launcher_domain::FailureCode;
use launcher_fleet::engine::Part;
use launcher_fleet::{Archives, ByteStream, ContainerFleet, Fleet, SavedFiles, SavedFilesError, written_by};
use launcher_workshop::{Phase, Workshop, WorkshopRestore};
use tar::{Builder, EntryType, Header};

use super::support::fleet::open;
use super::support::fleet::{LAST_LINE, containers, output, script, until_empty, wait_for, without_internet};

/// Saved files. The first read breaks off, unless there is only one.
#[derive(Debug, Default)]
struct Saved(AtomicUsize);

#[async_trait]
impl SavedFiles for Saved {
    async fn open(&self, snapshot: &str) -> Result<ByteStream, SavedFilesError> {
        if snapshot == "missing" {
            return Err(SavedFilesError::Missing);
        }
        let is_whole = self.0.fetch_add(1, Ordering::SeqCst) > 0;
        let archive = written_by(move |out| {
            let mut tar = Builder::new(out);
            let entries = [("notes/", ""), ("notes/a.txt", "saved"), ("etc-passwd", "mine"), ("new/deep/b.txt", "two")];
            for (path, text) in entries {
                let mut header = Header::new_gnu();
                header.set_size(text.len() as u64);
                header.set_mode(0o755);
                header.set_entry_type(if path.ends_with('/') { EntryType::Directory } else { EntryType::Regular });
                tar.append_data(&mut header, path, text.as_bytes())?;
                if !is_whole && !text.is_empty() {
                    return Err(io::Error::other("the connection is lost"));
                }
            }
            tar.finish()
        });
        Ok(archive.boxed())
    }
}

async fn open_saving(home: &std::path::Path) -> ContainerFleet {
    let mut settings = without_internet(home);
    settings.machine.saved_files = Some(Arc::new(Saved::default()));
    open(settings).await
}

fn with_files(snapshot: &str) -> Workshop {
    let text = format!(
        "exec 2>&1; cd /www && /bin/busybox find notes new etc-passwd -type f | /bin/busybox sort && \
         /bin/busybox stat -c '%u %a' notes notes/a.txt && echo more >> notes/a.txt && /bin/busybox cat notes/a.txt; \
         echo {LAST_LINE}; exec /bin/busybox httpd -f -p 127.0.0.1:$PORT -h ."
    );
    let mut workshop = script("lab-a", &text);
    workshop.spec.restore = Some(WorkshopRestore { snapshot: snapshot.to_owned(), directory: Some("/www".to_owned()) });
    workshop
}

#[tokio::test]
async fn app_starts_with_all_files_which_belong_to_its_user() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open_saving(home.path()).await;
    assert!(fleet.can_restore(&with_files("saved").spec));
    fleet.apply(&with_files("saved")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let app = containers(home.path()).await.into_iter().find(|one| one.part == Part::App).unwrap();
    let expected = "etc-passwd\nnew/deep/b.txt\nnotes/a.txt\n1000 755\n1000 755\nsavedmore";
    assert_eq!(output(&app.name).await, expected);
    assert!(!fs::exists(home.path().join("notes")).unwrap());
    fleet.delete("lab-a", None).await.unwrap();
    until_empty(&fleet).await;
    fleet.close().await;
}

#[tokio::test]
async fn app_never_starts_without_its_files() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open_saving(home.path()).await;
    fleet.apply(&with_files("missing")).await.unwrap();
    let status = wait_for(&fleet, "lab-a", Phase::Failed).await;
    assert_eq!(status.reason.as_deref(), Some(FailureCode::FilesNotRestored.as_str()), "{status:?}");
    fleet.delete("lab-a", None).await.unwrap();
    until_empty(&fleet).await;
    fleet.close().await;
}
