//! The line of a log that names the cause of a failure.

use launcher_domain::log_line::decisive_line;

#[test]
fn line_of_real_logs_names_the_cause() {
    for (tail, line) in [
        (
            "Traceback (most recent call last):\n  File \"/srv/app.py\", line 1, in <module>\n    import pandas\n\
             ModuleNotFoundError: No module named 'pandas'\n",
            "ModuleNotFoundError: No module named 'pandas'",
        ),
        (
            "Traceback (most recent call last):\n  File \"app.py\", line 3, in f\nKeyError: 'a'\n\nDuring handling of the \
             above exception, another exception occurred:\n\nTraceback (most recent call last):\n\
             numpy.exceptions.AxisError: axis 2 is out of bounds\nsys:1: RuntimeWarning: coroutine was never awaited\n\
             Task was destroyed but it is pending!",
            "numpy.exceptions.AxisError: axis 2 is out of bounds",
        ),
        (
            "[I 2026-11-29 18:00:01 ServerApp] Serving at http://127.0.0.1:8888/lab\nTraceback (most recent call last):\n\
             OSError: [Errno 98] Address already in use\n[I 2026-11-29 18:00:02 ServerApp] Shutting down\n",
            "OSError: [Errno 98] Address already in use",
        ),
        (
            "> library(dplyr)\nError in library(dplyr) : there is no package called ‘dplyr’\nExecution halted\n",
            "Error in library(dplyr) : there is no package called ‘dplyr’",
        ),
        (
            "Error in loadNamespace(x) : \n  there is no package called ‘shiny’\nCalls: :: ... loadNamespace -> \
             withRestarts -> withOneRestart\nExecution halted",
            "Error in loadNamespace(x) : there is no package called ‘shiny’",
        ),
        ("Error: object 'penguins' not found\nExecution halted", "Error: object 'penguins' not found"),
        (
            "node:internal/modules/cjs/loader:1215\n  throw err;\n  ^\n\nError: Cannot find module '/app/server.js'\n    \
             at Module._resolveFilename (node:internal/modules/cjs/loader:1212:15)\n  code: 'MODULE_NOT_FOUND',\n  \
             requireStack: []\n}\n\nNode.js v22.3.0\n",
            "Error: Cannot find module '/app/server.js'",
        ),
        (
            "TypeError [ERR_INVALID_ARG_TYPE]: The \"path\" argument must be of type string\n    at new NodeError\n",
            "TypeError [ERR_INVALID_ARG_TYPE]: The \"path\" argument must be of type string",
        ),
        ("bash: line 1: jupiter: command not found\n", "bash: line 1: jupiter: command not found"),
        ("starting\nsh: 1: streamlit: not found\nexit 127", "sh: 1: streamlit: not found"),
        ("exec /start.sh: no such file or directory\nwaiting for the app", "exec /start.sh: no such file or directory"),
        ("bind(): Address already in use (os error 98)\nshutting down", "bind(): Address already in use (os error 98)"),
        (
            "thread 'main' (42) panicked at src/main.rs:2:5:\nno port is given\nnote: run with `RUST_BACKTRACE=1` \
             environment variable to display a backtrace\n",
            "thread 'main' (42) panicked at src/main.rs:2:5: no port is given",
        ),
        (
            "thread 'main' panicked at 'no port', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`",
            "thread 'main' panicked at 'no port', src/main.rs:2:5",
        ),
        (
            "panic: listen tcp :80: bind: permission denied\n\ngoroutine 1 [running]:\nmain.main()",
            "panic: listen tcp :80: bind: permission denied",
        ),
        ("Listening on 8888\n  Server stopped.  \r\n\n", "Server stopped."),
        ("The error rate is 3\nBye:", "Bye:"),
    ] {
        assert_eq!(decisive_line(tail).unwrap().trim_end(), line, "{tail}");
    }
}

#[test]
fn log_without_text_has_no_line_and_long_lines_are_shortened() {
    assert_eq!(decisive_line(""), None);
    assert_eq!(decisive_line(" \n\t\r\n"), None);
    let long = decisive_line(&"é".repeat(10_000)).unwrap();
    assert_eq!((long.chars().count(), long.chars().last()), (301, Some('…')));
}
