//! Reports which processes of a workshop end at its memory limit.

use launcher_fleet::doctor::{KubernetesExamination, MemoryKill};

use super::report::Finding;
use super::section::QUERY_TIMEOUT;

/// Checks the kubelets. A workshop works with each setting, so the check never fails.
pub(super) async fn check(examination: &KubernetesExamination) -> Finding {
    const CHECK: &str = "out of memory";
    const REMEDY: &str = "singleProcessOOMKill: true in the configuration of the kubelet ends only one process, such as \
        the kernel of one notebook: see docs/kept-work.md";
    let found = tokio::time::timeout(QUERY_TIMEOUT, examination.memory_kill()).await;
    match found.unwrap_or(MemoryKill::Unknown) {
        MemoryKill::Process => Finding::ok(CHECK, "only one process of a workshop ends at its memory limit"),
        MemoryKill::Container(node) => Finding::warn(
            CHECK,
            format!("with cgroup v2, all processes of a workshop on {node} end at its memory limit. {REMEDY}"),
        ),
        MemoryKill::Unknown => Finding::ok(
            CHECK,
            "the launcher may not read the kubelets' singleProcessOOMKill; to see it: kubectl get --raw \
             /api/v1/nodes/NODE/proxy/configz",
        ),
    }
}
