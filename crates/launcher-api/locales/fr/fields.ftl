### Labels and hints of the fields in the template editor.

field-shown = Fiche du catalogue

field-run = Application

field-used = Ressources et durée

field-name = Nom
    .hint = De 1 à 80 caractères.

field-description = Description
    .hint = Markdown, 4 000 caractères au maximum. La carte affiche les premières lignes.

field-active = Peut être lancé
    .hint = Si vous décochez cette case, les ateliers en cours continuent.

field-app-type = Type d’application

field-image = Image
    .hint = Par exemple quay.io/jupyter/base-notebook:latest.

field-port = Port
    .hint = Port sur lequel l’application écoute. Par défaut : 8787 pour RStudio, 8888 pour Jupyter. Obligatoire pour une application web.

field-command = Commande
    .hint = { field-words } Par défaut : la commande de l’image.

field-arguments = Arguments
    .hint = { field-words } Par défaut : les arguments de l’image.

field-environment = Variables d’environnement
    .hint = Une ligne NAME=value par variable. Pour une valeur avec des sauts de ligne, écrivez une chaîne JSON : KEY="a\nb". Toute personne qui lance l’atelier peut lire ces valeurs. N’y mettez pas de secrets.

field-security-profile = Profil de sécurité
field-pod-template = Modèle de pod
    .hint = Partie d’un PodTemplateSpec de Kubernetes, en YAML : volumes, variables issues de Secrets, conteneurs d’initialisation, sélecteur de nœuds. Les commentaires sont perdus à l’enregistrement.

field-cpu-request = CPU réservé
    .hint = Nombre de cœurs, par exemple 0.5. Par défaut : 100m.

field-cpu-limit = CPU maximal
    .hint = Nombre de cœurs, par exemple 2 ou 0.5. Par défaut : 2.

field-memory-request = Mémoire réservée
    .hint = Par exemple 512 MB. Par défaut : 256Mi.

field-memory-limit = Mémoire maximale
    .hint = Par exemple 4 GB. Par défaut : 2Gi.

field-lifetime = Durée
    .hint = Comptée à partir du moment où l’atelier est prêt, par exemple 2 h ou 90 min. Par défaut : 2 h.

field-extension = Prolongation
    .hint = Temps ajouté par une prolongation, par exemple 1 h. Par défaut : 1 h.

field-longest = Durée maximale
    .hint = Les prolongations ne peuvent pas la dépasser. Par défaut : 8 h.

field-words = Une ligne comme dans un shell : un texte entre guillemets ("…" ou '…') forme un seul mot. $(PORT) représente le port de l’application.

field-unlisted = Par lien uniquement
    .hint = Le modèle n’apparaît pas dans le catalogue. Toute personne qui dispose du lien peut le lancer.

field-icon = Icône

field-tags = Mots-clés
    .hint = 8 au maximum, séparés par des virgules. Ils aident à trouver le modèle.

field-slug = Lien court
    .hint = Nom qui suit /go/ dans le lien, par exemple statistics-101. De 2 à 40 caractères : lettres minuscules sans accent, chiffres et traits d’union.

field-command-line = Démarrage de l’application

field-more = Limites et lien

field-resources = CPU et mémoire
