//! Saves, reads and deletes archives in a folder or a bucket.

use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use uuid::Uuid;

use crate::http::{Connector, Limits};

/// Size of one part of an upload, in bytes: S3 requires at least 5 MiB.
const PART_BYTES: usize = 5 << 20;
/// Maximum memory of one upload, in bytes: the part that is sent, and the part that is filled meanwhile.
pub const ARCHIVE_BYTES: usize = 2 * PART_BYTES;

/// A stream of bytes. An error is its last item.
pub type ByteStream = BoxStream<'static, io::Result<Bytes>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket of S3 or of a compatible service.
    Bucket {
        bucket: String,
        /// Prefix of the objects' names, without slashes at its ends; may be empty.
        prefix: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    #[error("write the absolute path of a folder, or s3://BUCKET/PREFIX")]
    Unknown,
    #[error("the bucket has no name: write s3://BUCKET/PREFIX")]
    NoBucket,
}

impl Location {
    /// Parses the absolute path of a folder, or `s3://BUCKET/PREFIX`.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        if let Some(rest) = text.strip_prefix("s3://") {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(LocationError::NoBucket);
            }
            return Ok(Self::Bucket { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() });
        }
        if text.starts_with('/') { Ok(Self::Folder(text.into())) } else { Err(LocationError::Unknown) }
    }
}

/// Error of the object store. The message names the store and the object.
#[derive(Debug, thiserror::Error)]
#[error("object store: {0}")]
pub struct StoreError(#[source] pub(crate) Box<dyn std::error::Error + Send + Sync>);

impl StoreError {
    /// True if the store has no object of this name.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        let error = self.0.downcast_ref::<object_store::Error>();
        matches!(error, Some(object_store::Error::NotFound { .. }))
    }
}

impl From<object_store::Error> for StoreError {
    fn from(error: object_store::Error) -> Self {
        Self(error.into())
    }
}

/// Error of [`SnapshotStore::save`]. No object was stored.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error("the archive is larger than {limit} bytes")]
    TooLarge {
        /// Maximum size, in bytes.
        limit: u64,
    },
    #[error("reading the files failed: {0}")]
    Source(#[source] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone)]
pub struct SnapshotStore {
    objects: Arc<dyn ObjectStore>,
    /// The folder that has the objects; `None` for a bucket.
    folder: Option<Arc<Path>>,
}

impl fmt::Debug for SnapshotStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotStore({})", self.objects)
    }
}

impl SnapshotStore {
    /// Opens the object store. Creates a missing folder. A bucket must exist; its credentials, region and endpoint are in
    /// the environment variables `AWS_…` (<https://docs.rs/object_store/latest/object_store/aws/enum.AmazonS3ConfigKey.html>).
    ///
    /// # Errors
    /// [`StoreError`]: the folder cannot be created, or the settings of the bucket are incomplete.
    pub fn open(location: &Location) -> Result<Self, StoreError> {
        Self::open_with(
            location,
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    /// Does the same as [`SnapshotStore::open`], with these variables instead of the environment.
    ///
    /// # Errors
    /// [`StoreError`]: as for [`SnapshotStore::open`].
    pub fn open_with(
        location: &Location,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, StoreError> {
        match location {
            Location::Folder(folder) => {
                let objects = Arc::new(open_folder(folder)?);
                Ok(Self { objects, folder: Some(folder.as_path().into()) })
            }
            Location::Bucket { bucket, prefix } => {
                let mut builder = AmazonS3Builder::new().with_http_connector(Connector(Limits::default()));
                for (name, value) in variables {
                    if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                        builder = builder.with_config(key, value);
                    }
                }
                let store = builder.with_bucket_name(bucket).build()?;
                let objects: Arc<dyn ObjectStore> = if prefix.is_empty() {
                    Arc::new(store)
                } else {
                    Arc::new(PrefixStore::new(store, prefix.as_str()))
                };
                Ok(Self { objects, folder: None })
            }
        }
    }

    /// Saves an archive. It replaces an earlier one with this identifier. Returns its size, in bytes.
    ///
    /// # Errors
    /// [`SaveError`]. If this future is dropped, nothing is stored either; parts of an upload may stay in a bucket.
    pub async fn save(&self, id: Uuid, mut archive: ByteStream, limit: u64) -> Result<u64, SaveError> {
        let mut upload = self.objects.put_multipart(&object(id)).await.map_err(StoreError::from)?;
        match self.send(&mut upload, &mut archive, limit).await {
            Ok(size) => {
                self.restrict(id).await?;
                Ok(size)
            }
            Err(error) => {
                if let Err(error) = upload.abort().await {
                    tracing::debug!(%error, "aborting an upload to the object store failed");
                }
                Err(error)
            }
        }
    }

    pub async fn read(&self, id: Uuid) -> Result<ByteStream, StoreError> {
        let found = self.objects.get(&object(id)).await?;
        Ok(found.into_stream().map_err(io::Error::other).boxed())
    }

    /// Deletes an archive. A missing archive is no error.
    pub async fn delete(&self, id: Uuid) -> Result<(), StoreError> {
        match self.objects.delete(&object(id)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends the archive in parts, one after the other. Returns its size.
    async fn send(
        &self,
        upload: &mut Box<dyn MultipartUpload>,
        archive: &mut ByteStream,
        limit: u64,
    ) -> Result<u64, SaveError> {
        let (mut size, mut part) = (0_u64, Vec::new());
        while let Some(bytes) = archive.next().await.transpose().map_err(SaveError::Source)? {
            size += bytes.len() as u64;
            if size > limit {
                return Err(SaveError::TooLarge { limit });
            }
            part.extend_from_slice(&bytes);
            if part.len() >= PART_BYTES {
                self.send_part(upload, std::mem::take(&mut part)).await?;
            }
        }
        if !part.is_empty() || size == 0 {
            self.send_part(upload, part).await?;
        }
        upload.complete().await.map_err(StoreError::from)?;
        Ok(size)
    }

    /// Restricts the file of an archive to the launcher's user, also in a folder that others can open.
    async fn restrict(&self, id: Uuid) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let file = folder.join(object(id).as_ref());
        tokio::fs::set_permissions(&file, Permissions::from_mode(0o600))
            .await
            .map_err(|error| StoreError(format!("{} cannot be restricted: {error}", file.display()).into()))
    }

    async fn send_part(&self, upload: &mut Box<dyn MultipartUpload>, part: Vec<u8>) -> Result<(), StoreError> {
        if let Some(folder) = &self.folder {
            check_space(folder, part.len() as u64)?;
        }
        Ok(upload.put_part(PutPayload::from(part)).await?)
    }
}

fn object(id: Uuid) -> ObjectPath {
    ObjectPath::from(format!("{id}.tar.gz"))
}

/// Bytes of the disk that stay free: the database may be on the same one.
const RESERVE_BYTES: u64 = 1 << 30;

/// Opens the folder, for this user alone. Creates it if it is missing. Deletes unfinished uploads. Only one launcher
/// uses a folder, so these uploads are from an earlier process of this launcher, which was killed.
fn open_folder(folder: &Path) -> Result<LocalFileSystem, StoreError> {
    let failed =
        |error: io::Error| StoreError(format!("the folder {} is not usable: {error}", folder.display()).into());
    create_folder(folder).and_then(|()| delete_unfinished(folder)).map_err(failed)?;
    // An archive that the database lists must be complete, also after a power failure.
    Ok(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true))
}

/// Creates the folder, or takes the access of other users away from an existing one. The folder may be another user's,
/// for example on a volume of Kubernetes: its permissions stay, and only this user can read the archives in it.
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let folder_name = folder.display();
    match fs::set_permissions(folder, Permissions::from_mode(mode & 0o700)) {
        Ok(()) => {
            tracing::warn!(folder = %folder_name, "folder of the archives was open to other users, restricting it");
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            tracing::warn!(folder = %folder_name, "folder of the archives is another user's, and open to other users");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Deletes the files to which `object_store` writes an upload: `<name>#<number>`.
fn delete_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains(".tar.gz#") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Checks that the disk of the folder has space for these bytes.
fn check_space(folder: &Path, bytes: u64) -> Result<(), StoreError> {
    // If the file system does not report its free space, the write fails when the disk is full.
    let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let (total, free) = (disk.f_blocks.saturating_mul(disk.f_frsize), disk.f_bavail.saturating_mul(disk.f_frsize));
    if free.saturating_sub(bytes) >= reserve(total) {
        return Ok(());
    }
    let (folder, free) = (folder.display(), free >> 20);
    Err(StoreError(format!("the disk of the folder {folder} is almost full: {free} MiB are free").into()))
}

/// Returns the bytes of a disk of this size that stay free.
fn reserve(total: u64) -> u64 {
    RESERVE_BYTES.min(total / 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_leaves_space_on_the_disk_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        check_space(folder.path(), 1).unwrap();
        let error = check_space(folder.path(), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("is almost full"), "{error}");
        assert_eq!([10 << 30, 100 << 30].map(reserve), [512 << 20, 1 << 30]);
    }

    #[test]
    fn folder_and_bucket_are_parsed() {
        let bucket = |bucket: &str, prefix: &str| Location::Bucket { bucket: bucket.into(), prefix: prefix.into() };
        assert_eq!(Location::parse("/var/lib/snapshots"), Ok(Location::Folder("/var/lib/snapshots".into())));
        assert_eq!(Location::parse("s3://work"), Ok(bucket("work", "")));
        assert_eq!(Location::parse("s3://work/class/2026/"), Ok(bucket("work", "class/2026")));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "snapshots", "./snapshots", "https://example.org", "S3://work"] {
            assert_eq!(Location::parse(text), Err(LocationError::Unknown), "{text}");
        }
        assert_eq!(Location::parse("s3:///prefix"), Err(LocationError::NoBucket));
    }
}
