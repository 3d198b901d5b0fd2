### Texts of the list of templates, and of the editor.

# Heading of an empty form, and label of the link to it.
editor-new-template = New template

# Column head: whether the template is in the catalog or archived.
editor-in-catalog = In the catalog

# State of a template that is in the catalog.
editor-yes = Yes

# State of a template that is not in the catalog.
editor-archived = Archived

# Column head: time of the last change.
editor-changed = Changed

# Column head: the buttons of a template.
editor-actions = Actions

# Link that opens the editor.
editor-edit = Edit

# Link that opens the editor with a copy of the template.
editor-duplicate = Duplicate

# Button that removes the template from the catalog.
editor-archive = Archive

# Button that puts the template back into the catalog.
editor-restore = Restore

# Link from the editor to the list.
editor-all-templates = All templates

# Button that saves a new template.
editor-create = Create template

# Button that saves an existing template.
editor-save = Save changes

# Button that shows a preview without saving.
editor-show-preview = Preview

# Button that saves the template, then opens its launch page.
editor-save-and-try = Save and try it

# Link that leaves the editor without saving.
editor-cancel = Cancel

# Heading of the preview.
editor-preview-title = Preview

# Explains the preview.
editor-preview = Nothing is saved yet. Below are the card in the catalog and the template's page.

# Title of the notice if another admin saved the template first.
editor-conflict-title = Another administrator changed this template while you edited it.

# Text of the notice if another admin saved the template first.
editor-conflict = Your changes are not saved yet. They are in the form below. To see the other changes, open this page in a second tab. If you save again, your changes replace them.

# Heading of a form with errors.
editor-form-has-errors = Nothing was saved. Correct these fields:

# Error of the field with the app type.
editor-not-a-kind = Choose an app type from the list.

# Error of the field with the security profile.
editor-not-a-profile = Choose a profile from the list.

# Error of the field for kept files.
editor-not-a-storage = Choose an entry from the list.

# Error of a field that needs a number.
editor-not-a-number = Enter a whole number.

# Names the author of a template.
editor-created-by = created by { $author }
# Author of a template that no person wrote.
editor-the-service = the service

# Name of a template's copy.
editor-copy-of = Copy of { $name }

# Error of one word in a list, with the position of the word.
editor-wrong-word = Word { $number }: { $wrong }

# Error of one entry in a list of course material, with the position of the entry.
editor-wrong-entry = Entry { $number }: { $wrong }

# Error of a line that repeats a variable.
editor-second-time = Another row sets { $name }. Set each variable once.

# Heading of the list of presets of a new template.
editor-presets = Start with
# Link to the documentation of the app of a preset.
editor-preset-source = Documentation of { $name }
# Text above a Dockerfile. “Image” is the label of the field.
editor-preset-no-image = There is no public image. Build one from this Dockerfile, push it to your registry, and write its name into the field Image. The files beside the Dockerfile become files of the app.
# Names of the presets, and of templates that are made from them.
preset-jupyterlab = JupyterLab
preset-rstudio = RStudio
preset-vscode = VS Code
preset-marimo = marimo
preset-streamlit = Streamlit
preset-gradio = Gradio
preset-shiny = Shiny for Python
preset-dash = Dash
preset-panel = Panel
preset-voila = Voila
preset-terminal = Terminal
preset-desktop = Desktop
preset-web = Web app

# Errors of the field with the pod template: the text is not YAML, or no object. `message` is the parser's English sentence.
editor-not-yaml = Line { $line } is not YAML: { $message }
editor-not-a-yaml-object = Write an object of YAML, with the fields metadata and spec.

# Error of a field with a size.
editor-not-a-size = Write a size with its unit, such as 512 MB, 10 GB or 2 GiB.
# Error of the field with the number of GPUs.
editor-not-a-gpu-count = Enter a whole number from 0 to { $most }.
# Error of the field with the image pull Secret.
editor-not-a-secret-name = Write the name of one Secret: lower-case letters, digits, hyphens and full stops.
# Errors of the field with the node selector: a line without a key and a value, and a line that repeats a key.
editor-not-a-label = Line { $line } is not a label. Write key=value.
editor-repeated-label = Line { $line } repeats the key { $name }. Write each key once.
# Error of a field whose setting is also in the field with the pod template. `setting` is its name in YAML.
editor-set-in-yaml = The field Pod template also has { $setting }. Remove it there, or clear this field.

# Error of the command, if it starts with [ but is not a JSON list.
editor-not-a-list = Write a shell line, or a JSON list of texts such as ["sh", "-c", "…"].
# Error of the field with the icon.
editor-not-an-icon = Choose an icon from the list.

# Error of the field with the colour.
editor-not-a-color = Choose a colour from the list.

# Notice after saving, before the name of the template. Its link and QR code follow.
editor-saved = Saved. Give your class this link:
# State of a template that is not in the catalog, but can be launched by its link.
editor-by-link = Only by link

# States of a template's image on the server of the container fleet.
image-ready = Image ready on this server
image-missing = Image not on this server
image-pulling = Downloading the image
image-failed = The image was not downloaded

# State of an image during its download, with the downloaded part.
image-pulling-percent = Downloading: { $percent } %

# State of a downloaded image that is not ready yet: the server unpacks it.
image-unpacking = Unpacking the downloaded image

# Button that downloads an image before the first launch of its template.
image-download = Download now

# Button that downloads an image again after a failure.
image-retry = Try again

# Title of the notice after the button "Download now".
image-begun-title = The image is being downloaded.

# Text of the notice after the button "Download now".
image-begun = The download for { $name } continues if you leave this page.

# Remedies after a failed download.
image-check-template = Check the name and the tag of the image in the template. The registry must allow downloads without a login.
image-check-registry = Check that the server can reach the registry. Then try again.
image-check-disk = Remove images that are not in use from the server. Then try again.

# Label that opens the fields that most templates do not need, and the other parts of a row.
editor-more = More

# Buttons that remove a row, and check the address of course material.
editor-remove = Remove
editor-check = Check

# Stands before the short link that the name of a new template gives.
editor-short-link = Link for your class:

# Error of a field with a list.
editor-not-in-list = Choose an entry from the list.

# Error of a field that needs a number.
editor-not-decimal = Enter a number such as 12 or 0.5.

# Result of a check: number of files, and their size.
editor-found-files = { $files ->
    [one] 1 file
   *[other] { $files } files
 }, { $size }

# Results of a check: the found branch or tag with its commit, or an archive.
editor-found-branch = Found: branch { $ref }, commit { $version }
editor-found-commit = Found: commit { $version }
editor-found-archive = Found: an archive

# Joins a result and the number of files.
editor-joined-facts = { $first }, { $second }.

# Results of a check without an answer.
editor-check-busy = Other checks are in progress. Try again in half a minute.
editor-check-failed = The address could not be checked. Try again, or save the template and try it.

# Notice about a form with course material that was not found, and its button.
editor-unfound-title = Nothing is saved yet: course material was not found.
editor-unfound = Correct the addresses below. Or save the template anyway: its workshops then start without these files.
editor-save-anyway = Save anyway

# Choice of the resources by a size, as in "Small: 1 to 2 CPU, 1Gi to 2Gi memory".
editor-size = Size
editor-size-figures = { $cpu_request } to { $cpu_limit } CPU, { $memory_request } to { $memory_limit } memory
editor-size-other = Other
editor-size-other-figures = The figures below “{ editor-more }” apply
size-small = Small
size-medium = Medium
size-large = Large

# Hint of the field Image in a class with a policy. $images: the allowed images.
editor-class-images = This class allows these images: { $images }
