//! Snapshots: archives of the files of workshops without a volume, saved at their planned end.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::clock::{Entropy, random_hex};
use crate::email::EmailAddress;
use crate::text_enum::text_enum;

/// Time after which an end no longer waits for its snapshot. This time starts again when the snapshot begins, and when
/// the launcher has saved the files of any workshop.
pub const SNAPSHOT_DELAY: SignedDuration = SignedDuration::from_secs(60);
/// Maximum time by which snapshots delay the end of a workshop. If many workshops end at once, their snapshots are
/// queued.
pub const SNAPSHOT_WAIT: SignedDuration = SignedDuration::from_mins(5);
/// Time after the expiry at which the fleet ends a workshop with a planned snapshot without the launcher. It is longer than
/// [`SNAPSHOT_WAIT`]: a launcher that has begun a snapshot can finish it.
pub const SNAPSHOT_GRACE: SignedDuration = SignedDuration::from_secs(330);
/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;

text_enum! {
    /// Progress of the snapshot of an instance.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SnapshotState {
        /// The end of the running instance takes a snapshot first.
        Planned = "planned",
        /// The end is decided. The workload runs until the snapshot is saved or has failed.
        Pending = "pending",
        /// The files are saved.
        Saved = "saved",
        /// The instance ended without a snapshot.
        Failed = "failed",
    }
}

text_enum! {
    /// Reason why an instance ended without its snapshot.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SnapshotFailure {
        /// The snapshot took longer than the end may be delayed.
        TimeLimit = "time-limit",
        /// The archive would be larger than the limit.
        TooLarge = "too-large",
        /// The owner has the maximum number of snapshots.
        LimitReached = "limit-reached",
        /// The fleet could not read the files.
        FilesUnavailable = "files-unavailable",
        /// The object store did not accept the archive.
        StoreUnavailable = "store-unavailable",
        /// The workload was gone before the snapshot was saved.
        WorkshopGone = "workshop-gone",
    }
}

/// Token that lets the launcher read the files of one workshop, and send saved files to it.
pub type ArchiveToken = Token;

/// Secret token between the launcher and one workshop. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// Returns a random token: 64 hexadecimal digits.
    #[must_use]
    pub fn random(entropy: &dyn Entropy) -> Self {
        Self(random_hex::<TOKEN_BYTES>(entropy))
    }

    /// Returns the token, for its other end and nothing else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn digest(&self) -> TokenDigest {
        TokenDigest(Sha256::digest(&self.0).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// SHA-256 of a token, in hexadecimal as a text. It does not reveal the token, so specs of resources may contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest([u8; 32]);

/// Error of a text that is not a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write 64 hexadecimal digits")]
pub struct ParseDigestError;

impl TokenDigest {
    /// True if this is the digest of the token. The duration does not depend on the difference.
    #[must_use]
    pub fn accepts(&self, token: &[u8]) -> bool {
        Sha256::digest(token).as_slice().ct_eq(&self.0).into()
    }

    /// Returns the answer to a challenge, in hexadecimal. It proves knowledge of the digest without revealing it.
    #[must_use]
    pub fn answer(&self, challenge: &[u8]) -> String {
        hex::encode(Sha256::new().chain_update(self.0).chain_update(challenge).finalize())
    }
}

impl fmt::Display for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for TokenDigest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest).map_err(|_| ParseDigestError)?;
        Ok(Self(digest))
    }
}

/// The snapshot of one instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceSnapshot {
    pub state: SnapshotState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<SnapshotFailure>,
    /// Time at which the end was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_since: Option<Timestamp>,
    /// Time at which a launcher last began to save the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_at: Option<Timestamp>,
    /// Token for the files.
    pub token: ArchiveToken,
}

impl InstanceSnapshot {
    /// Returns the time at which the instance ends without its snapshot; `None` if it does not wait for one. `progress` is
    /// the time at which the launcher began to work, or last saved the files of any instance.
    #[must_use]
    pub fn deadline(&self, started_at: Timestamp, progress: Timestamp) -> Option<Timestamp> {
        let since = self.pending_since?.max(started_at);
        let latest = since.checked_add(SNAPSHOT_WAIT).ok()?;
        let progress = since.max(progress).max(self.begun_at.unwrap_or(since));
        progress.checked_add(SNAPSHOT_DELAY).map(|deadline| deadline.min(latest)).ok()
    }

    /// Returns the snapshot of a new instance.
    #[must_use]
    pub fn planned(token: ArchiveToken) -> Self {
        Self { state: SnapshotState::Planned, failure: None, pending_since: None, begun_at: None, token }
    }

    /// Returns the snapshot that the end of the instance waits for.
    #[must_use]
    pub(crate) fn pending(&self, since: Timestamp) -> Self {
        Self { state: SnapshotState::Pending, pending_since: Some(since), ..self.clone() }
    }

    /// Returns the finished snapshot.
    #[must_use]
    pub(crate) fn finished(&self, outcome: Result<(), SnapshotFailure>) -> Self {
        let state = if outcome.is_ok() { SnapshotState::Saved } else { SnapshotState::Failed };
        Self { state, failure: outcome.err(), ..self.clone() }
    }
}

/// Saved files of a workshop that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Identifier: that of the instance.
    pub snapshot_id: Uuid,
    /// The person whose files these are.
    pub owner_email: EmailAddress,
    pub template_id: Uuid,
    /// Name of the template at the launch.
    pub template_name: String,
    pub k8s_name: String,
    /// Size of the archive, in bytes.
    pub bytes: u64,
    /// Time at which the archive was complete.
    pub created_at: Timestamp,
    /// Latest time of the deletion that the owner was shown.
    pub kept_until: Timestamp,
}

impl Snapshot {
    /// Returns the time at which the snapshot is deleted: after the retention, and never earlier than announced.
    #[must_use]
    pub fn deleted_after(&self, retention: Duration) -> Timestamp {
        let retention = SignedDuration::try_from(retention).unwrap_or(SignedDuration::MAX);
        self.created_at.checked_add(retention).unwrap_or(Timestamp::MAX).max(self.kept_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of `token`.
    const DIGEST: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

    #[test]
    fn only_the_token_of_the_digest_is_accepted() {
        let digest: TokenDigest = DIGEST.parse().unwrap();
        assert_eq!((digest, digest.to_string()), (Token("token".to_owned()).digest(), DIGEST.to_owned()));
        assert!(digest.accepts(b"token"));
        for other in [&b""[..], b"Token", b"token ", DIGEST.as_bytes()] {
            assert!(!digest.accepts(other), "{other:?}");
        }
    }

    #[test]
    fn answer_depends_on_digest_and_challenge() {
        let answer = |token: &str, challenge: &[u8]| Token(token.to_owned()).digest().answer(challenge);
        assert_eq!(answer("token", b"one").len(), crate::transfer::PROOF_BYTES);
        assert_ne!(answer("token", b"one"), answer("token", b"two"));
        assert_ne!(answer("token", b"one"), answer("other", b"one"));
    }

    #[test]
    fn digest_has_64_hexadecimal_digits() {
        for text in ["", &DIGEST[1..], &format!("{DIGEST}0"), &DIGEST.replace('c', "g"), &"ü".repeat(32)] {
            assert_eq!(text.parse::<TokenDigest>(), Err(ParseDigestError), "{text}");
        }
    }
}
