//! The workload as the registry sees it.

use std::sync::Arc;

use super::context::Context;
use super::supervisor::supervise;
use super::workload::{StoredRecord, Workload};
use crate::machine::{DesiredStateCell, Remainder, SidecarConnector, Supervised};

impl Supervised for Workload {
    type Process = ();
    type Context = Context;

    fn new(context: Arc<Context>, record: Arc<StoredRecord>, desired_state: DesiredStateCell) -> Self {
        Self::new(context, record, desired_state)
    }

    fn record(&self) -> &Arc<StoredRecord> {
        self.stored_record()
    }

    fn desired_state(&self) -> &DesiredStateCell {
        self.desired()
    }

    fn connector(&self) -> Option<Box<dyn SidecarConnector>> {
        Some(Box::new(self.socket_connector()?))
    }

    fn supervise(self: Arc<Self>) -> impl Future<Output = Remainder> + Send {
        supervise(self)
    }
}
