{{/* Checks of the values for the ingress controller gateway. */}}

{{- define "launcher.gatewayProblems" -}}
{{- if eq .Values.ingress.controller "gateway" }}
{{- $gateway := .Values.ingress.gateway }}
{{- if $gateway.name }}
{{- if .Values.ingress.className }}
- ingress.className and ingress.gateway.name exclude each other: with the class, the chart creates a Gateway; with the name, its routes use an existing one
{{- end }}
{{- range $name := list "launcherListener" "workshopsListener" }}
{{- if not (get $gateway $name) }}
- ingress.gateway.{{ $name }} is missing: the name of an HTTPS listener of the Gateway {{ $gateway.name }}
{{- end }}
{{- end }}
{{- $tls := .Values.ingress.tls }}
{{- if or $tls.launcherSecret $tls.workshopsSecret $tls.issuer.name }}
- ingress.tls must be empty, because ingress.gateway.name is set: the listeners of that Gateway name their certificates
{{- end }}
{{- else }}
{{- if not .Values.ingress.className }}
- ingress.className is missing: the GatewayClass of the Gateway that the chart creates. Or name an existing Gateway in ingress.gateway.name
{{- end }}
{{- range $name := list "launcherSecret" "workshopsSecret" }}
{{- if not (include "launcher.tlsSecret" (list $ $name)) }}
- ingress.tls.{{ $name }} is missing: the listeners of a Gateway have no default certificate. Or let cert-manager issue it: ingress.tls.issuer.name
{{- end }}
{{- end }}
{{- range $name := list "namespace" "launcherListener" "workshopsListener" }}
{{- if get $gateway $name }}
- ingress.gateway.name is missing: without it, ingress.gateway.{{ $name }} has no effect
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
