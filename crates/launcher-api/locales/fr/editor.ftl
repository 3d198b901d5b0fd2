### Texts of the list of templates, and of the editor.

editor-new-template = Nouveau modèle

editor-in-catalog = Au catalogue

editor-yes = Oui

editor-archived = Archivé

editor-changed = Modifié

editor-actions = Actions

editor-edit = Modifier

editor-duplicate = Dupliquer

editor-archive = Archiver

editor-restore = Restaurer

editor-all-templates = Tous les modèles

editor-create = Créer le modèle

editor-save = Enregistrer

editor-show-preview = Aperçu

editor-save-and-try = Enregistrer et essayer

editor-cancel = Annuler

editor-preview-title = Aperçu

editor-preview = Rien n’est encore enregistré. Voici la carte dans le catalogue et la page du modèle.

editor-conflict-title = Un autre administrateur a modifié ce modèle pendant que vous le modifiiez.

editor-conflict = Vos modifications ne sont pas encore enregistrées. Elles figurent dans le formulaire ci-dessous. Pour voir celles de l’autre administrateur, ouvrez cette page dans un deuxième onglet. Si vous enregistrez de nouveau, les vôtres les remplaceront.

editor-form-has-errors = Rien n’a été enregistré. Corrigez ces champs :

editor-not-a-kind = Choisissez un type d’application dans la liste.

editor-not-a-profile = Choisissez un profil dans la liste.

editor-not-a-storage = Choisissez une entrée de la liste.

editor-not-a-number = Saisissez un nombre entier.

editor-created-by = créé par { $author }
editor-the-service = le service

editor-copy-of = Copie de { $name }

editor-wrong-word = Mot { $number } : { $wrong }

editor-wrong-entry = Entrée { $number } : { $wrong }

editor-second-time = Une autre ligne définit { $name }. Définissez chaque variable une seule fois.

editor-presets = Point de départ
editor-preset-source = Documentation de { $name }
editor-preset-no-image = Il n’y a pas d’image publique. Construisez-en une avec ce Dockerfile, envoyez-la dans votre registre et écrivez son nom dans le champ Image. Les fichiers à côté du Dockerfile deviennent des fichiers de l’application.
preset-jupyterlab = JupyterLab
preset-rstudio = RStudio
preset-vscode = VS Code
preset-marimo = marimo
preset-streamlit = Streamlit
preset-gradio = Gradio
preset-shiny = Shiny pour Python
preset-dash = Dash
preset-panel = Panel
preset-voila = Voila
preset-terminal = Terminal
preset-desktop = Bureau
preset-web = Application web

editor-not-yaml = La ligne { $line } n’est pas du YAML : { $message }
editor-not-a-yaml-object = Écrivez un objet YAML avec les champs metadata et spec.
editor-not-a-size = Indiquez une taille avec l’unité en anglais, par exemple 512 MB, 10 GB ou 2 GiB.
editor-not-a-gpu-count = Saisissez un nombre entier de 0 à { $most }.
editor-not-a-secret-name = Indiquez le nom d’un seul Secret : lettres minuscules, chiffres, traits d’union et points.
editor-not-a-label = La ligne { $line } n’est pas un label. Écrivez key=value.
editor-repeated-label = La ligne { $line } répète la clé { $name }. Écrivez chaque clé une seule fois.
editor-set-in-yaml = Le champ Modèle de pod contient aussi { $setting }. Retirez-le de ce champ, ou videz celui-ci.

editor-not-a-list = Écrivez une ligne de shell, ou une liste JSON de chaînes comme ["sh", "-c", "…"].
editor-not-an-icon = Choisissez une icône dans la liste.

editor-not-a-color = Choisissez une couleur dans la liste.

editor-saved = Modèle enregistré. Donnez ce lien à vos étudiants :
editor-by-link = Par lien uniquement

image-ready = Image prête sur ce serveur
image-missing = Image absente de ce serveur
image-pulling = Téléchargement de l’image
image-failed = L’image n’a pas été téléchargée

image-pulling-percent = Téléchargement : { $percent } %
image-unpacking = Décompression de l’image téléchargée

image-download = Télécharger maintenant

image-retry = Réessayer

image-begun-title = L’image est en cours de téléchargement.

image-begun = Le téléchargement pour { $name } continue si vous quittez cette page.

image-check-template = Vérifiez le nom et le tag de l’image dans le modèle. Le registre doit autoriser les téléchargements sans connexion.
image-check-registry = Vérifiez que le serveur peut joindre le registre. Puis réessayez.
image-check-disk = Supprimez du serveur les images inutilisées. Puis réessayez.

editor-more = Plus

editor-remove = Retirer
editor-check = Vérifier

editor-short-link = Lien pour votre cours :

editor-not-in-list = Choisissez une entrée de la liste.

editor-not-decimal = Saisissez un nombre, par exemple 12 ou 0.5.

editor-found-files = { $files ->
    [one] { $files } fichier
   *[other] { $files } fichiers
 }, { $size }

editor-found-branch = Trouvé : branche { $ref }, commit { $version }
editor-found-commit = Trouvé : commit { $version }
editor-found-archive = Trouvé : une archive

editor-joined-facts = { $first }, { $second }.

editor-check-busy = D’autres vérifications sont en cours. Réessayez dans une demi-minute.
editor-check-failed = L’adresse n’a pas pu être vérifiée. Réessayez, ou enregistrez le modèle et essayez-le.

editor-unfound-title = Rien n’est encore enregistré : du matériel de cours est introuvable.
editor-unfound = Corrigez les adresses ci-dessous. Ou enregistrez quand même le modèle : ses ateliers démarrent alors sans ces fichiers.
editor-save-anyway = Enregistrer quand même

editor-size = Taille
editor-size-figures = de { $cpu_request } à { $cpu_limit } CPU, de { $memory_request } à { $memory_limit } de mémoire
editor-size-other = Autre
editor-size-other-figures = Les valeurs sous « { editor-more } » s’appliquent
size-small = Petite
size-medium = Moyenne
size-large = Grande

editor-class-images = Ce cours autorise ces images : { $images }
