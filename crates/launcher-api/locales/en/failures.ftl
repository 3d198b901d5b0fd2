### Failures of a workshop, by code. The remedy says what the reader can do, and if files are lost.

failure-image-pull-failed = The cluster could not download the workshop's image.
failure-remedy-image-pull-failed = Tell your teacher or an administrator: the template names a wrong image, or the registry refuses access.
failure-crashed = The workshop's program stopped unexpectedly.
failure-remedy-crashed = Files that were not saved elsewhere are lost. Launch it again, or show its output to your teacher.
failure-out-of-memory = The workshop exceeded its memory limit.
failure-remedy-out-of-memory = Files that were not saved elsewhere are lost. Launch it again and load less data, or ask for more memory.
failure-unschedulable = No node has room for this workshop right now.
failure-remedy-unschedulable = Try again in a few minutes. If it fails again, ask an administrator for more room.
failure-start-timeout = The workshop did not become ready in time.
failure-remedy-start-timeout = Launch it again. If it is slow again, tell your teacher or an administrator.
failure-quota-exceeded = The quota for workshops is used up.
failure-remedy-quota-exceeded = Try again when other workshops have ended, or ask an administrator for a larger quota.
failure-evicted = The cluster stopped the workshop, because its node ran short of memory or disk.
failure-remedy-evicted = Files that were not saved elsewhere are lost. Launch it again.
failure-node-lost = The cluster lost the node of this workshop.
failure-remedy-node-lost = Files that were not saved elsewhere are lost. Launch it again.
failure-invalid-spec = The workshop's template has settings that cannot run.
failure-remedy-invalid-spec = Tell your teacher or an administrator: they must correct the template.
failure-app-not-available = The workshop's program is not installed here.
failure-remedy-app-not-available = Tell an administrator: they must install the program or correct the template.
failure-network-not-isolated = The workshop did not start, because the cluster did not isolate its network.
failure-remedy-network-not-isolated = Launch it again. If it fails again, tell an administrator: the cluster must enforce its network policies.

# Sentences that explain a failure in more detail.
failure-detail-text = { $text }
failure-detail-exit-status = It ended with status { $status }.
failure-detail-signal = It was killed by signal { $signal }.
failure-detail-keeper-killed = Its exit status is unknown, because its keeper process was killed.
failure-detail-launcher-restarted = Its exit status is unknown, because the launcher was restarted.
failure-detail-start-limit = The limit is { $seconds } seconds.
failure-detail-ports-in-use = All ports for workshops are in use.
failure-detail-ports-taken = Other programs of this machine took all { $attempts } ports that the launcher tried.
failure-detail-program-not-started = { $program } cannot be started: { $error }.
failure-detail-not-started = The workshop could not start: { $problem } ({ $error }).
failure-detail-app-type-unknown = The app type { $app_type } is unknown.
failure-detail-command-missing = The template has no command.
failure-detail-app-exited = The app terminated repeatedly with exit code { $exit_code }.
failure-detail-sidecar-exited = The sidecar terminated repeatedly with exit code { $exit_code }.
failure-detail-network-check-exited = The network check terminated repeatedly with exit code { $exit_code }.
failure-detail-command-not-started = The command cannot be started.
failure-detail-app-does-not-answer = The app runs but does not answer on its port.
failure-detail-secret-missing = The pod waits for the Secret { $secret } with the key { $key } in the namespace { $namespace }: { $warning }
failure-detail-spec-name = metadata.name is not a DNS label that begins with a letter.
failure-detail-spec-uid = metadata.uid is missing.
failure-detail-spec-namespace = metadata.namespace is missing.
failure-detail-spec-owner = spec.owner is not an e-mail address.
failure-detail-spec-image = spec.image is not an image reference of 1 to 255 characters.
failure-detail-spec-app-type = spec.appType is not rstudio, notebook or custom.
failure-detail-spec-port = spec.port is not between 1 and 65535.
failure-detail-spec-port-reserved = spec.port is a port of the sidecar: use a port other than 8080 and 8081.
failure-detail-spec-security-profile = spec.securityProfile is not restricted or baseline.
failure-detail-spec-variable = spec.env sets { $name }: the name is reserved or invalid.
failure-detail-spec-lifetime = spec.lifetimeSeconds is 0: use at least 1.
failure-detail-spec-quantity = spec.resources.{ $field }: { $error }.
failure-detail-spec-request = spec.resources.{ $resource }Request exceeds { $resource }Limit.

# Remedies that replace the one of the code.
failure-advice-text = { $text }
failure-advice-install-jupyter = Start the launcher with `make run`, which installs JupyterLab, or set SERVICE_LOCAL_JUPYTER to the path of its program jupyter-lab.
failure-advice-install-rstudio = Install RStudio Server on this machine, or set SERVICE_LOCAL_RSTUDIO to the path of its program rserver.
failure-advice-install-program = Install the program { $program } on this machine, or correct the template's command.
failure-advice-choose-app-type = Choose rstudio, notebook or custom.
failure-advice-add-command = Add a command to the template: this fleet does not run images.
failure-advice-tell-administrator = Launch it again; if it fails again, tell the administrator of this machine.
failure-advice-check-program-user = Launch it again; if it fails again, check that the workshop's program runs as the launcher's user.
failure-advice-create-secret = Ask an administrator to create this Secret. Then launch it again.
