### Texts of the page of a class, and of the extension of all its workshops.

workshops-of-template = Ateliers
workshops-size = En cours
workshops-title = Ateliers de { $name }
workshops-all-instances = Toutes les instances de ce modèle
workshops-states = Ateliers par état
workshops-extend-until = Prolonger tous les ateliers jusqu’à
workshops-extend = Tout prolonger
workshops-extend-hint = Prolonge chaque atelier prêt, au plus jusqu’à sa durée maximale. Aucun atelier ne se termine plus tôt.
workshops-roster = Qui n’a pas lancé d’atelier ?
workshops-addresses = Adresses e-mail
workshops-addresses-hint = Séparez les adresses par des retours à la ligne, des virgules ou des points-virgules. Au maximum { $most } adresses. Elles ne sont pas enregistrées.
workshops-compare = Comparer
workshops-too-many = La liste contient plus de { $most } entrées. Rien n’a été comparé.
workshops-compared = Votre liste
workshops-not-launched = Pas lancé
workshops-unreadable = Pas une adresse e-mail
workshops-instances = Ateliers actuels
workshops-empty = Il n’y a actuellement aucun atelier de ce modèle.
workshops-part = Cette page montre { $shown } des { $all } ateliers.
workshops-first = Première page
workshops-result = Prolongation jusqu’à { $value }
workshops-extended = Prolongé ; nouvelle fin : { $value }
workshops-shortened = Prolongé jusqu’à sa durée maximale ; nouvelle fin : { $value }
workshops-unchanged = Inchangé ; fin : { $value }
workshops-count-extended = Prolongés
workshops-count-shortened = Prolongés jusqu’au maximum
workshops-count-unchanged = Inchangés
workshops-count-refused = Non prolongés
workshops-nothing-ready = Aucun atelier n’est prêt. Rien n’a été prolongé.
workshops-back = Retour aux ateliers
workshops-until-invalid = Choisissez une heure dans la liste.

material-trouble-count = Problème avec le matériel de cours
