### Labels and hints of the fields in the template editor.

# Headings of the groups of fields.
field-shown = Catalog entry

field-run = App

field-used = Resources

field-lasting = Lifetime

field-name = Name
    .hint = 1 to 80 characters.

field-description = Description
    .hint = Markdown, at most 4,000 characters. The card shows the first lines.

field-active = In the catalog
    .hint = Users can launch it. If it leaves the catalog, running workshops keep running.

field-app-type = App type

field-image = Image
    .hint = For example quay.io/jupyter/base-notebook:latest.

field-port = Port
    .hint = Port on which the app listens. Empty: 8787 for RStudio, 8888 for Jupyter. Required for a web app.

field-command = Command
    .hint = { field-words }

field-arguments = Arguments
    .hint = { field-words }

field-environment = Environment
    .hint = One NAME=value per line. For a value with line breaks, write a JSON string: KEY="a\nb". Everyone who launches the workshop can read these values. Do not write secrets here.

field-security-profile = Security profile

field-cpu-request = CPU request
    .hint = Reserved for the workshop. Empty: 100m.

field-cpu-limit = CPU limit
    .hint = Maximum for the workshop. Empty: 2.

field-memory-request = Memory request
    .hint = Reserved for the workshop. Empty: 256Mi.

field-memory-limit = Memory limit
    .hint = Maximum for the workshop. Empty: 2Gi.

field-lifetime = Lifetime in seconds
    .hint = Time from ready to the end. Empty: 7200 (two hours).

field-extension = Extension in seconds
    .hint = Time that one extension adds. Empty: 3600 (one hour).

field-longest = Maximum lifetime in seconds
    .hint = Extensions cannot exceed it. Empty: 28800 (eight hours).

field-words = One word per line. $(PORT) stands for the app's port. For a word with a line break, or with spaces at its start or end, write a JSON string: "a\nb".
