//! Launch: stores the row. Dispatch creates the Workshop later.

use std::collections::BTreeMap;
use std::future::ready;
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use jiff::Timestamp;
use launcher_domain::names::{k8s_name, volume_name};
use launcher_domain::template::read_values;
use launcher_domain::{
    ArchiveToken, Caller, ClassAccess, ClassLimits, EmailAddress, FieldError, FileRetention, FilesAtEnd, Instance,
    InstanceSnapshot, InstanceState, LaunchValues, RepositoryDraft, SecretValues, Template, TemplateSettings,
};
use launcher_store::{IdempotencyKey, LaunchOutcome, LaunchRules, ListedInstance};
use launcher_trace::StartTrace;
use launcher_workshop::WorkshopSpec;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::timeout;
use uuid::Uuid;

use crate::error::ServiceError;
use crate::feed::FeedEvent;
use crate::launcher::Launcher;
use crate::templates::Catalog;

/// Maximum attempts to generate an unused name for a launch. Two equal names among 2^50 are very unlikely.
const NAME_ATTEMPTS: usize = 5;
/// Maximum time for which a launch waits for the end of the caller's former workshop.
const GONE_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Default)]
pub struct LaunchRequest {
    /// Key that makes a launch idempotent: a second request of the caller with this key gets the same instance.
    pub idempotency_key: Option<String>,
    /// Repository that the launch adds to the course material of the template.
    pub repository: Option<RepositoryDraft>,
    /// Snapshot whose files the workshop starts with.
    pub snapshot: Option<Uuid>,
    /// The request body. A second request with the same key must have the same body.
    pub body: Value,
    /// Values of the launch parameters by name, all of them unchecked. The body does not contain them.
    pub parameters: SecretValues,
}

#[derive(Debug, Clone)]
pub struct Launched {
    pub listed: ListedInstance,
    /// True when this request created the instance, false when an earlier one with the same key did.
    pub created: bool,
}

impl Launcher {
    /// Launches a template for the caller: stores an instance in state queued. Dispatch starts it at once if there is
    /// room.
    ///
    /// # Errors
    /// NotFound, TemplateInactive, TemplateNotAllowed, ClassOver, ClassNotBegun, Invalid, InstanceLimitReached, ClassLimitReached, TooManyLaunches,
    /// AtCapacity, VolumeInUse, StorageLimitReached, IdempotencyKeyReused, SnapshotsUnavailable, Unavailable.
    pub async fn launch<'a>(
        &self,
        catalog: impl Into<Catalog<'a>>,
        template_id: Uuid,
        request: &LaunchRequest,
    ) -> Result<Launched, ServiceError> {
        let catalog = catalog.into();
        let caller = catalog.caller();
        let template = self.template(catalog, template_id).await?;
        let key = request
            .idempotency_key
            .as_ref()
            .map(|key| IdempotencyKey { key: key.clone(), body_hash: fingerprint(&template, request) });
        let (template, values) = match self.launchable(catalog, template, request).await {
            Ok(launchable) => launchable,
            // Template and snapshot may have changed since the first request with this key.
            Err(refusal) => return self.launched_before(caller, key.as_ref(), refusal).await,
        };
        let rules = self.rules(catalog);
        for _ in 0..NAME_ATTEMPTS {
            let drafted = self.draft(caller.email(), &template, &values, catalog.class());
            let instance = Instance { restores: request.snapshot, ..drafted };
            match self.0.store.launch(None, &instance, &values.secrets, &rules, key.as_ref()).await? {
                LaunchOutcome::Created(instance) => return self.launched(caller, instance, true).await,
                LaunchOutcome::Replayed(instance) => return self.launched(caller, instance, false).await,
                LaunchOutcome::NameTaken => {}
                refusal => return Err(self.refusal(caller.email(), refusal)),
            }
        }
        Err(ServiceError::Internal(
            "all generated names are already in use: the random number generator repeats its values".into(),
        ))
    }

    /// Checks all of a launch except limits. Returns the template with the repository of the request, and the values of its
    /// parameters.
    async fn launchable(
        &self,
        catalog: Catalog<'_>,
        mut template: Template,
        request: &LaunchRequest,
    ) -> Result<(Template, LaunchValues), ServiceError> {
        let caller = catalog.caller();
        if !template.active && !catalog.launches_inactive() {
            return Err(ServiceError::TemplateInactive);
        }
        if let Some(closure) = catalog.class().and_then(|access| access.closure(self.0.clock.now())) {
            return Err(closure.into());
        }
        if let Some(access) = catalog.class() {
            self.require_allowed(access, &template)?;
        }
        let values = read(&mut template, request).map_err(ServiceError::Invalid)?;
        if let Some(snapshot_id) = request.snapshot {
            self.snapshot_to_launch(caller, &template, snapshot_id).await?;
        }
        Ok((template, values))
    }

    /// Ends the caller's instance, waits until its workload is gone, and launches its template again, with the repository that
    /// its launch added. The new workshop may need the volume of the former one, and its place within the caller's limit.
    /// After 30 seconds, the launch no longer waits. An instance whose template cannot be launched stays.
    ///
    /// # Errors
    /// NotFound, and those of [`Launcher::launch`].
    pub async fn launch_again(
        &self,
        caller: &Caller,
        k8s_name: &str,
        request: &LaunchRequest,
    ) -> Result<Launched, ServiceError> {
        let ListedInstance { instance, .. } = self.instance(caller, k8s_name).await?;
        if instance.owner_email != *caller.email() {
            return Err(ServiceError::NotFound);
        }
        let class = self.class_of_template(caller, instance.template_id).await?;
        let catalog = Catalog::of(caller, class.as_ref());
        let template = self.template(catalog, instance.template_id).await?;
        let repository = instance.settings.added_repository(&template.settings);
        let request = &LaunchRequest { repository, ..request.clone() };
        self.launchable(catalog, template, request).await?;
        let ListedInstance { instance: ended, .. } = self.terminate(caller, k8s_name).await?;
        if ended.state != InstanceState::Terminated {
            let is_gone = |event: FeedEvent| {
                let ListedInstance { instance, .. } = &*event.listed;
                ready(instance.instance_id == ended.instance_id && instance.state == InstanceState::Terminated)
            };
            let changes = self.subscribe(caller, Some(ended.revision));
            // Without the change in time, the launch says why it is refused.
            drop(timeout(GONE_TIMEOUT, pin!(changes).any(is_gone)).await);
        }
        self.launch(catalog, ended.template_id, request).await
    }

    /// Returns the error for a launch or a resume that the store refused.
    pub(crate) fn refusal(&self, owner: &EmailAddress, outcome: LaunchOutcome) -> ServiceError {
        match outcome {
            LaunchOutcome::KeyReused => ServiceError::IdempotencyKeyReused,
            LaunchOutcome::AtCapacity => ServiceError::AtCapacity,
            LaunchOutcome::LimitReached { limit, held, ending } => {
                ServiceError::InstanceLimitReached { limit, held, ending }
            }
            LaunchOutcome::NotMember => ServiceError::NotFound,
            LaunchOutcome::ClassLimitReached { limit, is_of_owner } => {
                ServiceError::ClassLimitReached { limit, is_of_caller: is_of_owner }
            }
            LaunchOutcome::VolumeInUse(user) => ServiceError::VolumeInUse(user),
            LaunchOutcome::StorageLimitReached { limit_gib } => ServiceError::StorageLimitReached { limit_gib },
            LaunchOutcome::TooManyLaunches { wait } => self.too_many_launches(owner, wait),
            LaunchOutcome::Created(_)
            | LaunchOutcome::Replayed(_)
            | LaunchOutcome::NameTaken
            | LaunchOutcome::HasInstance => {
                ServiceError::Internal("the store refused a launch without a reason".into())
            }
        }
    }

    /// Returns the limits that apply to the caller. Admins are exempt from the limits per person.
    pub(crate) fn rules(&self, catalog: Catalog<'_>) -> LaunchRules {
        self.rules_of(!catalog.caller().is_admin(), catalog.class().map(ClassAccess::limits))
    }

    /// Returns the limits of a launch. `is_limited`: those per person apply.
    pub(crate) fn rules_of(&self, is_limited: bool, class: Option<ClassLimits>) -> LaunchRules {
        let limits = &self.0.limits;
        LaunchRules {
            max_per_user: is_limited.then_some(limits.max_instances_per_user),
            rate: is_limited.then_some(limits.rate()),
            max_queued: limits.max_queued,
            max_storage_gib: limits.max_storage_gib_per_user.filter(|_| is_limited),
            class,
        }
    }

    fn too_many_launches(&self, owner: &EmailAddress, wait: Duration) -> ServiceError {
        self.0.metrics.launches_refused.inc();
        tracing::info!(%owner, "launch refused: the rate limit is reached");
        // Round up to whole seconds, so that the bucket has a token when the client retries.
        ServiceError::TooManyLaunches {
            retry_after: wait.as_millis().div_ceil(1000).try_into().unwrap_or(u32::MAX).max(1),
        }
    }

    /// Answers a launch that the template does not allow. If this key was used while the template allowed it, returns
    /// that launch, otherwise the refusal.
    async fn launched_before(
        &self,
        caller: &Caller,
        key: Option<&IdempotencyKey>,
        refusal: ServiceError,
    ) -> Result<Launched, ServiceError> {
        let Some(key) = key else { return Err(refusal) };
        match self.0.store.launched_before(caller, key).await? {
            Some(LaunchOutcome::Replayed(instance)) => self.launched(caller, instance, false).await,
            Some(LaunchOutcome::KeyReused) => Err(ServiceError::IdempotencyKeyReused),
            _ => Err(refusal),
        }
    }

    async fn launched(&self, caller: &Caller, instance: Instance, created: bool) -> Result<Launched, ServiceError> {
        if created {
            self.record_launch(&instance);
        }
        Ok(Launched { listed: self.with_position(caller, instance).await, created })
    }

    /// Wakes the loops for a stored launch, and counts it.
    pub(crate) fn record_launch(&self, instance: &Instance) {
        self.0.metrics.launches.inc();
        self.0.dispatch.notify_one();
        self.0.changed.notify_one();
        let trace = StartTrace::of(&instance.k8s_name);
        trace.record_launch((instance.created_at, self.0.clock.now()));
        tracing::info!(
            workshop = %instance.k8s_name,
            template = %instance.template_id,
            trace_id = %trace.trace_id(),
            "instance launched"
        );
    }

    /// Returns the new instance, with a snapshot at its end if this launcher saves any and the fleet can read its files.
    /// `class`: the class of the template.
    pub(crate) fn draft(
        &self,
        owner: &EmailAddress,
        template: &Template,
        values: &LaunchValues,
        class: Option<&ClassAccess>,
    ) -> Instance {
        let (instance_id, settings) = (self.draw_id(), &template.settings);
        let name = k8s_name(&settings.name, &*self.0.entropy);
        let mut instance = Instance {
            namespace: class.and_then(|access| access.class().content.namespace.clone()),
            volume: settings.keeps_files().then(|| volume_name(&*self.0.entropy)),
            parameters: values.values.clone(),
            ..Instance::queued(instance_id, name, owner.clone(), template, self.0.clock.now())
        };
        if self.plans_snapshot(&instance) {
            instance.snapshot = Some(InstanceSnapshot::planned(ArchiveToken::random(&*self.0.entropy)));
        }
        instance
    }

    /// True if the end of this new instance saves its files.
    fn plans_snapshot(&self, instance: &Instance) -> bool {
        let is_readable =
            |spec: &WorkshopSpec| self.0.fleets.main().archives().is_some_and(|all| all.can_read_app(spec));
        self.0.snapshots.is_some() && instance.volume.is_none() && is_readable(&WorkshopSpec::of(instance))
    }

    /// Returns the retentions of files that outlive a workshop.
    #[must_use]
    pub fn file_retention(&self) -> FileRetention {
        FileRetention { volumes: self.volume_retention(), snapshots: self.snapshot_retention() }
    }

    /// Returns what happens to the files of a workshop with these settings, launched by this caller.
    #[must_use]
    pub fn files_of(&self, caller: &Caller, settings: &TemplateSettings) -> FilesAtEnd {
        let is_saved = self.plans_snapshot(&Self::example(caller, settings));
        FilesAtEnd::of(settings.keeps_files(), is_saved, self.file_retention())
    }

    /// Returns an instance with these settings, for questions about a launch of the caller.
    pub(crate) fn example(caller: &Caller, settings: &TemplateSettings) -> Instance {
        let (owner, at) = (caller.email().clone(), Timestamp::UNIX_EPOCH);
        let volume = settings.keeps_files().then(String::new);
        Instance { volume, ..Instance::of_settings(Uuid::nil(), String::new(), owner, settings.clone(), at) }
    }
}

/// Adds the repository of the request to the template, and returns the values of its parameters.
///
/// # Errors
/// All errors of the repository and of the values.
pub(crate) fn read(template: &mut Template, request: &LaunchRequest) -> Result<LaunchValues, Vec<FieldError>> {
    let values = read_values(&template.settings.parameters, &request.parameters);
    let Some(repository) = request.repository.clone() else { return values };
    match (template.settings.with_repository(repository), values) {
        (Ok(settings), Ok(values)) => {
            template.settings = settings;
            Ok(values)
        }
        (settings, values) => Err([settings.err(), values.err()].into_iter().flatten().flatten().collect()),
    }
}

/// Hash that identifies a launch request: the template, the body and the parameters, without the values of secrets. A
/// short secret could be guessed from the hash.
fn fingerprint(template: &Template, request: &LaunchRequest) -> String {
    let LaunchRequest { body, parameters, .. } = request;
    let mut text = format!("{}\n{body}", template.template_id);
    if !parameters.is_empty() {
        let is_secret = |name: &str| template.settings.parameters.iter().any(|one| one.name == name && one.is_secret());
        let shown = parameters.reveal_all().map(|(name, value)| (name, (!is_secret(name)).then_some(value)));
        text = format!("{text}\n{}", json!(shown.collect::<BTreeMap<_, _>>()));
    }
    hex::encode(Sha256::digest(text))
}
