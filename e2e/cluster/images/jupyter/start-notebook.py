#!/bin/sh
# The door of the stock Jupyter images: words given here go to the server, as do those in NOTEBOOK_ARGS.
# shellcheck disable=SC2086
exec jupyter lab --ServerApp.ip=0.0.0.0 --ServerApp.open_browser=False ${NOTEBOOK_ARGS:-} "$@"
