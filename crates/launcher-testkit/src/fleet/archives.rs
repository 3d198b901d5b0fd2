//! Archives of the in-memory fleet's volumes and apps: one file each.

use std::io::Write;
use std::sync::{Arc, Barrier};

use async_trait::async_trait;
use launcher_domain::ArchiveToken;
use launcher_fleet::{Archives, ByteStream, FleetError, ReadError, written_by};
use launcher_workshop::WorkshopSpec;
use tar::{Builder, Header};

use super::FakeFleet;

impl FakeFleet {
    /// Makes the fleet unable to open volumes in time, or able again.
    pub fn delay_archives(&self, is_late: bool) {
        self.lock().has_late_archives = is_late;
    }

    /// Returns the number of reads of apps' files, also failed ones.
    #[must_use]
    pub fn app_reads(&self) -> usize {
        self.lock().app_reads
    }

    /// Makes the reads of apps' files hang, or answer again.
    pub fn hang_app_reads(&self, hangs: bool) {
        self.lock().hangs_app_reads = hangs;
    }

    /// Makes the fleet unable to place saved files.
    pub fn remove_restore(&self) {
        self.lock().lacks_restore = true;
    }

    /// Returns the Workshops to which saved files were sent, with the tokens.
    #[must_use]
    pub fn saved_files(&self) -> Vec<(String, ArchiveToken)> {
        self.lock().saved_files.clone()
    }

    /// Ends one call that sends saved files.
    pub fn place_saved_files(&self) {
        self.lock().placed_files.notify_one();
    }

    /// Makes each archive wait at this barrier, after its first bytes.
    pub fn hold_archives(&self) -> Arc<Barrier> {
        let barrier = Arc::new(Barrier::new(2));
        self.lock().archive_barrier = Some(Arc::clone(&barrier));
        barrier
    }

    /// Makes each archive break off, after its first bytes.
    pub fn break_archives(&self) {
        self.lock().breaks_archives = true;
    }

    /// Makes the fleet unable to read volumes.
    pub fn remove_archives(&self) {
        self.lock().lacks_archives = true;
    }
}

#[async_trait]
impl Archives for FakeFleet {
    /// The archive has the file `notes/<volume>.txt` with the text `saved`.
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        self.archive(volume)
    }

    fn can_restore(&self, _: &WorkshopSpec) -> bool {
        !self.lock().lacks_restore
    }

    async fn send_saved_files(&self, workshop: &str, token: &ArchiveToken) {
        let placed = {
            let mut state = self.lock();
            state.saved_files.push((workshop.to_owned(), token.clone()));
            state.placed_files.clone()
        };
        placed.notified().await;
    }

    /// The archive has the file `notes/<workshop>.txt` with the text `saved`.
    async fn read_app(&self, workshop: &str, _: &ArchiveToken) -> Result<ByteStream, ReadError> {
        if !self.lock().workshops.contains_key(workshop) {
            return Err(FleetError::Refused(format!("no Workshop {workshop}")).into());
        }
        let hangs = {
            let mut state = self.lock();
            state.app_reads += 1;
            state.hangs_app_reads
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        self.archive(workshop)
    }
}

impl FakeFleet {
    fn archive(&self, name: &str) -> Result<ByteStream, ReadError> {
        if self.lock().has_late_archives {
            return Err(ReadError::NotReady("no node has room".to_owned()));
        }
        let (barrier, breaks) = {
            let state = self.lock();
            (state.archive_barrier.clone(), state.breaks_archives)
        };
        let name = format!("notes/{name}.txt");
        Ok(written_by(move |out| {
            let mut header = Header::new_gnu();
            header.set_size(5);
            header.set_mode(0o644);
            let mut tar = Builder::new(out);
            tar.append_data(&mut header, name, &b"saved"[..])?;
            if let Some(barrier) = barrier {
                tar.get_mut().flush()?;
                barrier.wait();
            }
            if breaks {
                tar.get_mut().flush()?;
                return Err(std::io::Error::other("the pod is gone"));
            }
            tar.finish()
        }))
    }
}
