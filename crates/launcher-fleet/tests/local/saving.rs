//! Tests that an app has time to save its data when the fleet terminates it.

use std::fs;
use std::path::Path;

use launcher_fleet::Fleet;
use launcher_workshop::{Phase, Workshop};

use crate::support::{Home, NONE, script, wait_for, wait_until_gone};

/// A Workshop whose app needs a moment to save its data after SIGTERM. A second SIGTERM would interrupt the saving.
fn saving(name: &str, to: &Path) -> Workshop {
    let app = "import http.server, os, signal, sys, time\n\
               def save(*_):\n    \
                   signal.signal(signal.SIGTERM, signal.SIG_DFL)\n    \
                   open(sys.argv[1], 'a').write('begun ')\n    \
                   time.sleep(0.5)  # pacing: a slow save\n    \
                   open(sys.argv[1], 'a').write('saved')\n    \
                   os._exit(0)\n\
               signal.signal(signal.SIGTERM, save)\n\
               http.server.test(http.server.SimpleHTTPRequestHandler, port=int(os.environ['PORT']), bind='127.0.0.1')\n";
    script(name, &format!("exec python3 -c \"{app}\" {}", to.display()))
}

#[tokio::test]
async fn deleted_app_saves_before_it_exits() {
    let home = Home::new();
    let saved = home.path().join("saved");
    let fleet = home.open();
    fleet.apply(&saving("lab-a", &saved)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    fleet.delete("lab-a", None).await.unwrap();

    wait_until_gone(&fleet, "lab-a").await;
    assert_eq!(fs::read_to_string(saved).unwrap(), "begun saved");
    assert_eq!(home.processes(), NONE);
    fleet.stop().await;
}

#[tokio::test]
async fn app_of_stopping_launcher_saves_before_it_exits() {
    let home = Home::new();
    let saved = home.path().join("saved");
    let fleet = home.open();
    fleet.apply(&saving("lab-a", &saved)).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;

    fleet.stop().await;

    assert_eq!(fs::read_to_string(saved).unwrap(), "begun saved");
    assert_eq!(home.processes(), NONE);
}
