//! Places the saved files of an earlier Workshop before the app starts for the first time.

use std::io;
use std::process::Stdio;

use futures_util::StreamExt as _;
use launcher_workshop::WorkshopRestore;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::task::spawn_blocking;

use super::Workload;
use super::command::inherited;
use super::material::read;
use crate::byte_stream::ByteStream;
use crate::local::process::MARKER;
use crate::machine::{make_private, remove_directory};
use crate::restore::{RestoreError, open};
use crate::source_check::separate;

/// Runs the program in the empty working directory of the app. If this future is dropped, the program is killed.
pub(super) async fn place(workload: &Workload, restore: &WorkshopRestore) -> Result<(), RestoreError> {
    let (settings, record) = (workload.settings(), workload.record.get());
    let files = open(settings.saved_files.as_ref(), restore).await?;
    let working = workload.working_dir(&record.workshop.spec);
    let directory = working.clone();
    // An interrupted attempt may have left a part of the files. No app has been here yet.
    let emptied = spawn_blocking(move || remove_directory(&directory).and_then(|()| make_private(&directory))).await;
    emptied.unwrap_or_else(|error| Err(io::Error::other(error)))?;
    let program = &settings.material;
    let missing = |error| RestoreError::Final(format!("the program {} cannot be started: {error}", program.display()));
    let mut child = separate(program, &working, &inherited(std::env::vars_os()))
        .arg("restore")
        .arg(&working)
        .env(MARKER, workload.marker_of(&record))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let (sent, problem) = tokio::join!(send(files, stdin), read(stderr));
    // An incomplete archive must not count as placed, however the program ended.
    sent?;
    let status = child.wait().await?;
    if status.success() {
        return Ok(());
    }
    let problem = problem.map(|text| String::from_utf8_lossy(&text).trim().to_owned()).unwrap_or_default();
    Err(RestoreError::Final(if problem.is_empty() { status.to_string() } else { problem }))
}

/// Sends the archive to the program. A program that has ended gets the rest of the archive no more: its status is the result.
async fn send(mut files: ByteStream, mut stdin: Option<ChildStdin>) -> Result<(), RestoreError> {
    while let Some(bytes) = files.next().await {
        let bytes = bytes?;
        let Some(pipe) = &mut stdin else { continue };
        match pipe.write_all(&bytes).await {
            // The program has read the end of the archive. An error of the source may follow.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => stdin = None,
            result => result?,
        }
    }
    Ok(())
}
