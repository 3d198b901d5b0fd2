//! The files of apps, which the launcher saves at the end of a workshop, and the end that waits for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bollard::query_parameters::DownloadFromContainerOptions;
use futures_util::TryStreamExt;
use launcher_domain::ArchiveToken;
use launcher_domain::clock::SystemEntropy;
use launcher_fleet::engine::EngineError;
use launcher_fleet::{ByteStream, ContainerFleet, Fleet, FleetError, ReadError};
use launcher_testkit::TestClock;
use launcher_workshop::{Phase, Workshop, WorkshopSnapshot};

use super::support::fleet::{clean_up, files, open, open_at, quick, wait_for, without_internet};
use super::support::{TestFleet, docker, in_time, until};

/// Writes files below `/work`, whose subdirectory `course` is a volume, and a link to the directory of the kernel.
const WRITES: &str = "cd /work && /bin/busybox mkdir -p notes dev && echo saved > notes/a.txt && echo own > dev/b.txt && \
                      echo read > course/c.txt && /bin/busybox ln -s /etc/passwd link && \
                      /bin/busybox ln -s /proc /kernel && /bin/busybox ln -s /work /files && echo ready; sleep 1000";

/// Seconds after the expiry in which the launcher saves the files.
const GRACE: u32 = 90;

fn written() -> BTreeMap<String, String> {
    [("course/c.txt", "read\n"), ("dev/b.txt", "own\n"), ("notes/a.txt", "saved\n")]
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into()
}

/// Runs a container that has written its files.
async fn run_writer(fleet: &TestFleet) -> String {
    let name = fleet.name("app");
    let mut body = fleet.body(&["/bin/sh", "-c", WRITES]);
    body.volumes = Some(vec!["/work/course".to_owned()]);
    body.working_dir = Some("/work".to_owned());
    fleet.engine.create(&name, body).await.unwrap();
    fleet.engine.start(&name).await.unwrap();
    fleet.logged(&name, "ready").await;
    name
}

#[tokio::test]
async fn directory_is_read_with_the_volumes_below_it_and_relative_paths() {
    let fleet = TestFleet::new().await;
    let name = run_writer(&fleet).await;
    for directory in [Some("/work"), None, Some("/files")] {
        let stream = fleet.engine.read_directory(&name, directory).await.unwrap();
        assert_eq!(files(stream).await, written(), "{directory:?}");
    }
    let below = fleet.engine.read_directory(&name, Some("/work/notes")).await.unwrap();
    assert_eq!(files(below).await, [("a.txt".to_owned(), "saved\n".to_owned())].into());
}

#[tokio::test]
async fn directories_of_the_system_are_refused_also_behind_a_link() {
    let fleet = TestFleet::new().await;
    let name = run_writer(&fleet).await;
    for directory in ["/", "/etc", "/proc", "/kernel", "/work/../etc", "work"] {
        let error = fleet.engine.read_directory(&name, Some(directory)).await.err().unwrap();
        assert!(matches!(error, EngineError::BadParameter(_)), "{directory}: {error}");
    }
    for (container, directory) in [(name.clone(), "/missing"), (fleet.name("none"), "/work")] {
        let error = fleet.engine.read_directory(&container, Some(directory)).await.err().unwrap();
        assert!(matches!(error, EngineError::NotFound(_)), "{directory}: {error}");
    }
    // The image of the tests has no working directory.
    let other = fleet.run("other", "sleep 1000").await;
    let error = fleet.engine.read_directory(&other, None).await.err().unwrap();
    assert!(matches!(&error, EngineError::BadParameter(text) if text.contains("\"/\"")), "{error}");
}

/// An app that runs as root can place the link after the check.
#[tokio::test]
async fn engine_has_no_file_of_the_kernel_for_a_link_that_is_placed_after_the_check() {
    let fleet = TestFleet::new().await;
    let name = run_writer(&fleet).await;
    for path in ["/kernel", "/proc", "/proc/self", "/proc/sys", "/sys", "/sys/kernel", "/dev"] {
        let options = DownloadFromContainerOptions { path: format!("{path}/.") };
        let archive = docker().download_from_container(&name, Some(options));
        // Some of them do not exist for the engine.
        let bytes: Vec<u8> = archive.try_collect::<Vec<_>>().await.unwrap_or_default().concat();
        let mut archive = tar::Archive::new(&*bytes);
        let entries = archive.entries().unwrap().map(|entry| entry.unwrap());
        let with_content: Vec<_> =
            entries.filter(|entry| entry.size() > 0).map(|entry| entry.path().unwrap().into_owned()).collect();
        assert!(with_content.is_empty(), "{path}: {with_content:?}");
    }
}

#[tokio::test]
async fn reader_that_leaves_does_not_block_the_container() {
    let fleet = TestFleet::new().await;
    let script = "/bin/busybox mkdir /work && /bin/busybox dd if=/dev/zero of=/work/large bs=1M count=50 && echo ready; \
                  sleep 1000";
    let name = fleet.run("app", script).await;
    fleet.logged(&name, "ready").await;
    let mut stream = fleet.engine.read_directory(&name, Some("/work")).await.unwrap();
    assert!(stream.try_next().await.unwrap().is_some());
    drop(stream);
    in_time(fleet.engine.remove(&name)).await.unwrap();
}

fn with_snapshot(mut workshop: Workshop, directory: Option<&str>) -> Workshop {
    workshop.spec.snapshot = Some(WorkshopSnapshot {
        directory: directory.map(str::to_owned),
        token_sha256: "0".repeat(64),
        grace_seconds: GRACE,
    });
    workshop
}

async fn read_app(fleet: &ContainerFleet, name: &str) -> Result<ByteStream, ReadError> {
    fleet.archives().unwrap().read_app(name, &ArchiveToken::random(&SystemEntropy)).await
}

async fn refusal(fleet: &ContainerFleet, name: &str) -> String {
    match read_app(fleet, name).await.err().unwrap() {
        ReadError::Fleet(FleetError::Refused(reason)) => reason,
        other => unreachable!("{other}"),
    }
}

#[tokio::test]
async fn files_of_a_running_app_are_read_and_others_are_refused_with_the_reason() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    let archives = fleet.archives().unwrap();
    assert!(archives.can_read_app(&quick("lab-a").spec));
    fleet.apply(&with_snapshot(quick("lab-a"), Some("/www"))).await.unwrap();
    fleet.apply(&with_snapshot(quick("lab-b"), None)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    wait_for(&fleet, "lab-b", Phase::Running).await;

    let found = files(read_app(&fleet, "lab-a").await.unwrap()).await;
    assert_eq!(found["index.html"].trim_end(), "quick");
    // Its image has no working directory.
    assert!(refusal(&fleet, "lab-b").await.contains("\"/\" cannot be read"));
    assert!(refusal(&fleet, "lab-c").await.contains("no Workshop has the name"));
    clean_up(fleet, ["lab-a", "lab-b"]).await;
}

#[tokio::test]
async fn workshop_with_a_snapshot_ends_after_the_time_to_save_its_files() {
    let home = tempfile::tempdir().unwrap();
    let clock = Arc::new(TestClock::default());
    let fleet = open_at(without_internet(home.path()), clock.clone()).await;
    fleet.apply(&with_snapshot(quick("lab-a"), Some("/www"))).await.unwrap();
    let mut before = quick("lab-b");
    before.spec.lifetime_seconds += GRACE - 2;
    fleet.apply(&before).await.unwrap();
    for name in ["lab-a", "lab-b"] {
        wait_for(&fleet, name, Phase::Running).await;
    }

    clock.advance(Duration::from_secs(u64::from(3600 + GRACE - 1)));
    until_expired(&fleet, "lab-b").await;
    assert!(files(read_app(&fleet, "lab-a").await.unwrap()).await.contains_key("index.html"));
    clock.advance(Duration::from_secs(2));
    until_expired(&fleet, "lab-a").await;
    assert!(refusal(&fleet, "lab-a").await.contains("it has ended"));
    clean_up(fleet, ["lab-a", "lab-b"]).await;
}

async fn until_expired(fleet: &ContainerFleet, name: &str) {
    let phase = async || fleet.get(name).await.unwrap().unwrap().status.unwrap_or_default().phase;
    until(async || phase().await == Phase::Expired).await;
}
