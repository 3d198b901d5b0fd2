//! `$(VAR)` in commands and arguments, in the notation of Kubernetes.

use std::collections::BTreeMap;

/// Replaces `$(VAR)` by the variable's value. `$$` stands for one `$`, so that `$$(VAR)` stays `$(VAR)`; a variable that
/// is unknown, and a `$` before anything else, stay as they are written.
pub(super) fn expand(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        expanded.push_str(before);
        rest = behind;
        if let Some(behind) = rest.strip_prefix('$') {
            expanded.push('$');
            rest = behind;
        } else if let Some((name, behind)) = rest.strip_prefix('(').and_then(|name| name.split_once(')')) {
            match variables.get(name) {
                Some(value) => expanded.push_str(value),
                None => expanded.extend(["$(", name, ")"]),
            }
            rest = behind;
        } else {
            expanded.push('$');
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn variables_are_replaced_as_kubernetes_does() {
        let variables = [("PORT", "4711"), ("A_B", "$(PORT)")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = variables.into();
        for (text, expected) in [
            ("--port=$(PORT)", "--port=4711"),
            ("$(PORT)$(PORT)", "47114711"),
            ("$$(PORT)", "$(PORT)"),
            ("$$$(PORT)", "$4711"),
            ("$(UNKNOWN)", "$(UNKNOWN)"),
            ("$PORT ${PORT} $", "$PORT ${PORT} $"),
            ("$(PORT", "$(PORT"),
            ("$(A_B)", "$(PORT)"),
            ("größe $(PORT) €", "größe 4711 €"),
            ("", ""),
        ] {
            assert_eq!(expand(text, &variables), expected, "{text}");
        }
    }
}
