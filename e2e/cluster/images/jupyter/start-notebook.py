#!/bin/sh
# Entry point of the stock Jupyter images: passes its arguments and NOTEBOOK_ARGS to the server.
# shellcheck disable=SC2086
exec jupyter lab ${NOTEBOOK_ARGS:-} "$@"
