//! Failure reasons of a workshop, in words for the person who waits for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::coded_text::{CodedText, TextKey, coded_texts};
use crate::listening::ListensElsewhere;
use crate::secrets::SecretValues;
use crate::text_enum::text_enum;

/// Declares the kinds of failure. A kind has these parts:
///
/// - its code;
/// - `retryable`: true when the same launch may succeed a moment later;
/// - `loses_files`: true if a workshop without a volume loses its files by this failure;
/// - a description in English, in one sentence for students;
/// - the advised action in English. It also says if the failure lost the user's files.
macro_rules! failure_codes {
    ($(
        $(#[doc = $about:literal])+
        $kind:ident = $code:literal, retryable: $retryable:literal, loses_files: $loses_files:literal,
            $message:literal, $remedy:literal;
    )+) => {
        text_enum! {
            /// Kinds of failure, in the order in which the documentation lists them.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub enum FailureCode {
                $($(#[doc = $about])+ $kind = $code,)+
            }
        }

        impl FailureCode {
            /// Returns the description of the failure in English, in one sentence for students.
            #[must_use]
            pub fn message(self) -> &'static str {
                match self {
                    $(Self::$kind => $message,)+
                }
            }

            /// Returns the advised action in English. The text also says if the failure lost the user's files.
            #[must_use]
            pub fn remedy(self) -> &'static str {
                match self {
                    $(Self::$kind => $remedy,)+
                }
            }

            /// True when the same launch may succeed a moment later.
            #[must_use]
            pub fn retryable(self) -> bool {
                match self {
                    $(Self::$kind => $retryable,)+
                }
            }

            /// True if a workshop without a volume loses its files by this failure.
            #[must_use]
            pub fn loses_files(self) -> bool {
                match self {
                    $(Self::$kind => $loses_files,)+
                }
            }
        }
    };
}

failure_codes! {
    /// The image does not exist or may not be pulled.
    ImagePullFailed = "image-pull-failed", retryable: false, loses_files: false,
        "The cluster could not download the workshop's image.",
        "Tell your teacher or an administrator: the template names a wrong image, or the registry refuses access.";
    /// The app exited.
    Crashed = "crashed", retryable: true, loses_files: true,
        "The workshop's program stopped unexpectedly.",
        "Files that were not saved elsewhere are lost. Launch it again, or show its output to your teacher.";
    /// The app used more memory than its limit.
    OutOfMemory = "out-of-memory", retryable: true, loses_files: true,
        "The workshop exceeded its memory limit.",
        "Files that were not saved elsewhere are lost. Launch it again and load less data, or ask for more memory.";
    /// No node has enough free CPU and memory for the resource requests of the workshop.
    Unschedulable = "unschedulable", retryable: true, loses_files: false,
        "The cluster has no free capacity for this workshop right now.",
        "Try again in a few minutes. If it fails again, ask an administrator to add capacity.";
    /// The workshop was not ready within the start timeout.
    StartTimeout = "start-timeout", retryable: true, loses_files: false,
        "The workshop did not become ready in time.",
        "Launch it again. If it is slow again, tell your teacher or an administrator.";
    /// The namespace's quota is used up.
    QuotaExceeded = "quota-exceeded", retryable: true, loses_files: false,
        "The quota for workshops is used up.",
        "Try again when other workshops have ended, or ask an administrator for a larger quota.";
    /// The cluster evicted the workshop from its node.
    Evicted = "evicted", retryable: true, loses_files: true,
        "The cluster stopped the workshop, for example because its node was drained or ran short of memory or disk.",
        "Files that were not saved elsewhere are lost. Launch it again.";
    /// The node was lost.
    NodeLost = "node-lost", retryable: true, loses_files: true,
        "The cluster lost the node of this workshop.",
        "Files that were not saved elsewhere are lost. Launch it again.";
    /// The fleet cannot run the Workshop's spec.
    InvalidSpec = "invalid-spec", retryable: false, loses_files: false,
        "The workshop's template has settings that cannot run.",
        "Tell your teacher or an administrator: they must correct the template.";
    /// The app's program is not installed where the workshop should run.
    AppNotAvailable = "app-not-available", retryable: false, loses_files: false,
        "The workshop's program is not installed here.",
        "Tell an administrator: they must install the program or correct the template.";
    /// The fleet could not place the saved files of an earlier workshop.
    FilesNotRestored = "files-not-restored", retryable: true, loses_files: false,
        "Your saved files could not be placed in the workshop, so it did not start.",
        "Your saved files are unchanged. Launch with these files again, or download them from the page Saved work.";
    /// The cluster's network did not enforce the policies of the workshop's pod.
    NetworkNotIsolated = "network-not-isolated", retryable: true, loses_files: false,
        "The workshop did not start, because the cluster did not isolate its network.",
        "Launch it again. If it fails again, tell an administrator: the cluster must enforce its network policies.";
}

/// A failure with its explanation, in English and as codes for translators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureReason {
    pub code: FailureCode,
    /// Description for the person who waits.
    pub message: String,
    /// Advised action.
    pub remedy: String,
    /// True when the same launch may succeed a moment later.
    pub retryable: bool,
    /// Codes of the sentences of the message, in order. [`STANDARD`] is the code of the standard sentence. Empty if the
    /// message is the standard sentence, or if an earlier version stored the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message_codes: Vec<CodedText>,
    /// Code of the remedy. `None` if the remedy is the standard one, or if an earlier version stored the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy_code: Option<Box<CodedText>>,
}

/// Code of the standard sentence of a failure, in [`FailureReason::message_codes`].
pub const STANDARD: &str = "standard";
/// Text by which programs report a full disk: the C library's, in English.
const NO_SPACE: &str = "No space left on device";

impl FailureReason {
    /// Creates a failure with the standard texts of its kind, and adds `detail` to the message.
    #[must_use]
    pub fn new(code: FailureCode, detail: Option<FailureDetail>) -> Self {
        let reason = Self {
            code,
            message: code.message().to_owned(),
            remedy: code.remedy().to_owned(),
            retryable: code.retryable(),
            message_codes: Vec::new(),
            remedy_code: None,
        };
        match detail {
            Some(detail) => reason.with_detail(&detail),
            None => reason,
        }
    }

    /// Creates a failure whose message is only `detail`, without the standard sentence.
    #[must_use]
    pub fn only(code: FailureCode, detail: &FailureDetail) -> Self {
        Self { message: detail.to_string(), message_codes: vec![detail.coded()], ..Self::new(code, None) }
    }

    /// Creates the failure of a workshop that its machine could not start. `problem` is an English clause, and `error` the
    /// English message of the system or the engine.
    #[must_use]
    pub fn not_started(problem: &str, error: String) -> Self {
        let detail = FailureDetail::NotStarted { problem: problem.to_owned(), error };
        Self::only(FailureCode::Crashed, &detail).with_remedy(&FailureRemedy::TellAdministrator)
    }

    /// Adds a sentence to the message.
    #[must_use]
    pub fn with_detail(mut self, detail: &FailureDetail) -> Self {
        self.message = format!("{} {detail}", self.message);
        if self.message_codes.is_empty() {
            self.message_codes.push(CodedText { code: STANDARD.to_owned(), args: BTreeMap::new() });
        }
        self.message_codes.push(detail.coded());
        self
    }

    /// Replaces the standard remedy by a more specific one.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &FailureRemedy) -> Self {
        self.remedy = remedy.to_string();
        self.remedy_code = Some(Box::new(remedy.coded()));
        self
    }

    /// Adds the addresses on which the app listened instead of its port. The same launch would fail again: the remedy is to
    /// correct the template.
    #[must_use]
    pub fn with_listening(self, elsewhere: Option<&ListensElsewhere>) -> Self {
        let Some(elsewhere) = elsewhere else { return self };
        let reason = self.with_detail(&elsewhere.detail()).with_remedy(&FailureRemedy::ListenOnPort);
        Self { retryable: false, ..reason }
    }

    /// Returns the failure of a workshop with a volume. If a workshop without a volume would lose its files by this
    /// failure, the remedy says that the files are kept. If the log says that the volume is full, the remedy says how
    /// to free space.
    #[must_use]
    pub(crate) fn with_volume(self, log_tail: Option<&str>) -> Self {
        if !self.code.loses_files() {
            return self;
        }
        let is_full = self.code == FailureCode::Crashed && log_tail.is_some_and(|log| log.contains(NO_SPACE));
        self.with_remedy(if is_full { &FailureRemedy::FreeSpace } else { &FailureRemedy::KeptFiles })
    }

    /// Returns the failure without these secret values in its message. A standard message is unchanged.
    #[must_use]
    pub(crate) fn redacted(mut self, secrets: &SecretValues) -> Self {
        if self.message != self.code.message() {
            self.message = secrets.redact(&self.message);
        }
        for value in self.message_codes.iter_mut().flat_map(|text| text.args.values_mut()) {
            *value = secrets.redact(value);
        }
        self
    }

    /// Returns the keys of the message's sentences for translators, in order: `failure-<code>` for the standard
    /// sentence, `failure-detail-<code>` for a detail. A text of an earlier version, which has no code, is the detail
    /// `text`, with the English text as its argument `text`.
    #[must_use]
    pub fn message_keys(&self) -> Vec<TextKey> {
        let standard = || TextKey::plain("failure", self.code.as_str());
        let key = |text: &CodedText| match text.code.as_str() {
            STANDARD => standard(),
            _ => TextKey::of(FailureDetail::KEY_PREFIX, text),
        };
        if !self.message_codes.is_empty() {
            return self.message_codes.iter().map(key).collect();
        }
        let verbatim = |text: &str| FailureDetail::from(text).key();
        match self.message.strip_prefix(self.code.message()).map(str::trim_start) {
            Some("") => vec![standard()],
            Some(detail) => vec![standard(), verbatim(detail)],
            None => vec![verbatim(&self.message)],
        }
    }

    /// Returns the key of the remedy for a user who is not an admin: the standard remedy instead of one that only an
    /// admin can apply. See [`Self::remedy_key`].
    #[must_use]
    pub fn user_remedy_key(&self) -> TextKey {
        match &self.remedy_code {
            Some(remedy) if FailureRemedy::FOR_ADMINS.contains(&remedy.code.as_str()) => {
                TextKey::plain("failure-remedy", self.code.as_str())
            }
            _ => self.remedy_key(),
        }
    }

    /// Returns the key of the remedy for translators: `failure-remedy-<code>` for the standard remedy of a failure code,
    /// `failure-advice-<code>` for a special remedy. A special remedy of an earlier version, which has no code, is the
    /// advice `text`, with the English text as its argument `text`.
    #[must_use]
    pub fn remedy_key(&self) -> TextKey {
        match &self.remedy_code {
            Some(remedy) => TextKey::of(FailureRemedy::KEY_PREFIX, remedy),
            None if self.remedy == self.code.remedy() => TextKey::plain("failure-remedy", self.code.as_str()),
            None => FailureRemedy::Text { text: self.remedy.clone() }.key(),
        }
    }
}

coded_texts! {
    /// Sentence that explains a failure in more detail than the standard sentence of its code.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FailureDetail as "failure-detail" {
        /// English text of the cluster, or of an earlier version.
        Text { text } = "text", "{text}";
        /// The app of the local fleet ended.
        ExitStatus { status } = "exit-status", "It ended with status {status}.";
        /// A signal ended the app of the local fleet.
        Signal { signal } = "signal", "It was killed by signal {signal}.";
        KeeperKilled = "keeper-killed", "Its exit status is unknown, because its keeper process was killed.";
        /// The launcher did not start the app itself.
        LauncherRestarted = "launcher-restarted",
            "Its exit status is unknown, because the launcher was restarted.";
        PortsInUse = "ports-in-use", "All ports for workshops are in use.";
        PortsTaken { attempts } = "ports-taken",
            "Other programs of this machine took all {attempts} ports that the launcher tried.";
        /// The operating system did not start the program. `error` is its English message.
        ProgramNotStarted { program, error } = "program-not-started", "{program} cannot be started: {error}.";
        /// A step of the local start failed. `problem` and `error` are English.
        NotStarted { problem, error } = "not-started", "The workshop could not start: {problem} ({error}).";
        /// The app type is unknown. `app_type` is in quotation marks.
        AppTypeUnknown { app_type } = "app-type-unknown", "The app type {app_type} is unknown.";
        /// The local fleet needs a command.
        CommandMissing = "command-missing", "The template has no command.";
        /// The app on a cluster terminated repeatedly.
        AppExited { exit_code } = "app-exited", "The app terminated repeatedly with exit code {exit_code}.";
        SidecarExited { exit_code } = "sidecar-exited",
            "The sidecar terminated repeatedly with exit code {exit_code}.";
        /// The isolation init container terminated repeatedly.
        NetworkCheckExited { exit_code } = "network-check-exited",
            "The network check terminated repeatedly with exit code {exit_code}.";
        /// An init container of the template's pod template terminated repeatedly.
        InitContainerExited { name, exit_code } = "init-container-exited",
            "The init container {name} terminated repeatedly with exit code {exit_code}.";
        /// The sidecar of the container fleet ended.
        SidecarEnded { exit_code } = "sidecar-ended", "The sidecar ended with exit code {exit_code}.";
        /// The container fleet could not install the network rules. `error` is English.
        NetworkRulesNotSet { error } = "network-rules-not-set",
            "The workshop did not start, because its network rules could not be set: {error}";
        /// The container engine could not pull the image. `error` is its English message.
        ImageNotPulled { image, error } = "image-not-pulled", "The image {image} could not be downloaded: {error}";
        /// Another program removed a container of the workshop.
        ContainerRemoved = "container-removed", "Its container was removed from the server.";
        /// The template requests more than the whole server has. Memory is in MiB, CPU in thousandths.
        LargerThanServer { memory, cpu, server_memory, server_cpu } = "larger-than-server",
            "The template requests {memory} MiB of memory and {cpu}m CPU. This server has {server_memory} MiB and {server_cpu}m for workshops.";
        EngineDiskFull = "engine-disk-full", "The disk for workshops is full.";
        /// The container runtime gave no reason.
        CommandNotStarted = "command-not-started", "The command cannot be started.";
        AppDoesNotAnswer = "app-does-not-answer", "The app runs but does not answer on its port.";
        ListensElsewhere { addresses, expected } = "listens-elsewhere",
            "The app listens on {addresses}, expected {expected}.";
        /// The Secret with the proxy secret is missing. `warning` is the kubelet's English message.
        SecretMissing { secret, key, namespace, warning } = "secret-missing",
            "The pod waits for the Secret {secret} with the key {key} in the namespace {namespace}: {warning}";
        SpecName = "spec-name", "metadata.name is not a DNS label that begins with a letter.";
        /// The host of the workshop would not be valid.
        SpecNameLength { most } = "spec-name-length", "metadata.name has more than {most} characters.";
        SpecUid = "spec-uid", "metadata.uid is missing.";
        SpecNamespace = "spec-namespace", "metadata.namespace is missing.";
        SpecOwner = "spec-owner", "spec.owner is not an e-mail address.";
        SpecImage = "spec-image", "spec.image is not an image reference of 1 to 255 characters.";
        SpecAppType = "spec-app-type", "spec.appType is not rstudio, notebook or custom.";
        /// `spec.restore` lacks the directory or the token that a cluster needs.
        SpecRestore = "spec-restore", "spec.restore needs spec.crashSafeDirectory and spec.snapshot.";
        /// A step of the placement of saved files failed. `error` is English.
        RestoreFailed { error } = "restore-failed", "The cause: {error}.";
        SpecPort = "spec-port", "spec.port is not between 1 and 65535.";
        SpecPortReserved = "spec-port-reserved",
            "spec.port is a port of the sidecar: use a port other than 8080 and 8081.";
        SpecStartPath = "spec-start-path", "spec.startPath is not a path of the app, as in /vnc.html?autoconnect=1.";
        SpecSecurityProfile = "spec-security-profile", "spec.securityProfile is not restricted or baseline.";
        /// `spec.env` has an invalid name. `name` is in quotation marks.
        SpecVariable { name } = "spec-variable", "spec.env sets {name}: the name is reserved or invalid.";
        SpecLifetime = "spec-lifetime", "spec.lifetimeSeconds is 0: use at least 1.";
        SpecCrashSafeDirectory = "spec-crash-safe-directory",
            "spec.crashSafeDirectory needs the path of a directory such as /home/jovyan.";
        SpecSnapshot = "spec-snapshot",
            "spec.snapshot.directory needs the path of a directory such as /home/jovyan.";
        SpecStorage = "spec-storage",
            "spec.storage needs the name of a volume, a size such as 1Gi, and the path of a directory such as /home/jovyan.";
        SpecMaterial = "spec-material",
            "spec.material needs a directory such as /home/jovyan, which with storage is its path, and valid sources.";
        /// A field of `spec.resources` is unreadable. `error` is an English sentence without its full stop.
        SpecQuantity { field, error } = "spec-quantity", "spec.resources.{field}: {error}.";
        /// A field of `spec.podTemplate` is wrong or not allowed. `error` is an English sentence without its full stop.
        SpecPodTemplate { pointer, error } = "spec-pod-template", "spec.podTemplate, at {pointer}: {error}.";
        /// A request exceeds its limit. `resource` is `cpu` or `memory`.
        SpecRequest { resource } = "spec-request", "spec.resources.{resource}Request exceeds {resource}Limit.";
    }
}

coded_texts! {
    /// Advised action that replaces the standard remedy of a failure code.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FailureRemedy as "failure-advice" {
        /// English text of an earlier version.
        Text { text } = "text", "{text}";
        InstallJupyter = "install-jupyter",
            "Start the launcher with `make run`, which installs JupyterLab, or set SERVICE_LOCAL_JUPYTER to the path of its program jupyter-lab.";
        InstallRstudio = "install-rstudio",
            "Install RStudio Server on this machine, or set SERVICE_LOCAL_RSTUDIO to the path of its program rserver.";
        InstallProgram { program } = "install-program",
            "Install the program {program} on this machine, or correct the template's command.";
        /// The app type is unknown.
        ChooseAppType = "choose-app-type", "Choose rstudio, notebook or custom.";
        /// The local fleet needs a command.
        AddCommand = "add-command", "Add a command to the template: this fleet does not run images.";
        /// The machine could not start the app.
        TellAdministrator = "tell-administrator",
            "Launch it again; if it fails again, tell the administrator of this machine.";
        /// Other programs took the ports.
        CheckProgramUser = "check-program-user",
            "Launch it again; if it fails again, check that the workshop's program runs as the launcher's user.";
        /// The template requests more than the whole server has.
        RequestLess = "request-less", "Lower the memory or CPU request of the template.";
        CreateSecret = "create-secret", "Ask an administrator to create this Secret. Then launch it again.";
        ListenOnPort = "listen-on-port",
            "Tell your teacher or an administrator: the template must start the app on 127.0.0.1:$(PORT).";
        KeptFiles = "kept-files", "The saved files of this workshop are kept. Launch it again to continue with them.";
        FreeSpace = "free-space",
            "The saved files of this workshop are kept. The output of the workshop says that no space is left. If the saved files use all their space, download them on the page Saved work and delete them there. Then launch the workshop again. An administrator can also give you more space.";
    }
}

impl FailureRemedy {
    /// Codes of the remedies that only an admin or an administrator can apply.
    pub const FOR_ADMINS: [&'static str; 6] =
        ["install-jupyter", "install-rstudio", "install-program", "choose-app-type", "add-command", "request-less"];
}

impl From<&str> for FailureDetail {
    /// Wraps an English text that has no code, for example a message of the cluster.
    fn from(text: &str) -> Self {
        Self::Text { text: text.to_owned() }
    }
}

impl From<String> for FailureDetail {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}
