### Labels and hints of the fields in the template editor.

field-shown = Fiche du catalogue

field-run = Application

field-used = Ressources

field-lasting = Durée

field-name = Nom
    .hint = De 1 à 80 caractères.

field-description = Description
    .hint = Markdown, 4 000 caractères au maximum. La carte affiche les premières lignes.

field-active = Au catalogue
    .hint = Les utilisateurs peuvent le lancer. S’il quitte le catalogue, les ateliers en cours continuent.

field-app-type = Type d’application

field-image = Image
    .hint = Par exemple quay.io/jupyter/base-notebook:latest.

field-port = Port
    .hint = Port sur lequel l’application écoute. Par défaut : 8787 pour RStudio, 8888 pour Jupyter. Obligatoire pour une application web.

field-command = Commande
    .hint = { field-words }

field-arguments = Arguments
    .hint = { field-words }

field-environment = Variables d’environnement
    .hint = Une ligne NAME=value par variable. Pour une valeur avec des sauts de ligne, écrivez une chaîne JSON : KEY="a\nb". Toute personne qui lance l’atelier peut lire ces valeurs. N’y mettez pas de secrets.

field-security-profile = Profil de sécurité

field-cpu-request = Demande de CPU
    .hint = Quantité réservée à l’atelier. Par défaut : 100m.

field-cpu-limit = Limite de CPU
    .hint = Maximum pour l’atelier. Par défaut : 2.

field-memory-request = Demande de mémoire
    .hint = Quantité réservée à l’atelier. Par défaut : 256Mi.

field-memory-limit = Limite de mémoire
    .hint = Maximum pour l’atelier. Par défaut : 2Gi.

field-lifetime = Durée en secondes
    .hint = Comptée à partir du moment où l’atelier est prêt. Par défaut : 7200 (deux heures).

field-extension = Prolongation en secondes
    .hint = Temps ajouté par une prolongation. Par défaut : 3600 (une heure).

field-longest = Durée maximale en secondes
    .hint = Les prolongations ne peuvent pas la dépasser. Par défaut : 28800 (huit heures).

field-words = Un mot par ligne. $(PORT) représente le port de l’application. Pour un mot avec un saut de ligne, ou avec des espaces au début ou à la fin, écrivez une chaîne JSON : "a\nb".
