"""Fixtures of the tests of one launcher under faults."""

import pytest

from harness import Launcher


@pytest.fixture
def launcher(launcher_program, request):
    """A launcher that is ready. The constant SETTINGS of the test's file has further settings of it. pytest prints the
    end of its log after a failure.
    """
    with Launcher(**{"SERVICE_LOG": "warn"} | getattr(request.module, "SETTINGS", {})) as made:
        made.start()
        yield made
        print(made.log_tail())
