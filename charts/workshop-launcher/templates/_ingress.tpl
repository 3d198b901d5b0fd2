{{/* Annotations with which Traefik requires a login for an Ingress. Takes (list root login); login is pages, api,
workshops, or none, for the login proxies themselves and for /signed-out. */}}
{{- define "launcher.annotations" -}}
{{- $root := index . 0 }}
{{- $login := index . 1 }}
{{- $middlewares := list "strip" }}
{{- if ne $login "none" }}
{{- $middlewares = append $middlewares $login }}
{{- if $root.Values.proxySecret.enabled }}
{{- $middlewares = ternary "workshops-proof" "launcher-proof" (eq $login "workshops") | append $middlewares }}
{{- end }}
{{- end }}
{{- $names := list }}
{{- range $middlewares }}
{{- $names = printf "%s-%s-%s@kubernetescrd" $root.Release.Namespace (include "launcher.name" $root) . | append $names }}
{{- end -}}
traefik.ingress.kubernetes.io/router.entrypoints: {{ $root.Values.ingress.entryPoint | quote }}
traefik.ingress.kubernetes.io/router.tls: "true"
traefik.ingress.kubernetes.io/router.middlewares: {{ join "," $names }}
{{- end }}

{{/* Annotations of each workshop's Ingress. */}}
{{- define "launcher.workshopAnnotations" -}}
{{ include "launcher.annotations" (list . "workshops") }}
{{- end }}
