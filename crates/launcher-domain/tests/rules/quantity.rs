use launcher_domain::quantity::Quantity;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

#[test]
fn quantity_suffix_multiplies_by_its_factor() {
    for (larger, smaller) in [
        ("1", "1000m"),
        ("1k", "1000"),
        ("1M", "1000k"),
        ("1G", "1000M"),
        ("1T", "1000G"),
        ("1P", "1000T"),
        ("1E", "1000P"),
        ("1Ki", "1024"),
        ("1Mi", "1024Ki"),
        ("1Gi", "1024Mi"),
        ("1Ti", "1024Gi"),
        ("1Pi", "1024Ti"),
        ("1Ei", "1024Pi"),
    ] {
        assert!(quantity(larger).compare(&quantity(smaller)).is_eq(), "{larger} {smaller}");
    }
}

#[test]
fn quantity_has_amount_in_thousandths() {
    for (text, milli) in [("250m", 250), ("1.5", 1500), ("2Ki", 2_048_000), ("1k", 1_000_000)] {
        assert_eq!(quantity(text).milli(), milli, "{text}");
    }
}

#[test]
fn quantity_with_decimal_places_is_exact() {
    for (left, right) in [("0.001", "1m"), ("0.01", "10m"), ("1.25Ki", "1280"), ("1.005k", "1005"), ("007", "7")] {
        assert!(quantity(left).compare(&quantity(right)).is_eq(), "{left} {right}");
    }
    assert!(quantity("1.001").compare(&quantity("1")).is_gt());
    assert!(quantity("0.999Gi").compare(&quantity("1Gi")).is_lt());
}

#[test]
fn quantity_below_one_thousandth_is_rejected() {
    for text in ["0.0", "0.000", "0.001m", "0.999m", "0Gi"] {
        assert!(Quantity::parse(text).is_err(), "{text}");
    }
    assert!(quantity("1.999m").compare(&quantity("1m")).is_eq());
}

#[test]
fn quantity_has_at_most_15_digits_and_3_decimal_places() {
    assert!(Quantity::parse("999999999999999.999").is_ok());
    for text in ["1000000000000000", "0000000000000001", "1.0000"] {
        assert!(Quantity::parse(text).is_err(), "{text}");
    }
}

#[test]
fn largest_quantities_compare_without_overflow() {
    let largest = quantity("999999999999999.999Ei");
    assert!(largest.compare(&quantity("999999999999999E")).is_gt());
    assert!(largest.compare(&quantity("1")).is_gt());
    assert!(quantity("999999999999999E").compare(&quantity("999999999999998E")).is_gt());
}

#[test]
fn quantity_without_number_or_with_unknown_suffix_is_rejected() {
    for text in
        ["m", "Gi", "1GiB", "1gi", "1K", "1ki", "1mm", "1km", "1.2.3", "+1", "1,5", " 1", "1 ", "0x10", "1e3", "1_000"]
    {
        assert!(Quantity::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn quantity_keeps_its_text_in_json() {
    let written = serde_json::to_string(&quantity("0.50Gi")).unwrap();
    assert_eq!(written, "\"0.50Gi\"");
    let read: Quantity = serde_json::from_str(&written).unwrap();
    assert_eq!((read.as_str(), read.to_string().as_str()), ("0.50Gi", "0.50Gi"));
    let error = serde_json::from_str::<Quantity>("\"lots\"").unwrap_err();
    assert!(error.to_string().contains("\"lots\" is not a Kubernetes quantity above zero"), "{error}");
}

#[test]
fn quantity_error_quotes_at_most_40_characters() {
    let error = Quantity::parse(&"ü".repeat(41)).unwrap_err();
    assert_eq!(error.0, "ü".repeat(40));
}

#[test]
fn any_quantity_is_read_again_or_refused() {
    launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), "any_quantity_is_read_again_or_refused", 100_000, |bytes| {
        let Ok(read) = Quantity::parse(&String::from_utf8_lossy(bytes)) else { return };
        assert!(read.milli() > 0);
        assert_eq!(Quantity::parse(read.as_str()).as_ref(), Ok(&read));
    });
}
