//! Whether an operator is at work: by its Lease, where that may be read, and by what waits for it.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use launcher_workshop::{Phase, Workshop};

use super::KubernetesExamination;
use crate::kubernetes::Guarded;
use crate::kubernetes::refusal::{code, refusal};
use crate::port::FleetError;

/// How long an operator that works may take to say something of a Workshop, or to end it.
const TAKES: SignedDuration = SignedDuration::from_secs(60);
/// How often in its duration a Lease may have missed its renewal before nobody leads.
const MISSES: i64 = 2;
/// How many Workshops are read at a time.
const PORTION: u32 = 500;

/// Who leads, by the Lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leader {
    /// This one, and it has said so lately.
    Leads(String),
    /// Nobody; the last one to lead said so at this time.
    Nobody(Option<Timestamp>),
    /// The Lease is not for the launcher to read.
    Unseen,
}

/// What waits for an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many Workshops there are.
    pub workshops: usize,
    /// Those without a status for over a minute.
    pub unseen: Vec<String>,
    /// Those that should have ended over a minute ago.
    pub overdue: Vec<String>,
    /// Those that cannot be read.
    pub unreadable: Vec<String>,
    /// Where the owner of one of them reaches it.
    pub url: Option<String>,
}

impl KubernetesExamination {
    /// Who leads, by the Lease of this name.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with what is wrong.
    pub async fn leader(&self, lease: &str, now: Timestamp) -> Result<Leader, FleetError> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.namespace);
        let spec = match leases.get_opt(lease).await {
            Ok(lease) => lease.and_then(|lease| lease.spec).unwrap_or_default(),
            Err(error) if code(&error) == Some(403) => return Ok(Leader::Unseen),
            Err(error) => return Err(refusal(&error)),
        };
        let renewed = spec.renew_time.map(|time| time.0);
        let lasts = SignedDuration::from_secs(i64::from(spec.lease_duration_seconds.unwrap_or(0)) * MISSES);
        let holder = spec.holder_identity.filter(|holder| !holder.is_empty());
        Ok(match (holder, renewed) {
            (Some(holder), Some(renewed)) if now.duration_since(renewed) <= lasts => Leader::Leads(holder),
            (_, renewed) => Leader::Nobody(renewed),
        })
    }

    /// What waits for an operator.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with what is wrong.
    pub async fn waiting(&self, now: Timestamp) -> Result<Waiting, FleetError> {
        let workshops: Api<Guarded> = Api::namespaced(self.client.clone(), &self.namespace);
        let mut params = ListParams::default().limit(PORTION);
        let mut waiting = Waiting::default();
        loop {
            let listed = workshops.list(&params).await.map_err(|error| refusal(&error))?;
            for workshop in listed.items {
                waiting.note(workshop, now);
            }
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(waiting),
            }
        }
    }
}

impl Waiting {
    fn note(&mut self, guarded: Guarded, now: Timestamp) {
        self.workshops += 1;
        let name = guarded.name_any();
        match guarded.0 {
            Err(_) => self.unreadable.push(name),
            Ok(workshop) => self.note_readable(name, &workshop, now),
        }
    }

    fn note_readable(&mut self, name: String, workshop: &Workshop, now: Timestamp) {
        let status = workshop.status.as_ref();
        self.url = self.url.take().or_else(|| status.and_then(|status| status.url.clone()));
        if workshop.metadata.deletion_timestamp.is_some() {
            return;
        }
        let passed = |time: Timestamp| now.duration_since(time) > TAKES;
        let Some(status) = status else {
            if workshop.creation_timestamp().is_some_and(|created| passed(created.0)) {
                self.unseen.push(name);
            }
            return;
        };
        let runs = matches!(status.phase, Phase::Starting | Phase::Running);
        if runs && workshop.spec.end(status.ready_at).is_some_and(passed) {
            self.overdue.push(name);
        }
    }
}
