//! Builds the Service and the Ingress. Each workshop has a separate host, and therefore a separate origin in browsers.

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::api::networking::v1::{
    HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule, IngressServiceBackend, IngressSpec,
    IngressTLS, ServiceBackendPort,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use launcher_workshop::app::SIDECAR_PORT;

use super::digest::{metadata, selector};
use crate::settings::{Exposure, OperatorSettings};
use crate::validate::Validated;

const SERVICE_PORT: i32 = 80;

/// Builds the Service. It exposes only the sidecar's port of the pod, as port 80.
pub(super) fn service(workshop: &Validated, _: &OperatorSettings) -> Option<Service> {
    Some(Service {
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
    })
}

/// Builds the Ingress; `None` if the Workshop is not exposed through an Ingress.
pub(super) fn ingress(workshop: &Validated, settings: &OperatorSettings) -> Option<Ingress> {
    if settings.exposure() != Exposure::Ingress {
        return None;
    }
    let host = settings.host(&workshop.name);
    let annotations = settings.ingress_annotations.clone();
    let backend = IngressBackend {
        service: Some(IngressServiceBackend {
            name: workshop.name.clone(),
            port: Some(ServiceBackendPort { number: Some(SERVICE_PORT), name: None }),
        }),
        resource: None,
    };
    let everything = HTTPIngressPath { path: Some("/".to_owned()), path_type: "Prefix".to_owned(), backend };
    let tls = settings
        .ingress_tls_secret
        .as_ref()
        .map(|secret| vec![IngressTLS { hosts: Some(vec![host.clone()]), secret_name: Some(secret.clone()) }]);
    Some(Ingress {
        metadata: ObjectMeta { annotations: (!annotations.is_empty()).then_some(annotations), ..metadata(workshop) },
        spec: Some(IngressSpec {
            ingress_class_name: settings.ingress_class.clone(),
            rules: Some(vec![IngressRule {
                host: Some(host),
                http: Some(HTTPIngressRuleValue { paths: vec![everything] }),
            }]),
            tls,
            ..IngressSpec::default()
        }),
        status: None,
    })
}
