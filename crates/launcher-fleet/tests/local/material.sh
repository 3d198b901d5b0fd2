#!/bin/sh
# Stands for the program launcher-material. The target of the first source determines what it does.
set -eu
if [ "${1:-}" = restore ]; then
    [ -z "$(ls -A "$2")" ] || echo 'the directory is not empty' >&2
    [ -z "$(ls -A "$2")" ]
    tar -xf - -C "$2"
    exit
fi
printf '%s' "$WORKSHOP_MATERIAL" >config.json
env >environment
echo run >>runs
case $WORKSHOP_MATERIAL in
*'"target":"lesson"'*)
    mkdir -p lesson
    echo '1 + 1' >lesson/one.txt
    echo 'a line of the log'
    echo '{"sources":[{"target":"lesson","outcome":"placed","version":"v1"}]}'
    ;;
*'"target":"hanging"'*)
    sleep 1000 & # pacing: a process that hangs
    wait
    ;;
*'"target":"once-hanging"'*)
    if [ "$(wc -l <runs)" -eq 1 ]; then
        sleep 1000 & # pacing: a process that hangs
        wait
    fi
    echo '{"sources":[{"target":"once-hanging","outcome":"unchanged","version":"v1"}]}'
    ;;
*)
    echo 'the configuration is unreadable' >&2
    exit 2
    ;;
esac
