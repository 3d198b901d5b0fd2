//! Builds the Service. It exposes only the sidecar's port of the pod, as port 80.

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use launcher_workshop::app::SIDECAR_PORT;

use super::metadata::{metadata, selector};
use crate::validate::Validated;

/// The port of every workshop's Service.
pub(super) const SERVICE_PORT: i32 = 80;

pub(super) fn service(workshop: &Validated) -> Service {
    Service {
        metadata: metadata(workshop),
        spec: Some(ServiceSpec {
            type_: Some("ClusterIP".to_owned()),
            selector: Some(selector(workshop)),
            ports: Some(vec![ServicePort {
                name: Some("http".to_owned()),
                port: SERVICE_PORT,
                protocol: Some("TCP".to_owned()),
                target_port: Some(IntOrString::Int(SIDECAR_PORT.into())),
                ..ServicePort::default()
            }]),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}
