use std::path::PathBuf;
use std::sync::Mutex;

use launcher_process::follow::{follow, read};

/// A file of this test, removed when dropped.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("launcher-process-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[tokio::test]
async fn file_that_is_too_large_is_refused() {
    let file = File::new("large", &"x".repeat(65 * 1024));
    assert!(read(&file.0).await.unwrap_err().to_string().contains("more than 65536"));
}

#[tokio::test(start_paused = true)]
async fn changed_file_is_applied_and_wrong_content_is_not_fatal() {
    let file = File::new("followed", "one");
    let seen = Mutex::new(Vec::new());
    let (sender, mut applied) = tokio::sync::mpsc::unbounded_channel();
    let apply = |text: &str| {
        seen.lock().unwrap().push(text.to_owned());
        sender.send(text.to_owned()).unwrap();
        if text == "wrong" { Err("no") } else { Ok(true) }
    };
    let changes = async {
        assert_eq!(applied.recv().await.unwrap(), "one");
        for content in ["wrong", "two"] {
            std::fs::write(&file.0, content).unwrap();
            while applied.recv().await.unwrap() != content {}
        }
    };
    tokio::select! {
        () = follow(&file.0, "test file", apply) => unreachable!(),
        () = changes => {}
    }
}
