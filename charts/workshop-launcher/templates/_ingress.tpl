{{/* The annotations that have Traefik put the login in front of an Ingress. Takes (list root gate), the gate being pages,
api, workshops, or none: for the login proxies themselves. */}}
{{- define "launcher.annotations" -}}
{{- $root := index . 0 }}
{{- $middlewares := ternary (list "strip") (list "strip" (index . 1)) (eq (index . 1) "none") }}
{{- $names := list }}
{{- range $middlewares }}
{{- $names = printf "%s-%s-%s@kubernetescrd" $root.Release.Namespace (include "launcher.name" $root) . | append $names }}
{{- end -}}
traefik.ingress.kubernetes.io/router.entrypoints: {{ $root.Values.ingress.entryPoint | quote }}
traefik.ingress.kubernetes.io/router.tls: "true"
traefik.ingress.kubernetes.io/router.middlewares: {{ join "," $names }}
{{- end }}

{{/* Those of each workshop's Ingress. */}}
{{- define "launcher.workshopAnnotations" -}}
{{ include "launcher.annotations" (list . "workshops") }}
{{- end }}
