### Texts of the page of a class, and of the extension of all its workshops.

class = Cours
class-size = En cours
class-title = Cours : { $name }
class-all-instances = Toutes les instances de ce modèle
class-states = Ateliers par état
class-extend-until = Prolonger tous les ateliers jusqu’à
class-extend = Tout prolonger
class-extend-hint = Prolonge chaque atelier prêt, au plus jusqu’à sa durée maximale. Aucun atelier ne se termine plus tôt.
class-roster = Qui n’a pas lancé d’atelier ?
class-addresses = Adresses e-mail du cours
class-addresses-hint = Séparez les adresses par des retours à la ligne, des virgules ou des points-virgules. Au maximum { $most } adresses. Elles ne sont pas enregistrées.
class-compare = Comparer
class-too-many = La liste contient plus de { $most } entrées. Rien n’a été comparé.
class-compared = Votre liste
class-not-launched = Pas lancé
class-unreadable = Pas une adresse e-mail
class-instances = Ateliers actuels
class-empty = Il n’y a actuellement aucun atelier de ce modèle.
class-part = Cette page montre { $shown } des { $all } ateliers.
class-first = Première page
class-result = Prolongation jusqu’à { $value }
class-extended = Prolongé ; nouvelle fin : { $value }
class-shortened = Prolongé jusqu’à sa durée maximale ; nouvelle fin : { $value }
class-unchanged = Inchangé ; fin : { $value }
class-count-extended = Prolongés
class-count-shortened = Prolongés jusqu’au maximum
class-count-unchanged = Inchangés
class-count-refused = Non prolongés
class-nothing-ready = Aucun atelier n’est prêt. Rien n’a été prolongé.
class-back = Retour au cours
class-until-invalid = Choisissez une heure dans la liste.

material-trouble-count = Problème avec le matériel de cours
