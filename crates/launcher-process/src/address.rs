//! Listen addresses: a TCP port, or the file of a Unix socket.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Prefix of the address of a Unix socket.
const UNIX: &str = "unix:";
/// Maximum length of the path of a Unix socket, in bytes (`sun_path` of the kernel, without its final NUL).
const MAX_PATH: usize = 107;

/// A listen address: `IP:PORT`, or `unix:` and an absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP port.
    Tcp(SocketAddr),
    /// The file of a Unix socket.
    Unix(PathBuf),
}

/// Reason why a text is not a listen address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseAddressError {
    /// The text is neither an IP address with a port nor the path of a Unix socket.
    #[error(
        "invalid socket address: write IP:PORT, as in 0.0.0.0:8080, or unix: and an absolute path, as in unix:/run/app.sock"
    )]
    Unknown,
    /// The path is relative or empty, or contains a NUL.
    #[error("the path of a Unix socket is not absolute: write unix:/absolute/path.sock")]
    Relative,
    /// The path is longer than the kernel allows.
    #[error("the path of the Unix socket has {0} bytes, and the kernel allows {MAX_PATH}: choose a shorter path")]
    TooLong(usize),
}

impl FromStr for Address {
    type Err = ParseAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(path) = text.strip_prefix(UNIX) else {
            return text.parse().map(Self::Tcp).map_err(|_| ParseAddressError::Unknown);
        };
        if !path.starts_with('/') || path.contains('\0') {
            return Err(ParseAddressError::Relative);
        }
        if path.len() > MAX_PATH {
            return Err(ParseAddressError::TooLong(path.len()));
        }
        Ok(Self::Unix(path.into()))
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}
