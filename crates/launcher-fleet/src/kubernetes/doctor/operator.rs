//! Detects an inactive operator: by the operator's Lease, if the launcher may read it, and by the Workshops that wait
//! for the operator.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use launcher_workshop::{Phase, Workshop};

use super::examination::KubernetesExamination;
use crate::kubernetes::error::{status_code, to_fleet_error};
use crate::kubernetes::resource::Guarded;
use crate::port::FleetError;

/// Maximum time in which an active operator writes the first status of a Workshop, or terminates an expired Workshop.
const REACTION_TIME: SignedDuration = SignedDuration::from_secs(60);
/// A Lease without a renewal for this many lease durations counts as having no leader.
const MAX_MISSED_RENEWALS: i64 = 2;
/// Page size of the list requests.
const PAGE_SIZE: u32 = 500;

/// The leading operator according to the Lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leader {
    /// This operator holds the Lease and renewed it recently.
    Active(String),
    /// No operator leads. The time is the last renewal of the Lease, if there was one.
    Absent(Option<Timestamp>),
    /// The launcher may not read the Lease.
    Forbidden,
}

/// Workshops that wait for an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingWorkshops {
    /// Number of all Workshops.
    pub workshops: usize,
    /// Workshops that have existed for more than a minute without a status.
    pub without_status: Vec<String>,
    /// Workshops that have not been terminated within a minute after their expiry.
    pub overdue: Vec<String>,
    /// Workshops that the launcher cannot parse.
    pub unreadable: Vec<String>,
    /// Workshops whose pod has another sidecar or other settings than a new workshop would get.
    pub outdated: Vec<String>,
    /// Any one Workshop with a URL, as an example for the checks of `launcher doctor`.
    pub example: Option<ExampleWorkshop>,
}

/// Name and URL of a Workshop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleWorkshop {
    /// Name of the Workshop, with which its host begins.
    pub name: String,
    /// URL in its status.
    pub url: String,
}

impl KubernetesExamination {
    /// Returns the leading operator according to the Lease of this name.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with the cause.
    pub async fn leader(&self, lease: &str, now: Timestamp) -> Result<Leader, FleetError> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.namespace);
        let spec = match leases.get_opt(lease).await {
            Ok(lease) => lease.and_then(|lease| lease.spec).unwrap_or_default(),
            Err(error) if status_code(&error) == Some(403) => return Ok(Leader::Forbidden),
            Err(error) => return Err(to_fleet_error(&error)),
        };
        let renewed = spec.renew_time.map(|time| time.0);
        let lasts =
            SignedDuration::from_secs(i64::from(spec.lease_duration_seconds.unwrap_or(0)) * MAX_MISSED_RENEWALS);
        let holder = spec.holder_identity.filter(|holder| !holder.is_empty());
        Ok(match (holder, renewed) {
            (Some(holder), Some(renewed)) if now.duration_since(renewed) <= lasts => Leader::Active(holder),
            (_, renewed) => Leader::Absent(renewed),
        })
    }

    /// Returns the Workshops that wait for an operator.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] with the cause.
    pub async fn pending_workshops(&self, now: Timestamp) -> Result<PendingWorkshops, FleetError> {
        let workshops: Api<Guarded> = Api::namespaced(self.client.clone(), &self.namespace);
        let mut params = ListParams::default().limit(PAGE_SIZE);
        let mut pending = PendingWorkshops::default();
        loop {
            let listed = workshops.list(&params).await.map_err(|error| to_fleet_error(&error))?;
            for workshop in listed.items {
                pending.note(workshop, now);
            }
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(pending),
            }
        }
    }
}

impl PendingWorkshops {
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
        if let (None, Some(url)) = (&self.example, status.and_then(|status| status.url.clone())) {
            self.example = Some(ExampleWorkshop { name: name.clone(), url });
        }
        if workshop.metadata.deletion_timestamp.is_some() {
            return;
        }
        let passed = |time: Timestamp| now.duration_since(time) > REACTION_TIME;
        let Some(status) = status else {
            if workshop.creation_timestamp().is_some_and(|created| passed(created.0)) {
                self.without_status.push(name);
            }
            return;
        };
        if status.pod_outdated == Some(true) {
            self.outdated.push(name.clone());
        }
        let runs = matches!(status.phase, Phase::Starting | Phase::Running);
        if runs && workshop.spec.expiry(status.ready_at).is_some_and(passed) {
            self.overdue.push(name);
        }
    }
}
