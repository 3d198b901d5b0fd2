//! Amounts of CPU and memory as people write them: `4 GB`, `2 GiB`, `0.5`, `500m`.

use crate::coded_text::{TextKey, coded_texts};
use crate::quantity::Quantity;

/// Minimum number of bytes that may lack a unit: a smaller number is a forgotten unit, as in `4` for 4 GB.
const MIN_PLAIN_BYTES: u64 = 1_000_000;

/// Suffixes of Kubernetes quantities, with the accepted units in lower case.
const MEMORY_UNITS: [(&str, [&str; 2]); 8] = [
    ("k", ["k", "kb"]),
    ("M", ["mb", "mbyte"]),
    ("G", ["g", "gb"]),
    ("T", ["t", "tb"]),
    ("Ki", ["ki", "kib"]),
    ("Mi", ["mi", "mib"]),
    ("Gi", ["gi", "gib"]),
    ("Ti", ["ti", "tib"]),
];

coded_texts! {
    /// Reason why a text is not an amount of CPU or memory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum AmountError {
        /// The text is not an amount of memory above zero.
        Memory = "memory-unreadable", "write an amount of memory such as 512 MB, 4 GB or 2 GiB";
        /// The number is too small for bytes.
        MemoryUnit = "memory-unit", "write the unit of the memory, such as MB, GB or GiB";
        /// The text is not an amount of CPU above zero.
        Cpu = "cpu-unreadable", "write a number of CPU cores such as 2, 0.5 or 500m";
    }
}

impl AmountError {
    /// Returns the key of this error for translators: `input-<code>`.
    #[must_use]
    pub fn key(&self) -> TextKey {
        TextKey::of("input", &self.coded())
    }
}

/// Parses an amount of memory: a number with at most three decimal places, and a unit (kB, MB, GB, TB, KiB, MiB, GiB,
/// TiB, or the suffix of a Kubernetes quantity). Letters may be in any case, except for `M`: a Kubernetes quantity with
/// `m` means thousandths of a byte. A number of at least 1,000,000 without a unit means bytes.
///
/// # Errors
/// [`AmountError`] with the reason.
pub fn parse_memory(text: &str) -> Result<Quantity, AmountError> {
    let (number, unit) = number_and_unit(text);
    let lower = unit.to_ascii_lowercase();
    let suffix = match unit {
        "" => {
            let bytes: u64 = number.parse().map_err(|_| AmountError::MemoryUnit)?;
            if bytes < MIN_PLAIN_BYTES {
                return Err(AmountError::MemoryUnit);
            }
            ""
        }
        "M" => "M",
        _ => {
            let known = MEMORY_UNITS.iter().find(|(_, names)| names.contains(&lower.as_str()));
            known.ok_or(AmountError::Memory)?.0
        }
    };
    Quantity::parse(&format!("{number}{suffix}")).map_err(|_| AmountError::Memory)
}

/// Parses an amount of CPU: a number of cores with at most three decimal places, or of thousandths with the unit `m`.
/// The words `core`, `cores` and `CPU` may follow a number of cores.
///
/// # Errors
/// [`AmountError::Cpu`].
pub fn parse_cpu(text: &str) -> Result<Quantity, AmountError> {
    let (number, unit) = number_and_unit(text);
    let suffix = match unit.to_ascii_lowercase().as_str() {
        "" | "core" | "cores" | "cpu" | "cpus" => "",
        _ if unit == "m" => "m",
        _ => return Err(AmountError::Cpu),
    };
    Quantity::parse(&format!("{number}{suffix}")).map_err(|_| AmountError::Cpu)
}

fn number_and_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}
