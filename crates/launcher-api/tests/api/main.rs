//! The API from a client's view: real HTTP, with a real database.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails at once")]

mod access_matrix;
mod activity_list;
mod admission;
mod any_input;
mod bodies;
mod class_isolation;
mod classes_members;
mod compression;
mod conditional;
mod cross_site;
mod dev_bypass;
mod documents;
mod events_stream;
mod hands;
mod hosts;
mod identity;
mod instances_extend;
mod instances_list;
mod instances_read;
mod instances_restart;
mod instances_suspend;
mod instances_terminate;
mod me_read;
mod parameters;
mod problems;
mod protocol;
mod request_ids;
#[cfg(feature = "test-postgres")]
#[path = "../../../launcher-store/tests/conformance/server.rs"]
mod server;
mod snapshots;
mod templates_extend;
mod templates_image;
mod templates_launch;
mod templates_launch_files;
mod templates_list;
mod templates_material;
mod templates_patch;
mod templates_pod_template;
mod templates_write;
mod volumes;

use std::collections::BTreeSet;

use serde_json::Value;

/// Returns method and path of every route.
fn routes() -> Vec<(String, String)> {
    let document = launcher_api::openapi("/api/v1");
    let operations = |(path, item): (&String, &Value)| {
        let methods: Vec<String> = item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
        methods.into_iter().map(|method| (method, format!("/api/v1{path}"))).collect::<Vec<_>>()
    };
    let documented = document["paths"].as_object().unwrap().iter().flat_map(operations);
    let others = launcher_api::undocumented_routes("/api/v1").map(|(method, path)| (method.to_owned(), path));
    documented.chain(others).collect()
}

/// Asserts that an object of the API has exactly the fields that the schema with this name documents.
fn assert_documented(object: &Value, schema: &str) {
    let names = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(object), names(&launcher_api::openapi("/api/v1")["components"]["schemas"][schema]["properties"]));
}
