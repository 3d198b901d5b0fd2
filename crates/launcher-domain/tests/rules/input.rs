//! Parsers of durations, amounts and command lines.

use launcher_domain::input::{
    AmountError, CommandLineError, DurationError, command_line, duration, parse_command_line, parse_cpu,
    parse_duration, parse_memory,
};
use proptest::prelude::*;

#[test]
fn duration_is_parsed_with_its_units() {
    for (text, seconds) in [
        ("2h", 7200),
        ("90 min", 5400),
        ("1 h 30 min", 5400),
        ("1h30m", 5400),
        ("45m", 2700),
        ("7200", 7200),
        (" 7200 s ", 7200),
        ("2 days", 172_800),
        ("1 Day 2 HOURS", 93_600),
        ("0", 0),
        ("90 minutes", 5400),
        ("4294967295", u32::MAX),
    ] {
        assert_eq!(parse_duration(text), Ok(seconds), "{text}");
    }
}

#[test]
fn ambiguous_or_unreadable_duration_is_refused() {
    use DurationError::{Colon, Order, TooLong, Unreadable};
    for (text, error) in [
        ("1:30", Colon),
        ("", Unreadable),
        ("h", Unreadable),
        ("2 weeks", Unreadable),
        ("1.5 h", Unreadable),
        ("-1 h", Unreadable),
        ("1 h, 2 min", Unreadable),
        ("1 h 30", Order),
        ("30 min 1 h", Order),
        ("1 h 1 h", Order),
        ("4294967296", TooLong),
        ("99999999999999999999 s", TooLong),
        ("9999999999999999999 days", TooLong),
        ("49711 days", TooLong),
    ] {
        assert_eq!(parse_duration(text), Err(error), "{text:?}");
    }
}

#[test]
fn duration_is_formatted_with_the_greatest_units() {
    for (seconds, text) in [
        (0, "0 s"),
        (45, "45 s"),
        (5400, "1 h 30 min"),
        (7200, "2 h"),
        (86_400, "1 day"),
        (180_061, "2 days 2 h 1 min 1 s"),
    ] {
        assert_eq!(duration(seconds), text);
    }
}

#[test]
fn memory_becomes_a_kubernetes_quantity() {
    for (text, quantity) in [
        ("4 GB", "4G"),
        ("4GB", "4G"),
        ("4g", "4G"),
        ("512 MB", "512M"),
        ("512M", "512M"),
        ("2 GiB", "2Gi"),
        ("2Gi", "2Gi"),
        ("512Mi", "512Mi"),
        ("1.5 gib", "1.5Gi"),
        ("1 TB", "1T"),
        ("900 kB", "900k"),
        ("536870912", "536870912"),
    ] {
        assert_eq!(parse_memory(text).unwrap().as_str(), quantity, "{text}");
    }
    for text in ["4", "0", "999999", "", "1.5"] {
        assert_eq!(parse_memory(text), Err(AmountError::MemoryUnit), "{text:?}");
    }
    for text in ["512m", "0 GB", "GB", "4 XB", "4,5 GB", "-1 GB", "4 GB 2 MB", "1.2.3 GB", "4 G B"] {
        assert_eq!(parse_memory(text), Err(AmountError::Memory), "{text:?}");
    }
}

#[test]
fn cpu_becomes_a_kubernetes_quantity() {
    for (text, quantity) in
        [("2", "2"), ("0.5", "0.5"), ("500m", "500m"), ("500 m", "500m"), ("2 cores", "2"), ("1 Core", "1")]
    {
        assert_eq!(parse_cpu(text).unwrap().as_str(), quantity, "{text}");
    }
    for text in ["", "0", "x", "2 GB", "500M", "0,5", "-1"] {
        assert_eq!(parse_cpu(text), Err(AmountError::Cpu), "{text:?}");
    }
}

#[test]
fn command_line_is_split_like_in_a_shell() {
    for (line, words) in [
        ("", vec![]),
        ("  \n ", vec![]),
        ("jupyter lab --port=$(PORT)", vec!["jupyter", "lab", "--port=$(PORT)"]),
        ("run --at $(ORIGIN) \"$(HOST)\"", vec!["run", "--at", "$(ORIGIN)", "$(HOST)"]),
        (r#"sh -c "echo a; echo b""#, vec!["sh", "-c", "echo a; echo b"]),
        (r#"sh -c 'echo $HOME *'"#, vec!["sh", "-c", "echo $HOME *"]),
        (r"a\ b '' 'it'\''s'", vec!["a b", "", "it's"]),
        (r"echo \$HOME \* \; \#", vec!["echo", "$HOME", "*", ";", "#"]),
        ("python -m http.server \"$(PORT)\" a#b ä~", vec!["python", "-m", "http.server", "$(PORT)", "a#b", "ä~"]),
        ("echo 5$ \"100 $\"", vec!["echo", "5$", "100 $"]),
    ] {
        assert_eq!(parse_command_line(line).unwrap(), words, "{line}");
    }
}

#[test]
fn open_quotation_is_refused() {
    let open = |quote: &str| CommandLineError::OpenQuote { quote: quote.to_owned() };
    for (line, error) in [
        ("echo 'a", open("'")),
        ("echo \"a 'b'", open("\"")),
        ("echo a\\", CommandLineError::OpenEscape),
        ("a\0b", CommandLineError::Nul),
    ] {
        assert_eq!(parse_command_line(line), Err(error), "{line:?}");
    }
}

#[test]
fn constructs_of_a_shell_are_refused_with_an_explanation() {
    let operator = |text: &str| CommandLineError::Operator { text: text.to_owned() };
    let expansion = |text: &str| CommandLineError::Expansion { text: text.to_owned() };
    let pattern = |text: &str| CommandLineError::Pattern { text: text.to_owned() };
    for (line, error) in [
        ("a | b", operator("|")),
        ("a && b", operator("&&")),
        ("a; b", operator(";")),
        ("a > log", operator(">")),
        ("a 2>&1", operator(">&")),
        ("a &", operator("&")),
        ("(a)", operator("(")),
        ("echo $HOME", expansion("$HOME")),
        ("echo \"a $HOME b\"", expansion("$HOME")),
        ("echo ${HOME}/x", expansion("${HOME}/x")),
        ("echo $(date)", expansion("$(date)")),
        ("echo `date`", expansion("`date`")),
        ("echo ~/x", expansion("~/x")),
        ("ls *.csv", pattern("*")),
        ("ls a?", pattern("?")),
        ("ls [ab]", pattern("[")),
        ("a # b", CommandLineError::Comment),
    ] {
        assert_eq!(parse_command_line(line), Err(error), "{line}");
    }
    let error = parse_command_line("a | b").unwrap_err();
    assert!(error.to_string().contains("put the line into sh -c"), "{error}");
    assert_eq!((error.key().key.as_str(), error.key().args["text"].as_str()), ("input-command-operator", "|"));
}

#[test]
fn plain_words_are_joined_without_quotation_marks() {
    let words = ["jupyter", "lab", "--ip=0.0.0.0", "--port=$(PORT)", "$(HOST)", "a b", "", "$X"];
    assert_eq!(command_line(words), "jupyter lab --ip=0.0.0.0 --port=$(PORT) $(HOST) 'a b' '' '$X'");
}

proptest! {
    #[test]
    fn formatted_duration_is_parsed_back(seconds in prop_oneof![any::<u32>(), 0..200_000_u32]) {
        prop_assert_eq!(parse_duration(&duration(seconds)), Ok(seconds));
    }

    #[test]
    fn joined_words_are_split_back(
        words in prop::collection::vec("[^\0]{0,12}|[a-z$(PORT)'\"\\\\ #~|;*\n\t\r]{0,12}|(--x=)?\\$\\((PORT|HOST|ORIGIN|\\$\\(HOST\\)PORT)\\)", 0..6),
    ) {
        let line = command_line(words.iter().map(String::as_str));
        prop_assert_eq!(parse_command_line(&line), Ok(words), "{}", line);
    }

    #[test]
    fn parsing_any_text_never_panics(text in "\\PC{0,20}|[0-9a-zA-Z .:$'\"\\\\()`#~]{0,20}") {
        drop((parse_duration(&text), parse_memory(&text), parse_cpu(&text), parse_command_line(&text)));
    }
}
