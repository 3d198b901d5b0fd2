### Failures of a workshop, by code. The attribute says what the reader can do, and if files are lost.

failure-image-pull-failed = The cluster could not download the workshop's image.
    .remedy = Tell your teacher or an administrator: the template names a wrong image, or the registry refuses access.
failure-crashed = The workshop's program stopped unexpectedly.
    .remedy = Files that were not saved elsewhere are lost. Launch it again, or show its output to your teacher.
failure-out-of-memory = The workshop exceeded its memory limit.
    .remedy = Files that were not saved elsewhere are lost. Launch it again and load less data, or ask for more memory.
failure-unschedulable = No node has room for this workshop right now.
    .remedy = Try again in a few minutes. If it fails again, ask an administrator for more room.
failure-start-timeout = The workshop did not become ready in time.
    .remedy = Launch it again. If it is slow again, tell your teacher or an administrator.
failure-quota-exceeded = The quota for workshops is used up.
    .remedy = Try again when other workshops have ended, or ask an administrator for a larger quota.
failure-evicted = The cluster stopped the workshop, because its node ran short of memory or disk.
    .remedy = Files that were not saved elsewhere are lost. Launch it again.
failure-node-lost = The cluster lost the node of this workshop.
    .remedy = Files that were not saved elsewhere are lost. Launch it again.
failure-invalid-spec = The workshop's template has settings that cannot run.
    .remedy = Tell your teacher or an administrator: they must correct the template.
failure-app-not-available = The workshop's program is not installed here.
    .remedy = Tell an administrator: they must install the program or correct the template.
failure-network-not-isolated = The workshop did not start, because the cluster did not isolate its network.
    .remedy = Launch it again. If it fails again, tell an administrator: the cluster must enforce its network policies.
