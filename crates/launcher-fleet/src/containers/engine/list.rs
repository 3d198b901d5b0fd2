//! The containers of a fleet: their list, and their events.

use std::collections::HashMap;
use std::time::Duration;

use bollard::models::EventMessage;
use bollard::query_parameters::EventsOptions;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde::Deserialize;
use tokio::time::Instant;

use super::container::BUSY_INTERVAL;
use super::volume::Volume;
use super::{Engine, EngineError, LONG};
use crate::containers::names::{FLEET_LABEL, PART_LABEL, Part, READER_LABEL, UID_LABEL, WORKSHOP_LABEL};

/// Maximum duration of a normal removal of a container by Podman. A longer removal was interrupted.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundContainer {
    pub name: String,
    pub workshop: String,
    pub uid: String,
    pub part: Part,
}

/// A volume with course material of this fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundVolume {
    pub(crate) name: String,
    pub(crate) uid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ListedVolumes {
    volumes: Option<Vec<Volume>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    names: Vec<String>,
    labels: HashMap<String, String>,
}

impl Engine {
    /// Gets a list of containers.
    ///
    /// Podman answers with an error while a container of the list is being removed. If a client of Podman is killed
    /// during the removal, the container stays in this state: without files, so that it can never run. This call then
    /// removes it.
    async fn get_list(&self, path: &str) -> Result<Vec<Listed>, EngineError> {
        let deadline = Instant::now() + LONG;
        let mut next_removal = Instant::now() + REMOVAL_PATIENCE;
        loop {
            let message = match self.get(path).await {
                Err(EngineError::Other(message) | EngineError::NotFound(message))
                    if message.contains("container not known") && Instant::now() < deadline =>
                {
                    message
                }
                result => return result,
            };
            if Instant::now() > next_removal
                && let Some(id) = quoted(&message)
            {
                tracing::warn!(container = id, "removing broken container, whose earlier removal was interrupted");
                self.remove(id).await?;
                next_removal = Instant::now() + REMOVAL_PATIENCE;
            }
            tokio::time::sleep(BUSY_INTERVAL).await;
        }
    }

    /// Returns the containers of a fleet in all states, apps before sidecars: the order in which Podman removes them.
    pub async fn list(&self, fleet_id: &str) -> Result<Vec<FoundContainer>, EngineError> {
        let listed = self.get_list(&with_label(FLEET_LABEL, fleet_id)).await?;
        let mut found: Vec<_> = listed.into_iter().filter_map(found_container).collect();
        found.sort_by_key(|container| container.part);
        Ok(found)
    }

    pub(crate) async fn list_material_volumes(&self, fleet_id: &str) -> Result<Vec<FoundVolume>, EngineError> {
        let listed: ListedVolumes = self.get(&format!("/volumes?{}", label_filter(FLEET_LABEL, fleet_id))).await?;
        let found = listed.volumes.into_iter().flatten().filter_map(|Volume { name, labels }| {
            let mut labels =
                labels.filter(|labels| labels.get(PART_LABEL).is_some_and(|part| part == Part::Material.as_str()))?;
            Some(FoundVolume { name, uid: labels.remove(UID_LABEL)? })
        });
        Ok(found.collect())
    }

    /// Removes the containers that read volumes for an earlier launcher.
    pub async fn remove_readers(&self, fleet_id: &str) -> Result<(), EngineError> {
        for Listed { names, .. } in self.get_list(&with_label(READER_LABEL, fleet_id)).await? {
            if let Some(name) = names.first() {
                self.remove(name.trim_start_matches('/')).await?;
            }
        }
        Ok(())
    }
}

fn with_label(label: &str, value: &str) -> String {
    format!("/containers/json?all=true&{}", label_filter(label, value))
}

/// Returns the parameter of a list that selects the entries with this label.
fn label_filter(label: &str, value: &str) -> String {
    let filter = serde_json::json!({ "label": [format!("{label}={value}")] }).to_string();
    let filter: String = form_urlencoded::byte_serialize(filter.as_bytes()).collect();
    format!("filters={filter}")
}

fn quoted(message: &str) -> Option<&str> {
    message.split('"').nth(1)
}

fn found_container(Listed { names, mut labels }: Listed) -> Option<FoundContainer> {
    Some(FoundContainer {
        name: names.first()?.trim_start_matches('/').to_owned(),
        workshop: labels.remove(WORKSHOP_LABEL)?,
        uid: labels.remove(UID_LABEL)?,
        part: Part::parse(labels.get(PART_LABEL)?)?,
    })
}

/// Actions that change the state of a container: Docker Engine's names, then Podman's other names.
const ACTIONS: [&str; 7] = ["start", "die", "oom", "destroy", "died", "remove", "cleanup"];

impl Engine {
    /// Streams the events of a fleet's containers: the name of each Workshop of which a container has started, ended, run
    /// out of memory, or disappeared. The stream subscribes when it is polled first. It ends when the
    /// engine closes the connection, or after an error.
    pub fn events(&self, fleet_id: &str) -> BoxStream<'static, Result<String, EngineError>> {
        let filters = [("type", "container".to_owned()), ("label", format!("{FLEET_LABEL}={fleet_id}"))];
        let filters: HashMap<_, _> = filters.map(|(name, value)| (name.to_owned(), vec![value])).into();
        let options = EventsOptions { filters: Some(filters), ..EventsOptions::default() };
        let engine = self.clone();
        let messages = self.docker.events(Some(options));
        let events = messages.filter_map(move |message| {
            let event = match message {
                Ok(message) => event(message).map(Ok),
                Err(error) => Some(Err(engine.error(error))),
            };
            std::future::ready(event)
        });
        events.boxed()
    }
}

fn event(message: EventMessage) -> Option<String> {
    message.action.filter(|action| ACTIONS.contains(&action.as_str()))?;
    message.actor?.attributes?.remove(WORKSHOP_LABEL)
}
