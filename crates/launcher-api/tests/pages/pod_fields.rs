//! The fields of the template editor for parts of the pod template.

use http::StatusCode;
use launcher_domain::{PodTemplateObject, PodTemplatePolicy, TemplatePolicy};
use launcher_testkit::Options;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::editor::hard;
use crate::support::{ADMIN, App, borrowed, with};

const NEW: &str = "/admin/templates";
const FIELDS: [(&str, &str); 5] = [
    ("shm_size", "1 GB"),
    ("gpu_count", "2"),
    ("ephemeral_storage", "10Gi"),
    ("image_pull_secret", "course-registry"),
    ("node_selector", "accelerator=nvidia-l4\nzone=a"),
];

/// The pod template that [`FIELDS`] add to an empty one.
fn added() -> Value {
    json!({ "spec": {
        "volumes": [{ "name": "shm", "emptyDir": { "medium": "Memory", "sizeLimit": "1G" } }],
        "containers": [{
            "name": "app",
            "volumeMounts": [{ "name": "shm", "mountPath": "/dev/shm" }],
            "resources": { "limits": { "nvidia.com/gpu": 2, "ephemeral-storage": "10Gi" } },
        }],
        "imagePullSecrets": [{ "name": "course-registry" }],
        "nodeSelector": { "accelerator": "nvidia-l4", "zone": "a" },
    } })
}

fn fields<'f>(form: &'f [(String, String)], changes: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let is_changed = |name: &str| changes.iter().any(|(changed, _)| *changed == name);
    let kept = borrowed(form).into_iter().filter(|(name, _)| !is_changed(name));
    kept.chain(changes.iter().copied()).collect()
}

fn value<'f>(form: &'f [(String, String)], name: &str) -> &'f str {
    form.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str()).unwrap()
}

async fn pod_template(app: &App, id: &str) -> Option<PodTemplateObject> {
    let id = Uuid::try_parse(id).unwrap();
    app.test.launcher.template(&app.admin(), id).await.unwrap().settings.pod_template
}

/// Returns the error beside a field; empty if there is none.
fn error<'p>(page: &'p str, field: &str) -> &'p str {
    let after = page.split_once(&format!("id=\"field-{field}-error\">"));
    after.and_then(|(_, rest)| rest.split('<').next()).unwrap_or_default()
}

#[tokio::test]
async fn fields_are_added_to_pod_template_and_shown_again() {
    let app = App::start().await;
    let (admin, id) = (app.browser(ADMIN), app.template("Penguins", |_| {}).await);
    let save = format!("{NEW}/{id}");
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    assert!(admin.post(&save, &fields(&form, &FIELDS)).await.is_saved());
    assert_eq!(pod_template(&app, &id).await, added().as_object().cloned());

    let page = admin.get(&format!("{save}/edit")).await;
    let form = page.form(&save);
    assert_eq!((value(&form, "shm_size"), value(&form, "ephemeral_storage")), ("1G", "10Gi"));
    assert_eq!((value(&form, "gpu_count"), value(&form, "image_pull_secret")), ("2", "course-registry"));
    assert_eq!((value(&form, "node_selector"), value(&form, "pod_template")), ("accelerator=nvidia-l4\nzone=a", ""));
    assert!(page.body.contains("aria-describedby=\"field-shm_size-hint\""), "{}", page.body);

    let tolerated = with(&form, "pod_template", "spec: {volumes: [{name: work, emptyDir: {}}]}");
    assert!(admin.post(&save, &tolerated).await.is_saved());
    let mut wanted = added();
    wanted["spec"]["volumes"].as_array_mut().unwrap().insert(0, json!({ "name": "work", "emptyDir": {} }));
    assert_eq!(pod_template(&app, &id).await, wanted.as_object().cloned());

    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    let emptied = FIELDS.map(|(name, _)| (name, if name == "gpu_count" { "0" } else { "" }));
    assert!(admin.post(&save, &fields(&form, &emptied)).await.is_saved());
    let rest = json!({ "spec": { "volumes": [{ "name": "work", "emptyDir": {} }] } });
    assert_eq!(pod_template(&app, &id).await, rest.as_object().cloned());
    app.finish().await;
}

#[tokio::test]
async fn unchanged_form_keeps_other_notations() {
    let app = App::start().await;
    let stored = json!({
        "metadata": {},
        "spec": {
            "volumes": [
                { "name": "dshm", "emptyDir": { "medium": "Memory", "sizeLimit": 1_073_741_824 } },
                { "name": "data", "persistentVolumeClaim": { "claimName": "course" } },
            ],
            "containers": [{
                "name": "app",
                "volumeMounts": [
                    { "name": "dshm", "mountPath": "/dev/shm" },
                    { "name": "data", "mountPath": "/data" },
                ],
                "resources": { "limits": { "nvidia.com/gpu": "1" }, "requests": { "ephemeral-storage": 1 } },
            }],
        },
    });
    let id = app.template("Penguins", |template| template["pod_template"] = stored.clone()).await;
    let (admin, save) = (app.browser(ADMIN), format!("{NEW}/{id}"));
    let form = admin.get(&format!("{save}/edit")).await.form(&save);
    assert_eq!((value(&form, "shm_size"), value(&form, "gpu_count")), ("1073741824", "1"));
    assert!(admin.post(&save, &with(&form, "name", "Gulls")).await.is_saved());
    assert_eq!(pod_template(&app, &id).await, stored.as_object().cloned());
    app.finish().await;
}

/// Generates valid pod templates with settings that fields can show, and with settings that they cannot show.
fn arbitrary_pod_template() -> impl Strategy<Value = Value> {
    let one_of = |values: Value| prop::option::of(prop::sample::select(values.as_array().unwrap().clone()));
    let size = move || one_of(json!(["1Gi", "1G", 2_000_000, "1Pi", "1GiB", "100m", 5]));
    let volumes = prop::sample::select(vec!["shm", "dshm"]).prop_flat_map(move |shm| {
        let of_shm = move |size: Option<Value>| match size {
            Some(size) => json!({ "name": shm, "emptyDir": { "medium": "Memory", "sizeLimit": size } }),
            None => json!({ "name": shm, "emptyDir": { "medium": "Memory" } }),
        };
        let data = json!({ "name": "data", "persistentVolumeClaim": { "claimName": "course" } });
        let volumes = size().prop_flat_map(move |size| Just(vec![of_shm(size), data.clone()]).prop_shuffle());
        let mounts = json!([
            { "name": shm, "mountPath": "/dev/shm" },
            { "name": shm, "mountPath": "/scratch" },
            { "name": "data", "mountPath": "/data", "readOnly": true },
        ]);
        (volumes, prop::sample::subsequence(mounts.as_array().unwrap().clone(), 0..=3).prop_shuffle())
    });
    let gpus = one_of(json!([1, "1", 64, 65, "1k", 1.5]));
    let secrets = one_of(json!([[], [{ "name": "a" }], [{ "name": "A b" }], [{ "name": "a" }, { "name": "b" }]]));
    let labels = prop::option::of(prop::collection::btree_map(hard(), hard(), 0..3));
    let requests = one_of(json!([{}, { "nvidia.com/gpu": 1 }, { "ephemeral-storage": 1 }]));
    (volumes, gpus, size(), requests, secrets, labels).prop_map(
        |((volumes, mounts), gpus, storage, requests, secrets, labels)| {
            let object = |fields: Vec<(&str, Option<Value>)>| -> Map<String, Value> {
                fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
            };
            let storage = storage.filter(|size| size != "1GiB");
            let limits = object(vec![("nvidia.com/gpu", gpus), ("ephemeral-storage", storage)]);
            let resources = object(vec![("limits", Some(limits.into())), ("requests", requests)]);
            let app = json!({ "name": "app", "volumeMounts": mounts, "resources": resources });
            let labels = labels.map(|labels| labels.into_iter().collect::<Value>());
            let spec = vec![
                ("volumes", Some(volumes.into())),
                ("containers", Some(json!([app]))),
                ("imagePullSecrets", secrets),
                ("nodeSelector", labels),
            ];
            json!({ "spec": object(spec) })
        },
    )
}

#[test]
fn unchanged_form_of_arbitrary_pod_template_keeps_it_identical() {
    let runtime = Runtime::new().unwrap();
    let app = runtime.block_on(App::start());
    proptest!(ProptestConfig::with_cases(64), |(stored in arbitrary_pod_template())| {
        runtime.block_on(async {
            let id = app.template("Penguins", |template| template["pod_template"] = stored.clone()).await;
            let save = format!("{NEW}/{id}");
            let form = app.browser(ADMIN).get(&format!("{save}/edit")).await.form(&save);
            let answer = app.browser(ADMIN).post(&save, &with(&form, "name", "Gulls")).await;
            assert!(answer.is_saved(), "{}", answer.body);
            assert_eq!(pod_template(&app, &id).await, stored.as_object().cloned());
        });
    });
    runtime.block_on(app.finish());
}

#[tokio::test]
async fn conflict_with_yaml_is_shown_at_field_and_keeps_input() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    let yaml = added().to_string();
    let typed = fields(&form, &[&FIELDS[..], &[("pod_template", &*yaml)]].concat());
    let page = admin.post(NEW, &typed).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    for (field, name) in [
        ("shm_size", "/dev/shm"),
        ("gpu_count", "nvidia.com/gpu"),
        ("ephemeral_storage", "ephemeral-storage"),
        ("image_pull_secret", "imagePullSecrets"),
        ("node_selector", "nodeSelector"),
    ] {
        let wanted = format!("The field Pod template also has {name}. Remove it there, or clear this field.");
        assert_eq!(error(&page.body, field), wanted);
    }
    assert_eq!(error(&page.body, "pod_template"), "");
    assert!(page.body.contains("id=\"more\" open"), "{}", page.body);
    let kept = page.form(NEW);
    for (name, text) in typed {
        assert!(name == "shows_errors" || value(&kept, name) == text, "{name} is kept: {kept:?}");
    }
    app.finish().await;
}

#[tokio::test]
async fn invalid_values_of_pod_fields_are_explained() {
    let app = App::start().await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    for (field, typed, explained) in [
        ("shm_size", "1", "Write a size with its unit, such as 512 MB, 10 GB or 2 GiB."),
        ("ephemeral_storage", "much", "Write a size with its unit, such as 512 MB, 10 GB or 2 GiB."),
        ("gpu_count", "65", "Enter a whole number from 0 to 64."),
        ("image_pull_secret", "a, b", "Write the name of one Secret: "),
        ("node_selector", "\ngpu", "Line 2 is not a label. Write key=value."),
        ("node_selector", "a=b\na=c", "Line 2 repeats the key a. Write each key once."),
    ] {
        let page = admin.post(NEW, &with(&form, field, typed)).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert!(error(&page.body, field).starts_with(explained), "{field}: {}", page.body);
        assert_eq!(value(&page.form(NEW), field), typed);
    }
    for yaml in ["spec: []", "spec: {containers: {}}", "spec: {containers: [app]}", "spec: {volumes: 1}", "spec: ["] {
        let typed = fields(&form, &[&FIELDS[..], &[("pod_template", yaml)]].concat());
        let page = admin.post(NEW, &typed).await;
        assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY, "{yaml}");
        assert_ne!(error(&page.body, "pod_template"), "", "{yaml}");
    }
    app.finish().await;
}

#[tokio::test]
async fn refusal_of_policy_is_shown_at_field() {
    let pod_templates = PodTemplatePolicy::parse("configMap/*").unwrap();
    let policy = TemplatePolicy { pod_templates, ..TemplatePolicy::default() };
    let app = App::with(Options { policy, ..Options::default() }).await;
    let admin = app.browser(ADMIN);
    let form = admin.get("/admin/templates/new?preset=jupyterlab").await.form(NEW);
    let yaml = "spec: {tolerations: [{key: gpu, operator: Exists}]}";
    let page = admin.post(NEW, &fields(&form, &[&FIELDS[..], &[("pod_template", yaml)]].concat())).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    let gpu = error(&page.body, "gpu_count");
    assert!(gpu.starts_with("Needs the entry resource/nvidia.com/gpu in SERVICE_POD_TEMPLATE_ALLOW"), "{gpu}");
    let secret = error(&page.body, "image_pull_secret");
    assert!(secret.starts_with("Needs the entry imagePullSecret/course-registry in"), "{secret}");
    let yaml = error(&page.body, "pod_template");
    assert!(yaml.starts_with("/spec/tolerations/0: needs the entry toleration/gpu in"), "{yaml}");
    assert!(!yaml.contains("resource/"), "{yaml}");
    assert_eq!(error(&page.body, "shm_size"), "");
    app.finish().await;
}
