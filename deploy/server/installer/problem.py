"""The error of all parts."""


class Problem(Exception):
    """An error that the administrator can correct. Its text says what is wrong, where, and what to do."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


class Problems(Problem):
    """Several errors of one input, reported together."""

    def __init__(self, heading, problems, code=1):
        super().__init__("\n".join([heading, *(f"- {problem}" for problem in problems)]), code)
