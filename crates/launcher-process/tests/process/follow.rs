use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use launcher_process::follow::{follow, read};

/// A temporary file. Dropping it removes the file.
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
async fn file_over_64_kib_is_refused() {
    let file = File::new("large", &"x".repeat(65 * 1024));
    assert!(read(&file.0).await.unwrap_err().to_string().contains("more than 65536"));
}

#[tokio::test(start_paused = true)]
async fn changed_file_is_applied_after_earlier_content_was_rejected() {
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

#[tokio::test]
async fn file_of_the_maximum_size_is_read() {
    let content = "x".repeat(64 * 1024);
    let file = File::new("largest", &content);
    assert_eq!(read(&file.0).await.unwrap(), content);
}

#[tokio::test]
async fn missing_file_and_binary_file_are_errors() {
    let file = File::new("binary", "");
    std::fs::write(&file.0, b"caf\xe9").unwrap();
    assert_eq!(read(&file.0).await.unwrap_err().kind(), ErrorKind::InvalidData);
    assert_eq!(read(&file.0.join("missing")).await.unwrap_err().kind(), ErrorKind::NotADirectory);
    assert_eq!(read(&file.0.with_extension("missing")).await.unwrap_err().kind(), ErrorKind::NotFound);
}

/// The log of one test.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn collect(&self) -> tracing::subscriber::DefaultGuard {
        // With only one dispatcher, a thread without a subscriber disables a log statement for all threads.
        static OTHER: LazyLock<tracing::Dispatch> =
            LazyLock::new(|| tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish()));
        LazyLock::force(&OTHER);
        let log = self.clone();
        tracing::subscriber::set_default(tracing_subscriber::fmt().with_writer(move || log.clone()).finish())
    }

    fn count(&self, text: &str) -> usize {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap().matches(text).count()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Follows the file for `seconds` of the test's clock. Returns each content that `follow` passed to `apply`.
async fn contents_within(file: &File, seconds: u64) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    let apply = |text: &str| {
        seen.lock().unwrap().push(text.to_owned());
        if text == "wrong" { Err("it is wrong") } else { Ok(text == "new") }
    };
    drop(tokio::time::timeout(Duration::from_secs(seconds), follow(&file.0, "test file", apply)).await);
    seen.into_inner().unwrap()
}

#[tokio::test(start_paused = true)]
async fn file_is_read_every_two_seconds() {
    let file = File::new("interval", "same");
    assert_eq!(contents_within(&file, 1).await, [""; 0]);
    assert_eq!(contents_within(&file, 7).await, ["same"; 3]);
}

#[tokio::test(start_paused = true)]
async fn repeated_reload_error_is_logged_once() {
    let log = Log::default();
    let _collecting = log.collect();
    let file = File::new("wrong", "wrong");
    assert_eq!(contents_within(&file, 7).await.len(), 3);
    assert_eq!(log.count("reloading file failed"), 1);
    assert_eq!(log.count("it is wrong"), 1);
    std::fs::remove_file(&file.0).unwrap();
    assert!(contents_within(&file, 7).await.is_empty());
    assert_eq!(log.count("reloading file failed"), 2);
    assert_eq!(log.count("reloaded"), 0);
}

#[tokio::test(start_paused = true)]
async fn only_changed_content_is_logged_as_reloaded() {
    let log = Log::default();
    let _collecting = log.collect();
    contents_within(&File::new("unchanged", "same"), 7).await;
    assert_eq!(log.count("reloaded file"), 0);
    contents_within(&File::new("changed", "new"), 3).await;
    assert_eq!(log.count("reloaded file"), 1);
}
