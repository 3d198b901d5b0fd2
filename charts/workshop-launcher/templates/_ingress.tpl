{{/* Annotations with which Traefik requires a login for an Ingress. Takes (list root login); login is pages, api,
workshops, class for paths of workshops that the launcher answers, or none, for the login proxies themselves and for
/signed-out. */}}
{{- define "launcher.annotations" -}}
{{- $root := index . 0 }}
{{- $login := index . 1 }}
{{- $middlewares := list "strip" }}
{{- if ne $login "none" }}
{{- $middlewares = append $middlewares (ternary "workshops" $login (eq $login "class")) }}
{{- if $root.Values.proxySecret.enabled }}
{{- $middlewares = ternary "workshops-proof" "launcher-proof" (eq $login "workshops") | append $middlewares }}
{{- end }}
{{- end }}
{{- $names := list }}
{{- range $middlewares }}
{{- $names = printf "%s-%s-%s@kubernetescrd" $root.Release.Namespace (include "launcher.name" $root) . | append $names }}
{{- end -}}
traefik.ingress.kubernetes.io/router.entrypoints: {{ $root.Values.ingress.entryPoint | quote }}
{{- if eq $root.Values.ingress.scheme "https" }}
traefik.ingress.kubernetes.io/router.tls: "true"
{{- end }}
traefik.ingress.kubernetes.io/router.middlewares: {{ join "," $names }}
{{- end }}

{{/* Name of the Secret with a certificate; empty for the controller's default certificate. Takes (list root value); value is
launcherSecret, workshopsSecret, or none. With an issuer, the chart's Certificates fill Secrets of these default names. In the
workshops' domain, the launcher's certificate is by default the one of the workshops: the wildcard matches its host. */}}
{{- define "launcher.tlsSecret" -}}
{{- $tls := (index . 0).Values.ingress.tls }}
{{- $value := index . 1 }}
{{- if and (eq $value "launcherSecret") (not $tls.launcherSecret) (include "launcher.sharesDomain" (index . 0)) }}
{{- $value = "workshopsSecret" }}
{{- end }}
{{- $names := dict }}
{{- if $tls.issuer.name }}
{{- $name := include "launcher.name" (index . 0) }}
{{- $names = dict "launcherSecret" (printf "%s-certificate" $name) "workshopsSecret" (printf "%s-workshops-certificate" $name) }}
{{- end }}
{{- get $tls $value | default (get $names $value) }}
{{- end }}

{{- define "launcher.certificateProblems" -}}
{{- if .Values.ingress.tls.issuer.name }}
{{- if and (not (include "launcher.sharesDomain" .)) (eq (include "launcher.tlsSecret" (list . "launcherSecret")) (include "launcher.tlsSecret" (list . "workshopsSecret"))) }}
- ingress.tls.launcherSecret and ingress.tls.workshopsSecret must differ, because ingress.tls.issuer.name is set: each Certificate has its own Secret
{{- end }}
{{- range $name := list "cert-manager.io/cluster-issuer" "cert-manager.io/issuer" }}
{{- if hasKey $.Values.ingress.annotations $name }}
- ingress.annotations must not have {{ $name }}, because ingress.tls.issuer.name is set: both would write the same Secrets. Remove one of them
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Annotations of each workshop's Ingress. */}}
{{- define "launcher.workshopAnnotations" -}}
{{ include "launcher.annotations" (list . "workshops") }}
{{- end }}
