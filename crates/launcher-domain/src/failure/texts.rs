//! Details and special remedies of failures, as texts with codes.

use crate::coded_text::coded_texts;

coded_texts! {
    /// Sentence that explains a failure in more detail than the standard sentence of its code.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FailureDetail {
        /// English text of the cluster, or of an earlier version.
        Text { text } = "text", "{text}";
        /// The app of the local fleet ended.
        ExitStatus { status } = "exit-status", "It ended with status {status}.";
        /// A signal ended the app of the local fleet.
        Signal { signal } = "signal", "It was killed by signal {signal}.";
        /// The keeper of the app ended without a report.
        KeeperKilled = "keeper-killed", "Its exit status is unknown, because its keeper process was killed.";
        /// The launcher did not start the app itself.
        LauncherRestarted = "launcher-restarted",
            "Its exit status is unknown, because the launcher was restarted.";
        /// The start timeout of the local fleet passed.
        StartLimit { seconds } = "start-limit", "The limit is {seconds} seconds.";
        /// The launcher's port range is in use.
        PortsInUse = "ports-in-use", "All ports for workshops are in use.";
        /// Other programs listened on each port that the launcher tried.
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
        /// The sidecar terminated repeatedly.
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
        /// The disk of the container engine is full.
        EngineDiskFull = "engine-disk-full", "The disk for workshops is full.";
        /// The container runtime gave no reason.
        CommandNotStarted = "command-not-started", "The command cannot be started.";
        /// The app runs, but is not ready.
        AppDoesNotAnswer = "app-does-not-answer", "The app runs but does not answer on its port.";
        /// The Secret with the proxy secret is missing. `warning` is the kubelet's English message.
        SecretMissing { secret, key, namespace, warning } = "secret-missing",
            "The pod waits for the Secret {secret} with the key {key} in the namespace {namespace}: {warning}";
        /// `metadata.name` is invalid.
        SpecName = "spec-name", "metadata.name is not a DNS label that begins with a letter.";
        /// The host of the workshop would not be valid.
        SpecNameLength { most } = "spec-name-length", "metadata.name has more than {most} characters.";
        /// `metadata.uid` is missing.
        SpecUid = "spec-uid", "metadata.uid is missing.";
        /// `metadata.namespace` is missing.
        SpecNamespace = "spec-namespace", "metadata.namespace is missing.";
        /// `spec.owner` is invalid.
        SpecOwner = "spec-owner", "spec.owner is not an e-mail address.";
        /// `spec.image` is invalid.
        SpecImage = "spec-image", "spec.image is not an image reference of 1 to 255 characters.";
        /// `spec.appType` is unknown.
        SpecAppType = "spec-app-type", "spec.appType is not rstudio, notebook or custom.";
        /// `spec.port` is 0.
        SpecPort = "spec-port", "spec.port is not between 1 and 65535.";
        /// `spec.port` is a port of the sidecar.
        SpecPortReserved = "spec-port-reserved",
            "spec.port is a port of the sidecar: use a port other than 8080 and 8081.";
        /// `spec.securityProfile` is unknown.
        SpecSecurityProfile = "spec-security-profile", "spec.securityProfile is not restricted or baseline.";
        /// `spec.env` has an invalid name. `name` is in quotation marks.
        SpecVariable { name } = "spec-variable", "spec.env sets {name}: the name is reserved or invalid.";
        /// `spec.lifetimeSeconds` is 0.
        SpecLifetime = "spec-lifetime", "spec.lifetimeSeconds is 0: use at least 1.";
        /// The crash-safe directory is not usable.
        SpecCrashSafeDirectory = "spec-crash-safe-directory",
            "spec.crashSafeDirectory needs the path of a directory such as /home/jovyan.";
        /// The directory of the snapshot is not usable.
        SpecSnapshot = "spec-snapshot",
            "spec.snapshot.directory needs the path of a directory such as /home/jovyan.";
        /// The storage has an invalid volume, size or path.
        SpecStorage = "spec-storage",
            "spec.storage needs the name of a volume, a size such as 1Gi, and the path of a directory such as /home/jovyan.";
        /// The course material has an invalid directory or source.
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
    pub enum FailureRemedy {
        /// English text of an earlier version.
        Text { text } = "text", "{text}";
        /// JupyterLab is missing on this machine.
        InstallJupyter = "install-jupyter",
            "Start the launcher with `make run`, which installs JupyterLab, or set SERVICE_LOCAL_JUPYTER to the path of its program jupyter-lab.";
        /// RStudio Server is missing on this machine.
        InstallRstudio = "install-rstudio",
            "Install RStudio Server on this machine, or set SERVICE_LOCAL_RSTUDIO to the path of its program rserver.";
        /// Another program is missing on this machine.
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
        /// The Secret with the proxy secret is missing.
        CreateSecret = "create-secret", "Ask an administrator to create this Secret. Then launch it again.";
        /// The files of the workshop are on a volume.
        KeptFiles = "kept-files", "The saved files of this workshop are kept. Launch it again to continue with them.";
        /// The files of the workshop may fill their volume.
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
