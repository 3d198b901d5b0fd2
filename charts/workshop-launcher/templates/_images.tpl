{{/* Images. A value of images is a reference, or a map with the keys repository, tag, digest and pullPolicy. */}}

{{/* Reference of an image. Takes (list root image), where image is a key of images. */}}
{{- define "launcher.image" -}}
{{- $image := get (index . 0).Values.images (index . 1) | default "" }}
{{- if kindIs "map" $image }}
{{- $own := has (index . 1) (list "launcher" "sidecar" "material") }}
{{- $tag := $image.tag | default (ternary (index . 0).Chart.AppVersion "" (and $own (not $image.digest))) }}
{{- $image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- else }}
{{- $image }}
{{- end }}
{{- end }}

{{/* Pull policy of an image. Takes (list root image). */}}
{{- define "launcher.pullPolicy" -}}
{{- $image := get (index . 0).Values.images (index . 1) | default "" }}
{{- $own := ternary $image dict (kindIs "map" $image) }}
{{- $own.pullPolicy | default (index . 0).Values.images.pullPolicy }}
{{- end }}

{{- define "launcher.imageProblems" -}}
{{- range $name := list "launcher" "sidecar" "material" "oauth2Proxy" "front" }}
{{- $image := get $.Values.images $name }}
{{- if kindIs "map" $image }}
{{- if not $image.repository }}
- images.{{ $name }}.repository is missing: the image's name without tag and digest, as in registry.example.org/{{ $name | lower }}
{{- else if and (has $name (list "oauth2Proxy" "front")) (not (or $image.tag $image.digest)) }}
- images.{{ $name }}.tag is missing: set it, or images.{{ $name }}.digest
{{- end }}
{{- else if not (or $image (eq $name "material")) }}
- images.{{ $name }} is missing: the reference of an image in your registry{{ if has $name (list "launcher" "sidecar") }}, which images/build.sh prepares. The chart of a release names its images itself{{ end }}
{{- end }}
{{- end }}
{{- end }}
