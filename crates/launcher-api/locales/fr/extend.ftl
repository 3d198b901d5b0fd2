### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = Prolonger { $name }
ends-at = Fin : { $value }.
extended = L’atelier est prolongé.
cannot-extend = Cet atelier n’est pas en cours, il ne peut donc pas être prolongé.
close-window = Fermer cette fenêtre
