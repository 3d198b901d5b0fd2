//! The workload as the registry sees it.

use std::sync::Arc;

use super::context::Context;
use super::handle::Workload;
use super::supervisor::Supervisor;
use crate::local::records::{Started, StoredRecord};
use crate::machine::{DesiredStateCell, Remainder, SidecarConnector, Supervised};

impl Supervised for Workload {
    type Process = Started;
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
        Some(Box::new(self.proxy()?))
    }

    fn supervise(self: Arc<Self>) -> impl Future<Output = Remainder> + Send {
        Supervisor::new(self, None).run()
    }
}
