"""Probes of an attacker with a shell. `python3 -m attack NAME ARGUMENT...` tries one thing, and prints what it gained.
`python3 -m attack --all JSON` runs a list of probes, [[NAME, ARGUMENT, …], …], and prints a list of results.

A result is {"gained": true or false, "seen": what was gained, or the refusal}. "gained" is null if the probe is broken. The
same probe runs in a workshop, where it must gain nothing, and as its control where it must gain something.
"""


class Refused(Exception):
    """The probe gained nothing, for this reason."""


def refuse(reason):
    raise Refused(reason)
