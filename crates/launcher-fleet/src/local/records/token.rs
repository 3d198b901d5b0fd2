//! The token that an app requires from the gateway.

use std::fmt;

use launcher_domain::Entropy;
use serde::{Deserialize, Serialize};

const TOKEN_BYTES: usize = 32;

/// The token of an app. Each start of the app has a new random token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn random(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; TOKEN_BYTES];
        entropy.fill(&mut bytes);
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use launcher_domain::clock::SystemEntropy;

    use super::Token;

    #[test]
    fn token_is_random_and_hidden_in_debug_output() {
        let token = Token::random(&SystemEntropy);
        assert_eq!(token.reveal().len(), 64);
        assert_ne!(token, Token::random(&SystemEntropy));
        assert!(!format!("{token:?}").contains(token.reveal()));
    }
}
