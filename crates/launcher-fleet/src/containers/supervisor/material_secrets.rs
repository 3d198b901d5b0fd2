//! Copies of the secrets of private course material, which the container that places the material mounts.
//!
//! The administrator's files belong to the user of the launcher. The program runs as the user of the app, and reads copies.
//! They exist only while the material is loaded, below a directory that is accessible only to the launcher.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use launcher_domain::material_source::{MAX_SECRET_BYTES, SECRET_FILES};
use launcher_workshop::WorkshopMaterial;

use super::files::{blocking, make_readable, write_readable};
use crate::containers::workload::Workload;
use crate::machine::remove_directory;

/// Copies the secrets of the sources. A missing file is left out: the program reports a missing password. An unreadable file
/// is left out, too, and the log has the cause.
///
/// # Errors
/// The directory of the copies cannot be written.
pub(super) async fn provide(workload: &Arc<Workload>, material: &WorkshopMaterial) -> io::Result<()> {
    let names: Vec<String> = material.secrets().into_iter().map(str::to_owned).collect();
    if names.is_empty() {
        return Ok(());
    }
    let workload = Arc::clone(workload);
    blocking(move || {
        let (context, workshop) = (workload.context(), workload.stored_record().name());
        let (from, to) = (context.data_dir.layout.material_secrets(), context.secrets_dir(workshop));
        remove_directory(&to)?;
        make_readable(&to)?;
        for name in names {
            copy(&from.join(&name), &to.join(&name), workshop)?;
        }
        Ok(())
    })
    .await
}

/// Removes the copies.
pub(super) async fn remove(workload: &Arc<Workload>) {
    let directory = workload.context().secrets_dir(workload.stored_record().name());
    if let Err(error) = blocking(move || remove_directory(&directory)).await {
        let workshop = workload.stored_record().name();
        tracing::warn!(workshop, %error, "removing the copies of secrets of course material failed");
    }
}

/// Copies one secret.
fn copy(from: &Path, to: &Path, workshop: &str) -> io::Result<()> {
    make_readable(to)?;
    for file in SECRET_FILES {
        match read(&from.join(file)) {
            Ok(content) => write_readable(&to.join(file), &content)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let path = from.join(file);
                tracing::warn!(workshop, path = %path.display(), %error, "reading a secret of course material failed");
            }
        }
    }
    Ok(())
}

/// Reads at most one byte more than the program accepts.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(MAX_SECRET_BYTES + 1).read_to_end(&mut content)?;
    Ok(content)
}
