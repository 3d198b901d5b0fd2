//! Workshops that start with saved files of an earlier one. A script stands for the program that places them.

use std::fs;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use launcher_domain::FailureCode;
use launcher_fleet::{Archives, ByteStream, Fleet, SavedFiles, SavedFilesError, written_by};
use launcher_workshop::{Phase, Workshop, WorkshopRestore};
use tar::{Builder, Header};

use crate::support::{Home, crash, eventually, script, wait_for};

/// The snapshots of the tests.
const GOOD: &str = "00000000-0000-4000-8000-000000000001";
const CUT: &str = "00000000-0000-4000-8000-000000000002";
const MISSING: &str = "00000000-0000-4000-8000-000000000003";
const STUCK: &str = "00000000-0000-4000-8000-000000000004";

/// Saved files: `notes/a.txt` and `notes/b.txt`. The archive `CUT` ends with an error after the first file; the first archive
/// `GOOD` does, too. The first archive `STUCK` does not go on after the first file.
#[derive(Debug, Default)]
struct Saved(AtomicUsize);

#[async_trait]
impl SavedFiles for Saved {
    async fn open(&self, snapshot: &str) -> Result<ByteStream, SavedFilesError> {
        if snapshot == MISSING {
            return Err(SavedFilesError::Missing);
        }
        let is_whole = self.0.fetch_add(1, Ordering::SeqCst) > 0 && snapshot != CUT;
        if !is_whole && snapshot == STUCK {
            let mut tar = Builder::new(Vec::new());
            let mut header = Header::new_gnu();
            header.set_size(1 << 20);
            tar.append_data(&mut header, "notes/a.txt", io::repeat(0).take(1 << 20)).unwrap();
            let begin = tar.into_inner().unwrap();
            return Ok(stream::iter([Ok(begin.into())]).chain(stream::pending()).boxed());
        }
        let archive = written_by(move |out| {
            let mut tar = Builder::new(out);
            for name in ["notes/a.txt", "notes/b.txt"] {
                let mut header = Header::new_gnu();
                header.set_size(5);
                header.set_mode(0o644);
                tar.append_data(&mut header, name, &b"saved"[..])?;
                if !is_whole {
                    return Err(io::Error::other("the connection is lost"));
                }
            }
            tar.finish()
        });
        Ok(archive.boxed())
    }
}

fn home() -> Home {
    let mut home = Home::new();
    home.settings.machine.material = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/local/material.sh").into();
    home.settings.machine.saved_files = Some(Arc::new(Saved::default()));
    home
}

/// A Workshop that notes its PID and the files that it finds.
fn with_files(snapshot: &str) -> Workshop {
    let text = "echo $$ > leader; ls notes >> found; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let mut workshop = script("lab-a", text);
    workshop.spec.restore = Some(WorkshopRestore { snapshot: snapshot.to_owned(), directory: None });
    workshop
}

#[tokio::test]
async fn app_starts_with_all_files_after_a_broken_read_and_a_crash_keeps_them() {
    let home = home();
    let fleet = home.open();
    assert!(fleet.can_restore(&with_files(GOOD).spec));
    fleet.apply(&with_files(GOOD)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let found = || fs::read_to_string(home.working("lab-a").join("found")).unwrap();
    assert_eq!(found(), "a.txt\nb.txt\n", "the first read was incomplete, and the app did not start with its part");
    fs::write(home.working("lab-a/notes").join("a.txt"), "changed").unwrap();
    let leader = home.noted("lab-a", "leader");
    crash(&home, &fleet, "lab-a", leader).await;
    let text = fs::read_to_string(home.working("lab-a/notes").join("a.txt")).unwrap();
    assert_eq!((text.as_str(), found().as_str()), ("changed", "a.txt\nb.txt\na.txt\nb.txt\n"), "placed once");
    fleet.stop().await;
    drop(fleet);

    // Another launcher starts the app again in the same directory.
    let fleet = home.open();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let text = fs::read_to_string(home.working("lab-a/notes").join("a.txt")).unwrap();
    assert_eq!(text, "changed");
    fleet.stop().await;
}

#[tokio::test]
async fn files_are_placed_anew_after_a_launcher_ended_in_between() {
    let home = home();
    let fleet = home.open();
    fleet.apply(&with_files(STUCK)).await.unwrap();
    eventually("the first file is there", || home.working("lab-a").join("notes/a.txt").exists()).await;
    fleet.stop().await;
    drop(fleet);
    assert!(!home.working("lab-a").join("found").exists(), "the app has started with a part of the files");

    let fleet = home.open();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let text = |name| fs::read_to_string(home.working("lab-a").join(name)).unwrap();
    assert_eq!((text("found").as_str(), text("notes/a.txt").as_str()), ("a.txt\nb.txt\n", "saved"));
    fleet.stop().await;
}

#[tokio::test]
async fn app_never_starts_without_its_files() {
    for (snapshot, cause) in [(MISSING, "no longer exist"), (CUT, "the connection is lost")] {
        let home = home();
        let fleet = home.open();
        fleet.apply(&with_files(snapshot)).await.unwrap();
        let status = wait_for(&fleet, "lab-a", Phase::Failed).await.status.unwrap();
        let message = status.message.unwrap();
        assert_eq!(status.reason.as_deref(), Some(FailureCode::FilesNotRestored.as_str()), "{message}");
        assert!(message.contains(cause), "{message}");
        assert!(!home.working("lab-a").join("found").exists(), "the app has started");
        fleet.stop().await;
    }
}

#[tokio::test]
async fn fleet_without_saved_files_places_none() {
    let mut home = home();
    home.settings.machine.saved_files = None;
    let fleet = home.open();
    assert!(!fleet.can_restore(&with_files(GOOD).spec));
    fleet.apply(&with_files(GOOD)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Failed).await;
    fleet.stop().await;
}
