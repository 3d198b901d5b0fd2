# shellcheck shell=bash
# The databases: parts/ has others in their place, which fail. The tests keep dex's state in memory.
rm -r storage/sql storage/ent
