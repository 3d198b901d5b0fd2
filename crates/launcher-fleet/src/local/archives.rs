//! Archives of volumes: tar archives of directories.

use std::io;
use std::path::Path;

use async_trait::async_trait;

use super::fleet::LocalFleet;
use crate::byte_stream::{ByteStream, written_by};
use crate::machine::{Context as _, validate_volume};
use crate::port::{Archives, FleetError};

#[async_trait]
impl Archives for LocalFleet {
    async fn read(&self, volume: &str) -> Result<ByteStream, FleetError> {
        validate_volume(volume)?;
        let path = self.0.context.data_dir().layout.volume(volume);
        Ok(written_by(move |out| write_tar(&path, out)))
    }
}

/// Writes the files below a directory. Never follows a link.
fn write_tar(path: &Path, out: &mut dyn io::Write) -> io::Result<()> {
    let mut tar = tar::Builder::new(out);
    tar.follow_symlinks(false);
    if path.is_dir() {
        tar.append_dir_all("", path)?;
    }
    tar.finish()
}
