"""The commands: one module each, with flags(parser) and run(arguments, say), which may return an exit code."""
