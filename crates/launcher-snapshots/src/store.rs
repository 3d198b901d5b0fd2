//! Saves, reads and deletes archives.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use uuid::Uuid;

use crate::error::StoreError;
use crate::folder;
use crate::http::{Connector, Limits};
use crate::location::Location;

/// Size of one part of an upload, in bytes: S3 requires at least 5 MiB.
const PART_BYTES: usize = 5 << 20;
/// Maximum memory of one upload, in bytes: the part that is sent, and the part that is filled meanwhile.
pub const ARCHIVE_BYTES: usize = 2 * PART_BYTES;

/// A stream of bytes. An error is its last item.
pub type ByteStream = BoxStream<'static, io::Result<Bytes>>;

/// Error of [`SnapshotStore::save`]. No object was stored.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The archive is larger than the limit.
    #[error("the archive is larger than {limit} bytes")]
    TooLarge {
        /// Maximum size, in bytes.
        limit: u64,
    },
    /// The archive could not be read.
    #[error("reading the files failed: {0}")]
    Source(#[source] io::Error),
    /// The object store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The object store.
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
                let objects = Arc::new(folder::open(folder)?);
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
            Ok(size) => Ok(size),
            Err(error) => {
                if let Err(error) = upload.abort().await {
                    tracing::debug!(%error, "aborting an upload to the object store failed");
                }
                Err(error)
            }
        }
    }

    /// Returns an archive.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn read(&self, id: Uuid) -> Result<ByteStream, StoreError> {
        let found = self.objects.get(&object(id)).await?;
        Ok(found.into_stream().map_err(io::Error::other).boxed())
    }

    /// Deletes an archive. A missing archive is no error.
    ///
    /// # Errors
    /// [`StoreError`].
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

    async fn send_part(&self, upload: &mut Box<dyn MultipartUpload>, part: Vec<u8>) -> Result<(), StoreError> {
        if let Some(folder) = &self.folder {
            folder::check_space(folder, part.len() as u64)?;
        }
        Ok(upload.put_part(PutPayload::from(part)).await?)
    }
}

fn object(id: Uuid) -> ObjectPath {
    ObjectPath::from(format!("{id}.tar.gz"))
}
