//! Location of the object store, as administrators write it.

use std::path::PathBuf;

/// Location of the object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A bucket of S3 or of a compatible service.
    Bucket {
        /// Name of the bucket.
        bucket: String,
        /// Prefix of the objects' names, without slashes at its ends; may be empty.
        prefix: String,
    },
}

/// Error of [`Location::parse`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// The text is neither a path nor the address of a bucket.
    #[error("write the absolute path of a folder, or s3://BUCKET/PREFIX")]
    Unknown,
    /// The bucket has no name.
    #[error("the bucket has no name: write s3://BUCKET/PREFIX")]
    NoBucket,
}

impl Location {
    /// Parses the absolute path of a folder, or `s3://BUCKET/PREFIX`.
    ///
    /// # Errors
    /// [`LocationError`].
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

#[cfg(test)]
mod tests {
    use super::*;

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
