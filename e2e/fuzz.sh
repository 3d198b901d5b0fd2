#!/bin/bash
# Searches with AFL++ for inputs at which a parser of strangers' bytes fails: e2e/fuzz.sh CRATE TARGET [SECONDS].
# Inputs that fail are in .local/fuzz/TARGET/default/crashes and hangs: put them into the corpus of the target. See
# "Fuzzing" in docs/reliability.md.
set -euo pipefail
cd "$(dirname "$0")/.."
crate=$1 target=$2 seconds=${3:-3600}
command -v cargo-afl > /dev/null ||
    { echo "missing: cargo install --locked cargo-afl && cargo afl config --build" >&2; exit 1; }
built=$(cargo afl test --locked --all-features --package "$crate" --no-run --message-format json)
programs=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' <<< "$built")
for program in $programs; do
    # The programs of the crate are in the list, too: they refuse this option.
    test=$({ "$program" --list 2> /dev/null || true; } | sed -n "s/^\(.*\b$target\): test\$/\1/p")
    [ -z "$test" ] || break
done
[ -n "${test:-}" ] || { echo "$crate has no target $target" >&2; exit 1; }
mkdir -p .local/fuzz
export FUZZ_STDIN=1 AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_AUTORESUME=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
exec nice cargo afl fuzz -V "$seconds" -m none -t 1000+ -i "crates/$crate/corpus/$target" -o ".local/fuzz/$target" -- \
    "$program" --exact "$test" --nocapture --test-threads=1
