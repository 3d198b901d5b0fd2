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

field-start-path = Chemin de départ
    .hint = Chemin de la première page de l’application, par exemple /vnc.html?autoconnect=1. Par défaut : /.

field-plain-tabs = Autres onglets sans la barre
    .hint = Les pages que l’application ouvre dans d’autres onglets du navigateur n’ont pas la barre avec le temps restant. Cochez cette case seulement si ces pages ne fonctionnent pas sous la barre.

field-command = Commande
    .hint = { field-words } Par défaut : la commande de l’image.

field-arguments = Arguments
    .hint = { field-words } Par défaut : les arguments de l’image.

field-environment = Variables d’environnement
    .hint = Toute personne qui lance l’atelier peut lire ces valeurs. N’écrivez pas de secrets ici. Les valeurs peuvent contenir $(PORT), $(HOST) et $(ORIGIN).

field-security-profile = Profil de sécurité
field-files = Fichiers
field-storage = Après la fin
    .hint = Fichiers conservés : le prochain lancement de la même personne les retrouve. Autres fichiers : un plantage de l’application les supprime aussitôt, sauf si vous choisissez qu’ils survivent à un plantage. Le démarrage dure alors quelques secondes de plus.
    .hint-of-machine = Fichiers conservés : le prochain lancement de la même personne les retrouve. Les autres fichiers survivent à un plantage de l’application et sont supprimés à la fin.
field-storage-size = Espace pour les fichiers conservés
    .hint = Par exemple 5 GB. Vide : 1Gi. Les fichiers existants gardent leur espace.
field-storage-path = Répertoire des fichiers conservés
    .hint = Par exemple /home/jovyan. Vide : le répertoire personnel de l’image standard. Les autres applications ont besoin d’un répertoire.

field-storage-at-expiry = Quand le temps est écoulé
    .hint = Un atelier en pause continue avec ses fichiers quand la personne le reprend. Nécessite des fichiers conservés.
field-material = Matériel de cours
field-material-sources = { field-material }
    .hint = Dépôts git et archives. Leurs fichiers sont dans l’atelier à son ouverture. Les ateliers peuvent lire les adresses. N’écrivez pas de mots de passe ici.
field-material-directory = Répertoire du matériel de cours
    .hint = Par exemple /home/jovyan. Vide : le répertoire des fichiers conservés ou le répertoire personnel de l’image standard. Les autres applications ont besoin d’un répertoire.
field-material-repositories = Dépôts que les liens peuvent indiquer
    .hint = Une adresse par ligne, par exemple https://git.example.org/statistics/. Un lien vers ce modèle peut alors indiquer un dépôt dont l’adresse commence ainsi. Vide : aucun.
field-asked = Questions au lancement
field-parameters = Questions
    .hint = Chaque lancement demande jusqu’à 10 valeurs. L’application reçoit chacune dans une variable d’environnement.
field-pod-template = Modèle de pod
    .hint = Autres réglages du pod, en YAML : partie d’un PodTemplateSpec de Kubernetes, par exemple avec des volumes, des variables issues de Secrets, des conteneurs d’initialisation ou des tolérances. À l’enregistrement, les champs ci-dessus y sont ajoutés et les commentaires sont perdus.

field-shm-size = Mémoire partagée
    .hint = Taille de /dev/shm, par exemple 1 GB. La partie utilisée compte dans la mémoire de l’application. Par défaut : 64 MiB.

field-gpu-count = GPU NVIDIA
    .hint = Nombre de GPU, par exemple 1. Vide ou 0 : aucun.

field-ephemeral-storage = Espace disque maximal
    .hint = Limite de ephemeral-storage, par exemple 10 GB. Kubernetes expulse un atelier qui en utilise plus. Vide : aucune limite.

field-image-pull-secret = Secret pour le registre d’images
    .hint = Nom du Secret qui contient le mot de passe du registre d’images. Par défaut : les Secrets de l’installation.

field-node-selector = Sélecteur de nœuds
    .hint = Une ligne key=value par label. Les ateliers ne s’exécutent que sur les nœuds qui ont tous ces labels.

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

field-words = Une ligne comme dans un shell : un texte entre guillemets ("…" ou '…') forme un seul mot. $(PORT) représente le port de l’application. $(HOST) et $(ORIGIN) représentent l’hôte et l’origine de l’atelier, par exemple intro.example.org et https://intro.example.org.

field-unlisted = Par lien uniquement
    .hint = Le modèle n’apparaît pas dans le catalogue. Toute personne qui dispose du lien peut le lancer.

field-icon = Icône

field-color = Couleur

field-tags = Mots-clés
    .hint = 8 au maximum, séparés par des virgules. Ils aident à trouver le modèle.

field-slug = Lien court
    .hint = Un nom pour le lien /go/name, par exemple statistiques-101. De 2 à 40 caractères : lettres minuscules, chiffres et traits d’union. Un nouveau modèle sans lien court le reçoit de son nom.

field-command-line = Démarrage de l’application

field-pod = Pod sur Kubernetes

field-resources = CPU et mémoire

row-source = Source { $number }
    .add = Ajouter un dépôt
row-question = Question { $number }
    .add = Ajouter une question
row-variable = Variable { $number }
    .add = Ajouter une variable

part-url = Adresse
    .hint = Un dépôt ou une archive, par exemple https://git.example.org/statistics/101.git.
part-ref = Branche, étiquette ou commit
    .hint = Vide : la branche par défaut. Seulement pour un dépôt.
part-folder = Seulement ce dossier
    .hint = Par exemple week1. Vide : tous les fichiers.
part-target = Dossier dans l’atelier
    .hint = Vide : la fin de l’adresse, par exemple 101.
part-sha256 = Somme de contrôle de l’archive
    .hint = SHA-256. Le bouton Vérifier la remplit.
part-secret = Secret
    .hint = Pour une source privée : le nom d’un secret créé par l’administration. Pas un mot de passe.

part-label = Question
part-kind = Type de réponse
part-choices = Choix
    .hint = Un par ligne. Seulement pour un choix dans une liste.
part-required = Une réponse est obligatoire
part-variable = Variable d’environnement
    .hint = Vide : d’après la question, par exemple DONNEES.
part-help = Texte d’aide
part-default = Réponse par défaut
    .hint = Pas pour les textes secrets.
part-min = Minimum
    .hint = Seulement pour les nombres.
part-max = Maximum
    .hint = Seulement pour les nombres.
part-integer = Seulement des nombres entiers
part-max-length = Longueur maximale
    .hint = En caractères. Vide : 200. Seulement pour les textes.

part-name = Nom de la variable
part-value = Valeur

answer-text = Texte
answer-choice = Choix dans une liste
answer-number = Nombre
answer-secret = Texte secret
