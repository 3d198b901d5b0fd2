//! Reads from the kubelets which processes of a container end at its memory limit.

use http::Request;
use k8s_openapi::api::core::v1::Node;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use serde::Deserialize;

use super::examination::KubernetesExamination;

/// Maximum number of nodes whose kubelets are asked.
const NODES: u32 = 5;

/// Processes that the Linux kernel ends if a container exceeds its memory limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryKill {
    /// All processes of the container, on this node, if it has cgroup v2.
    Container(String),
    /// Only the process that uses most memory, on all nodes that were asked.
    Process,
    /// The launcher may not read the configuration of the kubelets, or they do not answer.
    Unknown,
}

/// Answer of a kubelet about its configuration.
#[derive(Deserialize)]
struct Configuration {
    kubeletconfig: KubeletConfiguration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KubeletConfiguration {
    /// Without a value, the kubelet ends all processes with cgroup v2, and one process with cgroup v1.
    #[serde(rename = "singleProcessOOMKill")]
    single_process_oom_kill: Option<bool>,
}

impl KubernetesExamination {
    /// Asks the kubelets of some nodes. This needs the permissions to list nodes and to get `nodes/proxy`, which the
    /// launcher itself does not have.
    pub async fn memory_kill(&self) -> MemoryKill {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let Ok(nodes) = nodes.list(&ListParams::default().limit(NODES)).await else { return MemoryKill::Unknown };
        let mut found = MemoryKill::Unknown;
        for node in nodes {
            let name = node.name_any();
            let path = format!("/api/v1/nodes/{name}/proxy/configz");
            let Ok(request) = Request::get(path).body(Vec::new()) else { return MemoryKill::Unknown };
            match self.client.request::<Configuration>(request).await {
                Ok(answer) if answer.kubeletconfig.single_process_oom_kill == Some(true) => found = MemoryKill::Process,
                Ok(_) => return MemoryKill::Container(name),
                Err(_) => return MemoryKill::Unknown,
            }
        }
        found
    }
}
