#!/bin/sh
# The door of the stock Jupyter images: words given here go to the server, as do those in NOTEBOOK_ARGS.
# shellcheck disable=SC2086
exec jupyter lab ${NOTEBOOK_ARGS:-} "$@"
