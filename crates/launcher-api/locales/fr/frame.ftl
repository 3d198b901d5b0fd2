### Texts of the frame around every page, and of the script.

product = Workshop Launcher

skip = Aller au contenu

pages = Pages

workshops = Ateliers

history = Historique

overview = Vue d’ensemble

all-instances = Toutes les instances

templates = Modèles

activity = Activité

admin = Admin

sign-out = Se déconnecter

help = Aide

students-guide = Guide étudiant

teachers-guide = Guide enseignant

api-docs = Documentation de l’API

offline = Connexion perdue. Cette page n’est peut-être plus à jour. La reconnexion est automatique.

shares-one-user = Ici, les ateliers ne sont pas isolés les uns des autres.

shares-one-user-advice = Si les personnes ne se font pas confiance, exécutez les ateliers dans des conteneurs ou sur Kubernetes.

isolation = Isolation des ateliers

account = Compte

notify = M’avertir

notify-on = Notifications activées

notify-off = Notifications désactivées

spoken-end = { $name } : se termine dans { $left }

spoken-advice = Enregistrez votre travail, ou prolongez l’atelier.

product-version = Workshop Launcher { $version }

no-authentication = L’authentification est désactivée. À réserver au développement : chaque visiteur est { $email }.

languages = Langue
language-name = Français

older = Plus anciens

filter = Filtre

filter-show = Afficher

filter-reset = Réinitialiser

address-example = name@example.org
