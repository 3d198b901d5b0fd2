//! Bodies as they are sent, and their schemas.
