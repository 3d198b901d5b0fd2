//! Leader election with a Lease: one operator, the leader, acts. The other operators stand by.
//!
//! A leader acts only while its monotonic clock shows that the lease cannot have expired. It counts from the moment
//! before it sent the last renewal. A standby takes the lease only after it has seen the lease unchanged for the
//! lease's whole duration on its monotonic clock. Two operators thus never act at the same time, even with wrong wall
//! clocks. A leader that was paused for too long finds its fence closed, and does not act.

mod fence;
mod record;

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use launcher_domain::Clock;
use tokio::time::{Instant, sleep, timeout};

pub use fence::{Fence, NotLeading};
pub use record::{LeaseDecision, ObservedLease};

/// Acquires, renews and releases one Lease for this operator.
#[derive(Debug)]
pub(crate) struct Election {
    pub(crate) leases: Api<Lease>,
    pub(crate) name: String,
    /// Holder identity of this operator, unique to this process.
    pub(crate) identity: String,
    pub(crate) duration: Duration,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Election {
    pub(crate) fn new(
        client: &Client,
        namespace: &str,
        name: &str,
        identity: &str,
        duration: Duration,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let leases = Api::namespaced(client.clone(), namespace);
        Self { leases, name: name.to_owned(), identity: identity.to_owned(), duration, clock }
    }

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
            if record::holder(&lease) == Some(&self.identity) {
                record::release(&mut lease, self.clock.now());
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
                record::take(&mut lease, &self.identity, self.duration, now);
                self.leases.create(&PostParams::default(), &lease).await
            }
            Some(mut lease) => match watched.decide(&lease, &self.identity, Instant::now()) {
                LeaseDecision::Wait => return Ok(false),
                LeaseDecision::Take => {
                    record::take(&mut lease, &self.identity, self.duration, now);
                    // The request includes the resource version. If two operators try at once, one gets a conflict.
                    self.leases.replace(&self.name, &PostParams::default(), &lease).await
                }
            },
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
