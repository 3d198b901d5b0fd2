### Texts of the page of a class, and of the extension of all its workshops.

workshops-of-template = Workshops
workshops-size = Laufen jetzt
workshops-title = Workshops von { $name }
workshops-all-instances = Alle Instanzen dieser Vorlage
workshops-states = Workshops nach Status
workshops-extend-until = Alle Workshops verlängern bis
workshops-extend = Alle verlängern
workshops-extend-hint = Verlängert jeden Workshop, der bereit ist, höchstens bis zu seiner maximalen Laufzeit. Kein Workshop endet früher.
workshops-roster = Wer hat noch nicht gestartet?
workshops-addresses = E-Mail-Adressen
workshops-addresses-hint = Trennen Sie Adressen durch Zeilenumbrüche, Kommas oder Semikolons. Höchstens { $most } Adressen. Sie werden nicht gespeichert.
workshops-compare = Vergleichen
workshops-too-many = Die Liste hat mehr als { $most } Einträge. Es wurde nichts verglichen.
workshops-compared = Ihre Liste
workshops-not-launched = Nicht gestartet
workshops-unreadable = Keine E-Mail-Adresse
workshops-instances = Aktuelle Workshops
workshops-empty = Derzeit gibt es keine Workshops dieser Vorlage.
workshops-part = Diese Seite zeigt { $shown } von { $all } Workshops.
workshops-first = Erste Seite
workshops-result = Verlängerung bis { $value }
workshops-extended = Verlängert bis { $value }
workshops-shortened = Nur bis { $value } verlängert, seiner maximalen Laufzeit
workshops-unchanged = Unverändert: endet um { $value }
workshops-count-extended = Verlängert
workshops-count-shortened = Bis zum Maximum verlängert
workshops-count-unchanged = Unverändert
workshops-count-refused = Nicht verlängert
workshops-nothing-ready = Kein Workshop ist bereit. Nichts wurde verlängert.
workshops-back = Zurück zu den Workshops
workshops-until-invalid = Wählen Sie eine Zeit aus der Liste.

material-trouble-count = Problem mit dem Kursmaterial
