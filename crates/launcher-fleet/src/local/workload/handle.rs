//! The handle of one Workshop's workload: its record, its desired state, and the proxy to its app; and the context, the
//! data that all Workshops of an open fleet share.

use std::io;
use std::sync::{Arc, Mutex};

use launcher_domain::ListensElsewhere;
use launcher_domain::sync::lock;
use launcher_process::stop::Stop;

use super::proxy::AppProxy;
use super::supervisor::Supervisor;
use crate::local::ports::{Listener, PortLease, PortPool, find_listener, listens_elsewhere};
use crate::local::process::{AppProcesses, ProcessScanner};
use crate::local::records::{Record, Started, StoredRecord};
use crate::local::settings::LocalSettings;
use crate::machine::{
    self, DataDir, DesiredStateCell, OriginSettings, Remainder, SidecarConnector, SourceChecker, Supervised,
};

/// The workload of one Workshop, shared by its supervisor, the registry and the gateway.
#[derive(Debug)]
pub(crate) struct Workload {
    context: Arc<Context>,
    record: Arc<StoredRecord>,
    desired_state: DesiredStateCell,
    proxy: Mutex<Option<AppProxy>>,
    /// The port of the app. It stays reserved while any process of the app may run.
    port: Mutex<Option<PortLease>>,
}

impl Workload {
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Returns the marker in the environment of this Workshop's processes. It contains the uid, because a later
    /// Workshop may have the same name.
    pub(super) fn marker_of(&self, record: &Record) -> String {
        let uid = record.workshop.metadata.uid.as_deref().unwrap_or_default();
        format!("{}/{}/{uid}", self.context.data_dir.id, self.record.name())
    }

    /// Returns the marker and the group leader, which identify the processes of the app.
    pub(crate) fn processes(&self) -> AppProcesses {
        let record = self.record.get();
        let leader = record.process.as_ref().and_then(|started| started.leader.of_this_boot());
        AppProcesses { marker: self.marker_of(&record), leader }
    }

    /// Determines whether the app or another program listens on the app's port.
    ///
    /// # Errors
    /// `/proc` cannot be read. The caller must not forward requests then.
    pub(super) async fn find_listener(&self, port: u16) -> io::Result<Listener> {
        find_listener(&self.context.scanner, self.processes(), port).await
    }

    /// Returns the addresses on which the app listens, unless it listens on its port. `None` also if they cannot be read.
    pub(super) async fn listens_elsewhere(&self, port: u16) -> Option<ListensElsewhere> {
        let found = listens_elsewhere(&self.context.scanner, self.processes(), port).await;
        let log = |error: &io::Error| tracing::debug!(workshop = self.record.name(), %error, "reading listening sockets failed");
        found.inspect_err(log).ok().flatten()
    }

    /// Attaches the proxy. From now on the owner has access to the app.
    pub(crate) fn attach_proxy(&self, started: &Started) {
        let Some(owner) = self.record.workshop().spec.owner_email() else { return };
        *lock(&self.proxy) = Some(AppProxy::new(&self.context, &self.record, owner, started));
    }

    /// Detaches the proxy: the owner has no access any more. Call this before the app's processes exit, because another
    /// program could bind the port afterwards.
    pub(super) fn detach_proxy(&self) {
        *lock(&self.proxy) = None;
    }

    /// Keeps the reserved port of an app that is about to start.
    pub(super) fn keep_port(&self, lease: PortLease) {
        *lock(&self.port) = Some(lease);
    }

    /// Releases the port. Call this only after the last process of the app has exited.
    pub(super) fn release_port(&self) {
        *lock(&self.port) = None;
    }
}

impl Supervised for Workload {
    type Process = Started;
    type Context = Context;

    fn new(context: Arc<Context>, record: Arc<StoredRecord>, desired_state: DesiredStateCell) -> Self {
        // Processes of an earlier launcher may still use this port: reserve it.
        let port = record.get().process.and_then(|started| context.ports.reserve(started.port));
        Self { record, context, desired_state, proxy: Mutex::new(None), port: Mutex::new(port) }
    }

    fn record(&self) -> &Arc<StoredRecord> {
        &self.record
    }

    fn desired_state(&self) -> &DesiredStateCell {
        &self.desired_state
    }

    fn connector(&self) -> Option<Box<dyn SidecarConnector>> {
        Some(Box::new(lock(&self.proxy).clone()?))
    }

    fn supervise(self: Arc<Self>) -> impl Future<Output = Remainder> + Send {
        Supervisor::new(self, None).run()
    }
}

/// Data that all Workshops of an open local fleet share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: LocalSettings,
    /// The open data directory. Its identifier is the first part of the marker of every process that was started from
    /// it.
    pub(crate) data_dir: DataDir,
    pub(crate) ports: PortPool,
    pub(crate) scanner: ProcessScanner,
    pub(crate) stop: Stop,
    pub(crate) source_checks: Option<SourceChecker>,
}

impl machine::Context for Context {
    fn data_dir(&self) -> &DataDir {
        &self.data_dir
    }

    fn origins(&self) -> &OriginSettings {
        &self.settings.origins
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}
