//! A launcher in a separate process, which a test kills. The process runs the same test again, in another role.

use std::env;
use std::fs;
use std::process::{Child, Command, Stdio};

use crate::support::{Home, eventually};

/// Environment variable with the data directory. It is set only in the process of the launcher to be killed.
const ROLE: &str = "FLEET_TEST_DATA_DIR";

/// The process of the launcher to be killed: this test program, run again for a single test.
pub(crate) struct Launcher(pub(crate) Child);

impl Launcher {
    /// Starts a process that runs the part of `test` in which [`role`] returns a value.
    pub(crate) fn begin(home: &Home, test: &str) -> Self {
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ROLE, home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Starts a process as in [`Launcher::begin`], and waits until it calls [`done`].
    pub(crate) async fn start(home: &Home, test: &str) -> Self {
        let launcher = Self::begin(home, test);
        eventually("the other launcher does its part", || home.path().join("done").exists()).await;
        launcher
    }

    /// Sends SIGKILL, so that the launcher cannot clean up.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the data directory of the launcher to be killed, or `None` in the process of the test.
pub(crate) fn role() -> Option<Home> {
    env::var_os(ROLE).map(|directory| Home::at(directory.as_ref()))
}

/// Reports to the test that the launcher to be killed has finished its part, and waits until it is killed.
pub(crate) async fn done(home: &Home) -> ! {
    fs::write(home.path().join("done"), "").unwrap();
    std::future::pending().await
}
