#!/bin/sh
# In place of the program that checks course material: finds its arguments and the names of its variables.
names=$(tr '\0' '\n' </proc/$$/environ | cut -d= -f1 | sort | paste -s -d ' ' -)
printf '[{"version": "1", "reference": "%s: %s"}]\n' "$*" "$names"
