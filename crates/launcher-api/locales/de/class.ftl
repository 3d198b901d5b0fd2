### Texts of the page of a class, and of the extension of all its workshops.

class = Kurs
class-size = Laufen jetzt
class-title = Kurs: { $name }
class-all-instances = Alle Instanzen dieser Vorlage
class-states = Workshops nach Status
class-extend-until = Alle Workshops verlängern bis
class-extend = Alle verlängern
class-extend-hint = Verlängert jeden Workshop, der bereit ist, höchstens bis zu seiner maximalen Laufzeit. Kein Workshop endet früher.
class-roster = Wer hat noch nicht gestartet?
class-addresses = E-Mail-Adressen des Kurses
class-addresses-hint = Trennen Sie Adressen durch Zeilenumbrüche, Kommas oder Semikolons. Höchstens { $most } Adressen. Sie werden nicht gespeichert.
class-compare = Vergleichen
class-too-many = Die Liste hat mehr als { $most } Einträge. Es wurde nichts verglichen.
class-compared = Ihre Liste
class-not-launched = Nicht gestartet
class-unreadable = Keine E-Mail-Adresse
class-instances = Aktuelle Workshops
class-empty = Derzeit gibt es keine Workshops dieser Vorlage.
class-part = Diese Seite zeigt { $shown } von { $all } Workshops.
class-first = Erste Seite
class-result = Verlängerung bis { $value }
class-extended = Verlängert bis { $value }
class-shortened = Nur bis { $value } verlängert, seiner maximalen Laufzeit
class-unchanged = Unverändert: endet um { $value }
class-count-extended = Verlängert
class-count-shortened = Bis zum Maximum verlängert
class-count-unchanged = Unverändert
class-count-refused = Nicht verlängert
class-nothing-ready = Kein Workshop ist bereit. Nichts wurde verlängert.
class-back = Zurück zum Kurs
class-until-invalid = Wählen Sie eine Zeit aus der Liste.

material-trouble-count = Problem mit dem Kursmaterial
