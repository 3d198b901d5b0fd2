//! Leader election with a Lease: one operator, the leader, acts. The other operators stand by.
//!
//! A leader acts only while its monotonic clock shows that the lease cannot have expired. It counts from the moment
//! before it sent the last renewal. A standby takes the lease only after it has seen the lease unchanged for the
//! lease's whole duration on its monotonic clock. Two operators thus never act at the same time, even with wrong wall
//! clocks. A leader that was paused for too long finds its fence closed, and does not act.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};
use launcher_domain::Clock;
use launcher_domain::sync::lock;
use tokio::time::{Instant, sleep, timeout};

/// Acquires, renews and releases one Lease for this operator.
pub(crate) struct Election {
    pub(crate) leases: Api<Lease>,
    pub(crate) name: String,
    /// Holder identity of this operator, unique to this process.
    pub(crate) identity: String,
    pub(crate) duration: Duration,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Election {
    /// Waits until this operator leads. After each attempt it reports to `contact` an error if the Lease could not be
    /// read or written. A Lease that another operator holds is no error.
    pub(crate) async fn acquire(&self, contact: impl Fn(Result<(), String>)) -> Fence {
        let mut watched = ObservedLease::default();
        loop {
            let asked = Instant::now();
            match self.try_acquire_or_renew(&mut watched).await {
                Ok(won) => {
                    contact(Ok(()));
                    if won {
                        return Fence::new(asked, self.duration);
                    }
                }
                // No error: another operator wrote the Lease first.
                Err(ElectionError::Conflict) => contact(Ok(())),
                Err(error) => {
                    tracing::warn!(lease = %self.name, %error, "acquiring Lease failed, retrying");
                    contact(Err(format!("the Lease {} could not be read or written", self.name)));
                }
            }
            sleep(self.pause()).await;
        }
    }

    /// Renews the lease until it is lost: another operator holds it, or the API server has not confirmed a renewal in
    /// time. Then closes the fence.
    pub(crate) async fn renew_until_lost(&self, fence: &Fence) {
        let mut watched = ObservedLease::default();
        let mut pause = self.pause();
        loop {
            sleep(pause).await;
            let asked = Instant::now();
            pause = match self.try_acquire_or_renew(&mut watched).await {
                Ok(true) if fence.check().is_ok() => {
                    fence.renewed(asked, self.duration);
                    self.pause()
                }
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(lease = %self.name, %error, "renewing Lease failed, retrying");
                    // Retry sooner, so that the lease survives one slow and one failed renewal.
                    self.pause() / 4
                }
            };
            if fence.check().is_err() {
                break;
            }
        }
        fence.close();
    }

    /// Closes the fence and releases the lease, so that a standby need not wait until the lease expires.
    pub(crate) async fn release(&self, fence: &Fence) {
        fence.close();
        let released = timeout(self.pause(), async {
            let mut lease = self.leases.get(&self.name).await?;
            if holder(&lease) == Some(&self.identity) {
                release_lease(&mut lease, self.clock.now());
                self.leases.replace(&self.name, &PostParams::default(), &lease).await?;
            }
            Ok::<(), kube::Error>(())
        });
        if !matches!(released.await, Ok(Ok(()))) {
            tracing::warn!(lease = %self.name, "releasing Lease failed, a standby can lead only after the Lease has expired");
        }
    }

    /// Tries once to take or renew the lease. Returns true if this operator holds it.
    async fn try_acquire_or_renew(&self, watched: &mut ObservedLease) -> Result<bool, ElectionError> {
        timeout(self.pause(), self.acquire_or_renew(watched)).await.map_err(|_| ElectionError::Slow)?
    }

    async fn acquire_or_renew(&self, watched: &mut ObservedLease) -> Result<bool, ElectionError> {
        let now = self.clock.now();
        let written = match self.leases.get_opt(&self.name).await? {
            None => {
                let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
                let mut lease = Lease { metadata, spec: None };
                take_lease(&mut lease, &self.identity, self.duration, now);
                self.leases.create(&PostParams::default(), &lease).await
            }
            Some(lease) if !watched.may_take(&lease, &self.identity, Instant::now()) => return Ok(false),
            Some(mut lease) => {
                take_lease(&mut lease, &self.identity, self.duration, now);
                // The request includes the resource version. If two operators try at once, one gets a conflict.
                self.leases.replace(&self.name, &PostParams::default(), &lease).await
            }
        };
        match written {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.code == 409 => Err(ElectionError::Conflict),
            Err(error) => Err(error.into()),
        }
    }

    /// Interval of the attempts, and timeout of one attempt. It is short enough to retry a failed renewal before the
    /// fence closes.
    fn pause(&self) -> Duration {
        self.duration / 4
    }
}

#[derive(Debug, thiserror::Error)]
enum ElectionError {
    #[error(transparent)]
    Kube(#[from] kube::Error),
    #[error("the API server did not answer in time")]
    Slow,
    #[error("another operator wrote the Lease first")]
    Conflict,
}

/// Error of an operator that does not lead, or whose lease may have expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this operator is no longer the leader")]
pub struct NotLeading;

/// Open while this operator certainly holds the lease. The operator checks the fence before every change to the
/// cluster. Clones share one state.
#[derive(Debug, Clone)]
pub struct Fence(Arc<Mutex<Option<Instant>>>);

impl Fence {
    /// Creates a fence for a lease that was requested at `asked` and lasts for `duration`.
    #[must_use]
    pub fn new(asked: Instant, duration: Duration) -> Self {
        Self(Arc::new(Mutex::new(Some(asked + usable(duration)))))
    }

    /// Succeeds if this operator may act now.
    ///
    /// # Errors
    /// [`NotLeading`] if the lease may have expired, or the fence was closed.
    pub fn check(&self) -> Result<(), NotLeading> {
        let until = *lock(&self.0);
        if until.is_some_and(|until| Instant::now() < until) { Ok(()) } else { Err(NotLeading) }
    }

    /// Extends the fence after a renewal that was requested at `asked`. A closed fence stays closed.
    pub fn renewed(&self, asked: Instant, duration: Duration) {
        let mut until = lock(&self.0);
        if until.is_some() {
            *until = Some(asked + usable(duration));
        }
    }

    /// Closes the fence permanently.
    pub fn close(&self) {
        *lock(&self.0) = None;
    }
}

/// Returns the part of the lease duration in which the leader may act. The last fifth is reserved for requests that
/// were sent at the last moment.
fn usable(duration: Duration) -> Duration {
    duration * 4 / 5
}

/// The last seen content of another operator's lease, and the time on this operator's monotonic clock when it changed.
#[derive(Debug, Default)]
pub struct ObservedLease(Option<(LeaseSpec, Instant)>);

impl ObservedLease {
    /// True if the operator `me` may take or renew the lease: it holds the lease, no operator holds it, or it has expired. The
    /// lease of another operator counts as expired after `me` has seen it unchanged for its whole duration.
    pub fn may_take(&mut self, lease: &Lease, me: &str, now: Instant) -> bool {
        let spec = lease.spec.clone().unwrap_or_default();
        if matches!(spec.holder_identity.as_deref(), None | Some("")) || spec.holder_identity.as_deref() == Some(me) {
            return true;
        }
        let duration = u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0);
        match &self.0 {
            Some((seen, since)) if *seen == spec => now.duration_since(*since) > Duration::from_secs(duration),
            _ => {
                self.0 = Some((spec, now));
                false
            }
        }
    }
}

fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref()
}

/// Writes `me` as the holder, or renews the lease if `me` holds it already.
fn take_lease(lease: &mut Lease, me: &str, duration: Duration, now: Timestamp) {
    let changes_hands = holder(lease) != Some(me);
    let spec = lease.spec.get_or_insert_default();
    if changes_hands {
        spec.acquire_time = Some(MicroTime(now));
        spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |count| count.saturating_add(1)));
    }
    spec.holder_identity = Some(me.to_owned());
    spec.lease_duration_seconds = Some(i32::try_from(duration.as_secs()).unwrap_or(i32::MAX));
    spec.renew_time = Some(MicroTime(now));
}

/// Removes the holder, so that another operator can take the lease at once.
fn release_lease(lease: &mut Lease, now: Timestamp) {
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1);
    spec.renew_time = Some(MicroTime(now));
}
