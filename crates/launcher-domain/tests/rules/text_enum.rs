//! Texts of enums. They are stored in rows and sent to clients, so they must not change. The document of the API, which
//! a test of the API compares, lists the failure codes and the actions of the activity log.

use launcher_domain::{
    AppType, AtExpiry, Color, EndReason, FailureCode, Icon, InstanceState, MaterialKind, MaterialOutcome,
    ParameterKind, PodTemplateKind, SecurityProfile, StartStep, StorageKind,
};

/// Asserts that the variants of the enum have these texts, in this order, and that `parse` accepts no other text.
macro_rules! assert_texts {
    ($name:ident, $texts:expr) => {
        assert_eq!($name::ALL.map($name::as_str), $texts);
        for variant in $name::ALL {
            assert_eq!($name::parse(variant.as_str()), Some(variant));
        }
        for text in
            ["", " ", "unknown", &$name::ALL[0].as_str().to_uppercase(), &format!("{} ", $name::ALL[0].as_str())]
        {
            assert_eq!($name::parse(text), None, "{text:?}");
        }
    };
}

#[test]
fn instance_states_and_end_reasons_have_stable_texts() {
    assert_texts!(
        InstanceState,
        ["queued", "starting", "running", "suspending", "suspended", "terminating", "terminated", "failed"]
    );
    assert_texts!(EndReason, ["owner", "admin", "teacher", "expired", "failed", "lost"]);
    assert_texts!(
        StartStep,
        [
            "waiting-for-quota",
            "waiting-for-room",
            "preparing",
            "pulling-image",
            "loading-material",
            "starting-app",
            "restarting-app"
        ]
    );
}

#[test]
fn kinds_of_the_pod_template_policy_have_stable_texts() {
    assert_texts!(
        PodTemplateKind,
        [
            "annotation",
            "configMap",
            "csi",
            "imagePullSecret",
            "label",
            "persistentVolumeClaim",
            "priorityClass",
            "resource",
            "runtimeClass",
            "secret",
            "serviceAccount",
            "toleration",
        ]
    );
}

#[test]
fn app_types_and_security_profiles_have_stable_texts() {
    assert_texts!(AppType, ["rstudio", "notebook", "custom"]);
    assert_texts!(SecurityProfile, ["restricted", "baseline"]);
    assert_texts!(StorageKind, ["workshop", "kept", "home"]);
    assert_texts!(AtExpiry, ["end", "suspend"]);
    assert_texts!(MaterialKind, ["git", "archive"]);
    assert_texts!(MaterialOutcome, ["placed", "updated", "unchanged", "failed"]);
    assert_texts!(ParameterKind, ["text", "choice", "number", "secret"]);
    assert_texts!(
        Icon,
        ["notebook", "statistics", "code", "terminal", "web", "database", "chart", "globe", "book", "flask"]
    );
    assert_texts!(
        Color,
        ["rose", "red", "orange", "yellow", "lime", "green", "teal", "cyan", "blue", "indigo", "purple", "pink"]
    );
}

#[test]
fn json_of_an_enum_is_its_text() {
    for kind in AppType::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for profile in SecurityProfile::ALL {
        assert_eq!(serde_json::to_value(profile).unwrap(), profile.as_str());
    }
    for kind in StorageKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for kind in MaterialKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for outcome in MaterialOutcome::ALL {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
    }
    for kind in ParameterKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for icon in Icon::ALL {
        assert_eq!(serde_json::to_value(icon).unwrap(), icon.as_str());
    }
    for code in FailureCode::ALL {
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        assert_eq!(FailureCode::parse(code.as_str()), Some(code));
    }
}
