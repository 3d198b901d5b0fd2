### The small page that extends a workshop, which the bar above a workshop opens.

extend-title = Prolonger { $name }
ends-at = Fin : { $value }.
extended = L’atelier est prolongé.
cannot-extend = Cet atelier n’est pas en cours, il ne peut donc pas être prolongé.
close-window = Fermer cette fenêtre

beyond-button = Prolonger au-delà du maximum
beyond-title = Prolonger { $name } au-delà du maximum
beyond-question = Prolonger { $name } au-delà de sa durée maximale ?
beyond-warning = Cela ajoute { $added }. La durée maximale de cet atelier est de { $longest }. Le journal d’activité indique qui l’a dépassée, et de combien.
beyond-cancel = Ne pas prolonger
bulk-beyond-question = { $count ->
    [one] Prolonger 1 atelier au-delà de sa durée maximale ?
   *[other] Prolonger { $count } ateliers au-delà de leur durée maximale ?
}
bulk-beyond-warning = Le journal d’activité indique qui a dépassé la durée maximale, et de combien.
at-maximum = { $count ->
    [one] 1 atelier se termine plus tôt, car il a atteint sa durée maximale.
   *[other] { $count } ateliers se terminent plus tôt, car ils ont atteint leur durée maximale.
}
beyond-until = Prolonger au-delà du maximum jusqu’à { $value }
maximum-title = Durée maximale de { $name }
maximum-question = { $count ->
    [one] Appliquer la durée maximale de { $longest } à 1 atelier en cours ?
   *[other] Appliquer la durée maximale de { $longest } à { $count } ateliers en cours ?
}
maximum-warning = { $name } est enregistré. Les nouveaux ateliers ont la nouvelle durée maximale. Les ateliers lancés auparavant gardent la plus courte, sauf si vous appliquez la nouvelle. Aucun atelier ne se termine plus tôt ou plus tard pour autant.
maximum-button = Appliquer aux ateliers en cours
maximum-cancel = Seulement aux nouveaux ateliers
maximum-raised = { $count ->
    [one] 1 atelier a la nouvelle durée maximale.
   *[other] { $count } ateliers ont la nouvelle durée maximale.
}
maximum-raised-text = Ils peuvent maintenant être prolongés jusqu’au nouveau maximum.
