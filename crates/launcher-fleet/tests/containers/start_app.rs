//! Start of an app in the network namespace of its sidecar.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use bollard::models::{ContainerCreateBody, HostConfig};
use launcher_fleet::engine::{Engine, EngineKind, Part};

use super::support::faulty_engine::FaultyEngine;
use super::support::{TestFleet, socket};

/// A sidecar that runs, and its app that was not started.
struct Pair {
    kind: EngineKind,
    app: String,
    sidecar: String,
}

impl Pair {
    async fn new(fleet: &TestFleet) -> Self {
        let (app, sidecar) = (fleet.name("app"), fleet.name("sidecar"));
        let labels = Some(fleet.labels("lab", "uid-1", Part::Sidecar));
        let body = fleet.body(&["/bin/sleep", "1000"]);
        fleet.engine.create(&sidecar, ContainerCreateBody { labels, ..body.clone() }).await.unwrap();
        fleet.engine.start(&sidecar).await.unwrap();
        let network_mode = Some(format!("container:{sidecar}"));
        let host_config = Some(HostConfig { network_mode, ..body.host_config.clone().unwrap() });
        fleet.engine.create(&app, ContainerCreateBody { host_config, ..body }).await.unwrap();
        let kind = fleet.engine.info().await.unwrap().kind;
        Self { kind, app, sidecar }
    }
}

/// Kills a container, and returns when it has ended.
fn kill(container: &str) {
    let mut stream = UnixStream::connect(socket()).unwrap();
    let request = format!("POST /containers/{container}/kill HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
async fn app_whose_sidecar_has_ended_does_not_start() {
    let fleet = TestFleet::new().await;
    let Pair { kind, app, sidecar } = Pair::new(&fleet).await;
    kill(&sidecar);

    let refused = fleet.engine.start_app(kind, &app, &sidecar, &[]).await;

    assert!(refused.is_err(), "{refused:?}");
    assert!(!fleet.state(&app).await.running && !fleet.state(&sidecar).await.running);
    fleet.engine.start(&sidecar).await.unwrap();
    fleet.engine.start_app(kind, &app, &sidecar, &[]).await.unwrap();
    fleet.engine.start_app(kind, &app, &sidecar, &[]).await.unwrap();
    assert!(fleet.state(&app).await.running);
}

/// Returns an engine on which the sidecar ends just before the engine gets this call.
fn killing_engine(sidecar: &str, call: &'static str) -> FaultyEngine {
    let sidecar = sidecar.to_owned();
    FaultyEngine::new(move |_, path| {
        if path.ends_with(call) {
            kill(&sidecar);
        }
        None
    })
}

#[tokio::test]
async fn app_whose_sidecar_ends_before_the_first_call_does_not_start() {
    let fleet = TestFleet::new().await;
    let Pair { kind, app, sidecar } = Pair::new(&fleet).await;
    let call = if kind == EngineKind::Podman { "/init" } else { "/start" };
    let killing = killing_engine(&sidecar, call);

    let refused = Engine::connect(&killing.socket()).unwrap().start_app(kind, &app, &sidecar, &[]).await;

    assert!(refused.is_err(), "{refused:?}");
    assert!(!fleet.state(&app).await.running);
    fleet.engine.start(&sidecar).await.unwrap();
    fleet.engine.start_app(kind, &app, &sidecar, &[]).await.unwrap();
    assert_eq!(network(&app), network(&sidecar));
}

/// Podman starts the sidecar again. This sidecar has a new network namespace, which has no rules yet.
#[tokio::test]
async fn app_whose_sidecar_ends_before_the_start_never_runs_in_a_new_network_namespace() {
    let fleet = TestFleet::new().await;
    let Pair { kind, app, sidecar } = Pair::new(&fleet).await;
    let killing = killing_engine(&sidecar, "/start");
    let before = network(&sidecar);

    let started = Engine::connect(&killing.socket()).unwrap().start_app(kind, &app, &sidecar, &[]).await;

    match fleet.state(&app).await.running {
        true => assert_eq!(network(&app), before),
        false => assert!(started.is_err()),
    }
}

/// Returns the network namespace of a container's main process.
fn network(container: &str) -> std::path::PathBuf {
    let mut stream = UnixStream::connect(socket()).unwrap();
    let request = format!("GET /containers/{container}/json HTTP/1.0\r\nHost: engine\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body: serde_json::Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    std::fs::read_link(format!("/proc/{}/ns/net", body["State"]["Pid"])).unwrap()
}
