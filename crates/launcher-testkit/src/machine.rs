//! Settings of fleets on the machine of the tests.

use std::path::Path;
use std::time::Duration;

use launcher_domain::brand::Brand;
use launcher_domain::identity::TrustedHeader;
use launcher_fleet::{MachineSettings, OriginSettings};

use crate::poll::DEADLINE;

/// Returns the settings of a fleet with this data directory, at `http://localhost:8000`, without the program for course material
/// and without saved files.
#[must_use]
pub fn machine_settings(data_dir: &Path) -> MachineSettings {
    MachineSettings {
        data_dir: data_dir.to_owned(),
        origins: OriginSettings {
            public_origin: "http://localhost:8000".parse().unwrap(),
            workshop_domain: "localhost".to_owned(),
            trusted_header: TrustedHeader::default(),
            proxy_secret: None,
            require_authentication: true,
            session_cookie_prefix: "_oauth2_proxy".to_owned(),
            brand: Brand::NONE,
        },
        material: "no-such-launcher-material".into(),
        saved_files: None,
        start_timeout: DEADLINE,
        stop_grace: Duration::from_secs(5),
    }
}
