//! Tests of volumes: kept files that outlive their Workshops.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use futures_util::TryStreamExt;
use launcher_fleet::{Fleet, FleetError};
use launcher_workshop::{Phase, Workshop, WorkshopStorage};

use crate::support::{Home, NONE, script, wait_for, wait_until_gone};

const VOLUME: &str = "work-aaaaaaaaaa";

/// A Workshop whose app appends a line to a file of its working directory.
fn with_volume(name: &str, volume: &str) -> Workshop {
    let text = "echo $$ >> starts; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    let mut workshop = script(name, text);
    workshop.spec.storage =
        Some(WorkshopStorage { volume: volume.to_owned(), size: "1Gi".to_owned(), path: "/work".to_owned() });
    workshop
}

fn volume(home: &Home, volume: &str) -> PathBuf {
    home.path().join("volumes").join(volume)
}

fn starts(home: &Home) -> usize {
    fs::read_to_string(volume(home, VOLUME).join("starts")).unwrap().lines().count()
}

#[tokio::test]
async fn files_of_volume_survive_the_workshop_and_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let fleet = home.open();
    for (round, name) in ["lab-a", "lab-b"].into_iter().enumerate() {
        fleet.apply(&with_volume(name, VOLUME)).await.unwrap();
        wait_for(&fleet, name, Phase::Running).await;
        assert_eq!(starts(&home), round + 1);
        assert!(!home.working(name).exists(), "the volume replaces the directory that ends with the Workshop");
        fleet.delete(name, None).await.unwrap();
        wait_until_gone(&fleet, name).await;
    }
    let mode = fs::metadata(volume(&home, VOLUME)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn volume_survives_a_failed_app_and_a_restart_of_the_fleet() {
    let home = Home::new();
    let fleet = home.open();
    let mut failing = with_volume("lab-a", VOLUME);
    failing.spec.command = ["sh", "-c", "echo saved > notes; exit 1"].map(str::to_owned).into();
    fleet.apply(&failing).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Failed).await;
    fleet.stop().await;
    drop(fleet);
    let fleet = home.open();
    assert_eq!(fs::read_to_string(volume(&home, VOLUME).join("notes")).unwrap(), "saved\n");

    fleet.delete_volume(VOLUME).await.unwrap();
    assert!(!volume(&home, VOLUME).exists(), "a failed Workshop does not use its volume");
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    fleet.stop().await;
}

#[tokio::test]
async fn volume_is_deleted_only_by_request_and_not_while_in_use() {
    let home = Home::new();
    let fleet = home.open();
    fleet.apply(&with_volume("lab-a", VOLUME)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let moved = fleet.apply(&with_volume("lab-a", "work-bbbbbbbbbb")).await;
    assert!(matches!(moved, Err(FleetError::Refused(_))), "the app keeps its volume: {moved:?}");
    let refused = fleet.delete_volume(VOLUME).await.unwrap_err();
    assert!(matches!(&refused, FleetError::Unavailable(text) if text.contains("lab-a")), "{refused}");
    fleet.delete("lab-a", None).await.unwrap();
    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(starts(&home), 1);

    fleet.delete_volume(VOLUME).await.unwrap();
    assert!(!volume(&home, VOLUME).exists());
    fleet.delete_volume(VOLUME).await.unwrap();
    fleet.stop().await;
}

#[tokio::test]
async fn deletion_of_volume_removes_links_and_not_their_targets() {
    let home = Home::new();
    let fleet = home.open();
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "").unwrap();
    fs::create_dir_all(volume(&home, VOLUME)).unwrap();
    std::os::unix::fs::symlink(&outside, volume(&home, VOLUME).join("link")).unwrap();
    fleet.delete_volume(VOLUME).await.unwrap();
    assert!(outside.join("kept").exists() && !volume(&home, VOLUME).exists());
    fleet.stop().await;
}

#[tokio::test]
async fn name_that_is_no_volume_is_refused() {
    let home = Home::new();
    let fleet = home.open();
    for name in ["", ".", "..", "../fleet", "work-../fleet..", "lab-a"] {
        assert!(matches!(fleet.delete_volume(name).await, Err(FleetError::Refused(_))), "{name:?}");
        let answer = fleet.apply(&with_volume("lab-a", name)).await;
        assert!(matches!(answer, Err(FleetError::Refused(_))), "{name:?}");
    }
    fleet.stop().await;
}

/// Returns paths and contents of the entries in the archive of the volume; directories have no content.
async fn archive(fleet: &impl Fleet) -> Vec<(String, String)> {
    let chunks: Vec<_> = fleet.archives().unwrap().read(VOLUME).await.unwrap().try_collect().await.unwrap();
    let tar: Vec<u8> = chunks.concat();
    let mut found: Vec<_> = tar::Archive::new(&*tar)
        .entries()
        .unwrap()
        .map(|entry| {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            (entry.path().unwrap().to_str().unwrap().to_owned(), text)
        })
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn archive_has_files_and_directories_and_omits_links_sockets_and_pipes() {
    let home = Home::new();
    let fleet = home.open();
    assert_eq!(archive(&fleet).await, [], "a volume that no Workshop has used");
    let root = volume(&home, VOLUME);
    fs::create_dir_all(root.join("notes/empty")).unwrap();
    fs::write(root.join("notes/ü 1.txt"), "saved").unwrap();
    fs::write(home.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(home.path().join("secret"), root.join("link")).unwrap();
    std::os::unix::fs::symlink(home.path(), root.join("directory")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());

    let entry = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let expected = [entry("notes/", ""), entry("notes/empty/", ""), entry("notes/ü 1.txt", "saved")];
    assert_eq!(archive(&fleet).await, expected);
    fleet.stop().await;
}

#[tokio::test]
async fn archive_of_a_growing_file_is_readable() {
    let home = Home::new();
    let fleet = home.open();
    let root = volume(&home, VOLUME);
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a"), "x".repeat(300_000)).unwrap();
    fs::write(root.join("b"), "after").unwrap();
    let writer = {
        let path = root.join("a");
        let stop = tokio_util::sync::CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::task::spawn_blocking(move || {
            let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
            while !stopped.is_cancelled() {
                file.write_all(&[b'y'; 4096]).unwrap();
                if file.metadata().unwrap().len() > 30_000_000 {
                    file.set_len(1000).unwrap();
                }
            }
        });
        (stop, task)
    };
    // A failure stops the writer, too.
    let _stopped = writer.0.clone().drop_guard();
    for _ in 0..20 {
        let found = archive(&fleet).await;
        assert_eq!(found.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(found[1].1, "after");
    }
    writer.0.cancel();
    writer.1.await.unwrap();
    fleet.stop().await;
}
