//! Tests with files that the launcher's user may not write or remove. The tests drop root's right to ignore
//! permissions.

use std::fs::{self, Permissions};
use std::future::Future;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;

use launcher_fleet::Fleet;
use launcher_workshop::Phase;
use rustix::thread::{CapabilitySet, capabilities, remove_capability_from_bounding_set, set_capabilities};
use tokio::runtime::Runtime;

use crate::support::{Home, NONE, eventually, in_time, kill, script, server, wait_for, wait_until_gone};

/// Runs a test on threads that obey file permissions, even if the tests run as root.
fn unprivileged(test: impl Future<Output = ()> + Send) {
    let run = || {
        give_up_privileges();
        Runtime::new().unwrap().block_on(test);
    };
    thread::scope(|scope| scope.spawn(run).join()).unwrap();
}

/// Drops the privileges to ignore file permissions. Later threads and programs of this thread inherit this, so the test
/// has the same privileges as its apps and may read their `/proc` files.
fn give_up_privileges() {
    let mut sets = capabilities(None).unwrap();
    for privilege in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
        if sets.permitted.contains(privilege) {
            remove_capability_from_bounding_set(privilege).unwrap();
        }
        for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
            set.remove(privilege);
        }
    }
    set_capabilities(None, sets).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Creates a directory that its owner may not write, and one that its owner may not read. A link in the first directory
/// points to `outside`.
fn lock_away(within: &Path, outside: &Path) {
    let (unwritable, unreadable) = (within.join("kernels"), within.join("closed"));
    fs::create_dir_all(unwritable.join("python/deep")).unwrap();
    fs::create_dir_all(&unreadable).unwrap();
    fs::write(unreadable.join("notes.txt"), "").unwrap();
    symlink(outside, unwritable.join("out")).unwrap();
    set_mode(&unwritable.join("python"), 0o500);
    set_mode(&unwritable, 0o500);
    set_mode(&unreadable, 0o000);
}

#[test]
fn deletion_removes_locked_directories_and_follows_no_link() {
    let (home, elsewhere) = (Home::new(), tempfile::tempdir().unwrap());
    let outside = elsewhere.path().join("kept");
    fs::create_dir_all(outside.join("more")).unwrap();
    set_mode(&outside, 0o500);
    unprivileged(async {
        let fleet = home.open();
        fleet.apply(&server("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        lock_away(&home.working("lab-a"), &outside);
        lock_away(&home.record("lab-a").join("app"), &outside);

        fleet.delete("lab-a", None).await.unwrap();

        wait_until_gone(&fleet, "lab-a").await;
        assert!(!home.working("lab-a").exists());
        assert!(!home.record("lab-a").exists());
        assert!(outside.join("more").exists());
        assert_eq!(mode(&outside), 0o500, "the fleet must not change the target of a symbolic link");
        in_time(fleet.stop()).await;
    });
}

#[test]
fn undeletable_record_does_not_block_launcher_stop_or_start() {
    let home = Home::new();
    let records = home.path().join("fleet/workshops");
    unprivileged(async {
        let fleet = home.open();
        fleet.apply(&server("lab-a")).await.unwrap();
        wait_for(&fleet, "lab-a", Phase::Running).await;
        set_mode(&records, 0o500);
        fleet.delete("lab-a", None).await.unwrap();
        eventually("its state is gone", || !home.record("lab-a").join("state.json").exists()).await;

        in_time(fleet.stop()).await;
        drop(fleet);
        let fleet = home.open();
        assert_eq!(fleet.get("lab-a").await.unwrap(), None);
        in_time(fleet.stop()).await;
        drop(fleet);

        assert!(home.record("lab-a").exists(), "nothing could remove it");
        set_mode(&records, 0o700);
        let fleet = home.open();
        assert!(!home.record("lab-a").exists(), "the next start clears it");
        in_time(fleet.stop()).await;
    });
}

#[test]
fn unwritable_records_do_not_block_launcher_stop() {
    let home = Home::new();
    let names = ["lab-a", "lab-b"];
    let with_helper = "setsid sleep 1000 & echo $$ > pid; exec python3 -m http.server \"$PORT\" --bind 127.0.0.1";
    unprivileged(async {
        let fleet = home.open();
        fleet.apply(&server("lab-a")).await.unwrap();
        fleet.apply(&script("lab-b", with_helper)).await.unwrap();
        for name in names {
            wait_for(&fleet, name, Phase::Running).await;
            set_mode(&home.record(name), 0o500);
        }
        // The fleet must record the exit of this app, but cannot write the record. The stop must not retry the write
        // forever.
        kill(home.noted("lab-b", "pid"));
        eventually("the helper process of the app to end", || home.processes().len() == 1).await;

        in_time(fleet.stop()).await;
        assert_eq!(home.processes(), NONE);
        drop(fleet);

        names.iter().for_each(|name| set_mode(&home.record(name), 0o700));
        let fleet = home.open();
        for name in names {
            wait_for(&fleet, name, Phase::Running).await;
        }
        in_time(fleet.stop()).await;
    });
}

#[tokio::test]
async fn existing_data_directory_is_closed_to_others_and_its_planted_links_are_not_followed() {
    let home = Home::new();
    let outside = home.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    let directories = ["fleet", "fleet/workshops", "workshops", "volumes"].map(|name| home.path().join(name));
    for directory in &directories {
        fs::create_dir_all(directory).unwrap();
        set_mode(directory, 0o755);
    }
    symlink(&outside, home.path().join("fleet/id.new")).unwrap();
    let fleet = home.open();
    assert_eq!(directories.map(|directory| mode(&directory)), [0o700; 4]);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    let id = fs::symlink_metadata(home.path().join("fleet/id")).unwrap();
    assert!(id.is_file() && id.permissions().mode() & 0o777 == 0o600);
    fleet.stop().await;
}
