### Labels and hints of the fields in the template editor.

# Headings of the groups of fields.
field-shown = Catalog entry

field-run = App

field-used = Size and time

field-name = Name
    .hint = 1 to 80 characters.

field-description = Description
    .hint = Markdown, at most 4,000 characters. The card shows the first lines.

field-active = Can be launched
    .hint = If you turn it off, running workshops keep running.

field-app-type = App type

field-image = Image
    .hint = For example quay.io/jupyter/base-notebook:latest.

field-port = Port
    .hint = Port on which the app listens. Empty: 8787 for RStudio, 8888 for Jupyter. Required for a web app.

field-start-path = Start path
    .hint = Path of the app’s first page, as in /vnc.html?autoconnect=1. Empty: /.

field-plain-tabs = Other tabs without the bar
    .hint = Pages that the app opens in other browser tabs have no bar with the time left. Turn it on only if these pages do not work below the bar.

field-command = Command
    .hint = { field-words } Empty: the command of the image.

field-arguments = Arguments
    .hint = { field-words } Empty: the arguments of the image.

field-environment = Environment
    .hint = Everyone who launches the workshop can read these values. Do not write secrets here. Values can contain $(PORT), $(HOST) and $(ORIGIN).

field-security-profile = Security profile

# Heading of the fields about kept files.
field-files = Files

field-storage = After the end
    .hint = Kept files: the next launch of the same person has them again. Files that are not kept: a crash of the app deletes them at once, unless you choose that they survive a crash. The start then takes a few seconds longer.
    .hint-of-machine = Kept files: the next launch of the same person has them again. Files that are not kept survive a crash of the app. The launcher deletes them at the end.

field-storage-size = Space for kept files
    .hint = For example 5 GB. Empty: 1Gi. Existing saved work keeps its size.

field-storage-path = Directory of the kept files
    .hint = For example /home/jovyan. Empty: the home directory of the standard image. Other apps need a directory.

field-storage-at-expiry = When the time is over
    .hint = A paused workshop keeps its files, and its owner can resume it. Needs kept files.

# Heading of the fields about course material. Also its name in the activity log.
field-material = Course material

field-material-sources = { field-material }
    .hint = Git repositories and archives. Their files are in the workshop when it opens. Workshops can read the addresses. Do not write passwords here.

field-material-directory = Directory of the course material
    .hint = For example /home/jovyan. Empty: the directory of the kept files, or the home directory of the standard image. Other apps need a directory.

field-material-repositories = Repositories that links can name
    .hint = One address per line, as in https://git.example.org/statistics/. A link to this template can then name a repository whose address begins with it. Empty: none.

# Heading of the field with the launch parameters.
field-asked = Questions at the launch

field-parameters = Questions
    .hint = Each launch asks for up to 10 values. The app gets each in an environment variable.

# Label of the text area. Error messages of the other fields of the pod name it.
field-pod-template = Pod template
    .hint = Other settings of the pod, as YAML: part of a Kubernetes PodTemplateSpec, for example with volumes, variables from Secrets, init containers or tolerations. When you save, the launcher adds the fields above to it, and removes comments.

field-shm-size = Shared memory
    .hint = Size of /dev/shm, such as 1 GB. Used shared memory counts as memory of the app. Empty: 64 MiB.

field-gpu-count = NVIDIA GPUs
    .hint = Number of GPUs, such as 1. Empty or 0: none.

field-ephemeral-storage = Maximum disk space
    .hint = Limit of ephemeral-storage, such as 10 GB. Kubernetes evicts a workshop that uses more. Empty: no limit.

field-image-pull-secret = Image pull Secret
    .hint = Name of the Secret with the password of the image registry. Empty: the Secrets of the installation.

field-node-selector = Node selector
    .hint = One key=value per line. Workshops run only on nodes that have all these labels.

field-cpu-request = Reserved CPU
    .hint = Number of cores, such as 0.5. Empty: 100m.

field-cpu-limit = Maximum CPU
    .hint = Number of cores, such as 2 or 0.5. Empty: 2.

field-memory-request = Reserved memory
    .hint = For example 512 MB. Empty: 256Mi.

field-memory-limit = Maximum memory
    .hint = For example 4 GB. Empty: 2Gi.

field-lifetime = Lifetime
    .hint = Time from ready to the end, such as 2 h or 90 min. Empty: 2 h.

field-extension = Extension
    .hint = Time that one extension adds, such as 1 h. Empty: 1 h.

field-longest = Maximum lifetime
    .hint = Extensions cannot exceed it. Empty: 8 h.

field-words = A line as in a shell: quotation marks keep words together. $(PORT) stands for the port of the app. $(HOST) and $(ORIGIN) stand for the host and the origin of the workshop, as in intro.example.org and https://intro.example.org.

field-unlisted = Only by link
    .hint = The template is not in the catalog. Everyone who has its link can launch it.

field-icon = Icon

field-color = Colour

field-tags = Tags
    .hint = Up to 8 words that help to find the template, separated by commas.

field-slug = Short link
    .hint = A name for the link /go/name, for example statistics-101. Use 2 to 40 lower-case letters, digits and hyphens. A new template without one gets it from its name.

field-command-line = Start of the app

field-pod = Pod on Kubernetes

# Name of the four fields for CPU and memory together, in the activity log.
field-resources = CPU and memory

# Headings of the rows of a list, with the label of the button that adds a row.
row-source = Source { $number }
    .add = Add a repository
row-question = Question { $number }
    .add = Add a question
row-variable = Variable { $number }
    .add = Add a variable

# Parts of a source of course material.
part-url = Address
    .hint = A repository or an archive, as in https://git.example.org/statistics/101.git.
part-ref = Branch, tag or commit
    .hint = Empty: the default branch. Only for a repository.
part-folder = Only this folder
    .hint = For example week1. Empty: all files.
part-target = Folder in the workshop
    .hint = Empty: the end of the address, such as 101.
part-sha256 = Checksum of the archive
    .hint = SHA-256. The button Check fills it in.
part-secret = Secret
    .hint = For a private source: the name of a secret that the administrator has created. Not a password.

# Parts of a question at the launch.
part-label = Question
part-kind = Kind of answer
part-choices = Choices
    .hint = One per line. Only for a choice from a list.
part-required = An answer is required
part-variable = Environment variable
    .hint = Empty: from the question, such as DATA_SET.
part-help = Help text
part-default = Default answer
    .hint = Not for secret texts.
part-min = Minimum
    .hint = Only for numbers.
part-max = Maximum
    .hint = Only for numbers.
part-integer = Only whole numbers
part-max-length = Maximum length
    .hint = In characters. Empty: 200. Only for texts.

# Parts of an environment variable.
part-name = Name of the variable
part-value = Value

# Kinds of answers to a question.
answer-text = Text
answer-choice = Choice from a list
answer-number = Number
answer-secret = Secret text
