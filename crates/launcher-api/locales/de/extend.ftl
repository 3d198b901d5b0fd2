### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = { $name } verlängern
ends-at = Er endet um { $value }.
extended = Der Workshop ist verlängert.
cannot-extend = Dieser Workshop läuft nicht und kann deshalb nicht verlängert werden.
close-window = Fenster schließen
