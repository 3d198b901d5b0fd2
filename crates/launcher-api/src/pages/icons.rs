//! Icons of templates, as SVG paths for a view box of 24 units. Pages contain them, so a page loads no further files.

use launcher_domain::template::Icon;

/// Returns the path of an icon. It is drawn with a stroke, without a fill.
pub(crate) fn path(icon: Icon) -> &'static str {
    match icon {
        Icon::Notebook => "M6 3h12v18H6zM10 3v18M3 7h3M3 12h3M3 17h3",
        Icon::Statistics => "M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6",
        Icon::Code => "M9 7l-5 5 5 5M15 7l5 5-5 5",
        Icon::Terminal => "M3 5h18v14H3zM7 9l3 3-3 3M12 15h5",
        Icon::Web => "M3 5h18v14H3zM3 9h18M6 7h.01M9 7h.01",
        Icon::Database => "M5 6c0-4 14-4 14 0v12c0 4-14 4-14 0zM5 6c0 4 14 4 14 0M5 12c0 4 14 4 14 0",
        Icon::Chart => "M4 4v16h16M7 15l4-5 3 3 5-7",
        Icon::Globe => "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18",
        Icon::Book => "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
        Icon::Flask => "M9 3h6M10 3v6L4 20h16L14 9V3M7 15h10",
    }
}
