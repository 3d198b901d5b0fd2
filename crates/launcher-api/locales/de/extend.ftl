### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = { $name } verlängern
ends-at = Er endet um { $value }.
extended = Der Workshop ist verlängert.
cannot-extend = Dieser Workshop läuft nicht und kann deshalb nicht verlängert werden.
close-window = Fenster schließen

beyond-button = Über das Maximum hinaus verlängern
beyond-title = { $name } über das Maximum hinaus verlängern
beyond-question = { $name } über die maximale Laufzeit hinaus verlängern?
beyond-warning = Damit kommen { $added } hinzu. Die maximale Laufzeit dieses Workshops ist { $longest }. Das Protokoll zeigt, wer sie überschritten hat, und um wie viel.
beyond-cancel = Nicht verlängern
bulk-beyond-question = { $count ->
    [one] 1 Workshop über seine maximale Laufzeit hinaus verlängern?
   *[other] { $count } Workshops über ihre maximale Laufzeit hinaus verlängern?
}
bulk-beyond-warning = Das Protokoll zeigt, wer die maximale Laufzeit überschritten hat, und um wie viel.
at-maximum = { $count ->
    [one] 1 Workshop endet früher, weil er seine maximale Laufzeit erreicht hat.
   *[other] { $count } Workshops enden früher, weil sie ihre maximale Laufzeit erreicht haben.
}
beyond-until = Über das Maximum hinaus bis { $value } verlängern
maximum-title = Maximale Laufzeit von { $name }
maximum-question = { $count ->
    [one] Die maximale Laufzeit von { $longest } auf 1 laufenden Workshop anwenden?
   *[other] Die maximale Laufzeit von { $longest } auf { $count } laufende Workshops anwenden?
}
maximum-warning = { $name } ist gespeichert. Neue Workshops bekommen die neue maximale Laufzeit. Früher gestartete Workshops behalten die kürzere, außer Sie wenden die neue an. Kein Workshop endet dadurch früher oder später.
maximum-button = Auf laufende Workshops anwenden
maximum-cancel = Nur für neue Workshops
maximum-raised = { $count ->
    [one] 1 Workshop hat die neue maximale Laufzeit.
   *[other] { $count } Workshops haben die neue maximale Laufzeit.
}
maximum-raised-text = Sie lassen sich jetzt bis zum neuen Maximum verlängern.
