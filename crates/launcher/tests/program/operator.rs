use crate::{launcher, text};

const REQUIRED: [(&str, &str); 2] =
    [("SERVICE_WORKSHOP_DOMAIN", "workshops.example.org"), ("SERVICE_SIDECAR_IMAGE", "sidecar:1")];

/// Invalid values of all settings that can be invalid: setting, value, and required text of the one-line error.
const WRONG: &[(&str, &str, &str)] = &[
    ("SERVICE_WORKSHOP_DOMAIN", "", "--workshop-domain"),
    ("SERVICE_WORKSHOP_DOMAIN", "*.example.org", "write a domain"),
    ("SERVICE_WORKSHOP_NAME_SUFFIX", "ws", "write a dash and"),
    ("SERVICE_WORKSHOP_NAME_SUFFIX", "-", "write a dash and"),
    ("SERVICE_WORKSHOP_NAME_SUFFIX", "-ws-", "write a dash and"),
    ("SERVICE_WORKSHOP_NAME_SUFFIX", "-WS", "write a dash and"),
    ("SERVICE_WORKSHOP_NAME_SUFFIX", "-w.s", "write a dash and"),
    ("SERVICE_WORKSHOP_NAME_SUFFIX", "-a23456789012345678901234567890123", "write a dash and"),
    ("SERVICE_CLASS_NAMESPACES", "class-a,", "write names of namespaces"),
    ("SERVICE_SIDECAR_IMAGE", "", "--sidecar-image"),
    ("SERVICE_PUBLIC_URL", "launcher.example.org", "--public-url"),
    ("SERVICE_PUBLIC_URL", "https://läuncher.example.org", "--public-url"),
    ("SERVICE_INGRESS_ANNOTATIONS", "a=b", "write a JSON object of strings"),
    ("SERVICE_INGRESS_GATED_ELSEWHERE", "yes", "write true or false"),
    ("SERVICE_WORKSHOPS_ROUTED_ELSEWHERE", "yes", "write true or false"),
    ("SERVICE_REQUIRE_AUTHENTICATION", "flase", "write true or false"),
    ("SERVICE_NODE_SELECTOR", "pool=workshops", "write a JSON object of strings"),
    ("SERVICE_TOLERATIONS", "{}", "write a JSON list of tolerations"),
    (
        "SERVICE_TOLERATIONS",
        r#"[{"kye": "pool", "operator": "Exists"}]"#,
        "it has a field that a toleration does not have",
    ),
    ("SERVICE_POD_TEMPLATE_ALLOW", "secret", "is not kind/name"),
    ("SERVICE_RUN_AS_USER", "0", "write a user ID from 1"),
    ("SERVICE_RUN_AS_USER", "namespace", "or assigned"),
    ("SERVICE_MATERIAL_PROXY", "proxy.example.org:3128", "write a URL without a path and a password"),
    ("SERVICE_MATERIAL_PROXY", "http://me:swordfish@proxy", "write a URL without a path and a password"),
    ("SERVICE_MATERIAL_PROXY", "http://proxy/path", "write a URL without a path and a password"),
    ("SERVICE_MATERIAL_PROXY", "http://proxy:99999", "write a URL without a path and a password"),
    ("SERVICE_MATERIAL_PROXY", "http://proxy:3128:1", "write a URL without a path and a password"),
    ("SERVICE_STORAGE_CLASS", "Fast", "write the name of a StorageClass"),
    ("SERVICE_STORAGE_CLASS", "fast..ssd", "write the name of a StorageClass"),
    ("SERVICE_LEASE_SECONDS", "1", "1 is not in 4.."),
    ("SERVICE_TELEMETRY_ADDR", "9091", "invalid socket address"),
    ("KUBECONFIG", "/nowhere/kubeconfig", "set KUBECONFIG"),
];

#[test]
fn invalid_setting_stops_start_with_one_line_error() {
    for (name, value, words) in WRONG {
        let output = launcher(&["operator"], &[REQUIRED.as_slice(), &[(name, value)]].concat());
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}={value}: {complaint}");
        assert_eq!(complaint.trim_end().lines().count(), 1, "{name}={value}: {complaint}");
        assert!(!complaint.contains("swordfish"), "a password is in the error: {complaint}");
        assert!(complaint.starts_with("launcher: ") && complaint.contains(words), "{name}={value}: {complaint}");
    }
}
