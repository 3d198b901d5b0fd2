//! What requests bring, read strictly.
