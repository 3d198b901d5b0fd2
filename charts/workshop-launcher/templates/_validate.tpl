{{/* Reports all missing and conflicting values in one message. values.schema.json checks single values. */}}

{{- define "launcher.problems" -}}
{{- if not .Values.host }}
- host is missing: the host name of the launcher, as in launcher.example.org
{{- end }}
{{- if not .Values.workshops.domain }}
- workshops.domain is missing: the domain whose subdomains are the workshops, as in workshops.example.net
{{- else if or (eq .Values.host .Values.workshops.domain) (hasSuffix (printf ".%s" .Values.workshops.domain) .Values.host) }}
- host must not lie in workshops.domain: workshops could set cookies for the launcher. Use another registrable domain
{{- end }}
{{- if eq .Values.workshops.namespace .Release.Namespace }}
- workshops.namespace must not be the release's own namespace, {{ .Release.Namespace }}: workshops run third-party code
{{- end }}
{{- range $name := list "launcher" "sidecar" }}
{{- if not (get $.Values.images $name) }}
- images.{{ $name }} is missing: the reference of an image in your registry; images/build.sh prepares it
{{- end }}
{{- end }}
{{- if eq .Values.ingress.controller "traefik" }}
{{- range $name, $_ := include "launcher.annotations" (list . "pages") | fromYaml }}
{{- if hasKey $.Values.ingress.annotations $name }}
- ingress.annotations must not have {{ $name }}: the chart sets it to require a login
{{- end }}
{{- end }}
{{- end }}
{{- include "launcher.loginProblems" . }}
{{- include "launcher.proxySecretProblems" . }}
{{- include "launcher.frontProblems" . }}
{{- include "launcher.databaseProblems" . }}
{{- if and (or .Values.traces.headersSecret .Values.traces.resourceAttributes) (not .Values.traces.endpoint) }}
- traces.endpoint is missing: traces.headersSecret and traces.resourceAttributes have no effect without it
{{- end }}
{{- if and .Values.networkPolicy.enabled .Values.monitoring.serviceMonitor.enabled (not .Values.monitoring.namespace) }}
- monitoring.namespace is missing: the namespace of Prometheus, the only one that the NetworkPolicies let read metrics
{{- end }}
{{- if and .Values.monitoring.prometheusRule.enabled (not .Values.monitoring.serviceMonitor.enabled) }}
- monitoring.serviceMonitor.enabled is missing: without its metrics the alerts of monitoring.prometheusRule report all programs as down
{{- end }}
{{- end }}

{{- define "launcher.loginProblems" -}}
{{- if not .Values.login.provider }}
- login.provider is missing: google, github or oidc
{{- end }}
{{- if not .Values.login.emailDomains }}
- login.emailDomains is missing: the domains whose addresses may log in, as in [example.org], or ["*"] for every account of the provider
{{- end }}
{{- range $name := list "secret" "workshopsSecret" }}
{{- if not (get $.Values.login $name) }}
- login.{{ $name }} is missing: the name of a Secret in namespace {{ $.Release.Namespace }} with the keys {{ values $.Values.login.secretKeys | sortAlpha | join ", " }}
{{- end }}
{{- end }}
{{- if and .Values.login.secret (eq .Values.login.secret .Values.login.workshopsSecret) }}
- login.secret and login.workshopsSecret must differ: a session of the workshops' domain must be invalid for the launcher
{{- end }}
{{- if and (eq .Values.login.provider "oidc") (not .Values.login.oidc.issuerURL) }}
- login.oidc.issuerURL is missing: the provider's issuer, as in https://accounts.example.org
{{- end }}
{{- $endpoints := list .Values.login.oidc.loginURL .Values.login.oidc.redeemURL .Values.login.oidc.jwksURL | compact | len }}
{{- if and (ne $endpoints 0) (ne $endpoints 3) }}
- login.oidc.loginURL, redeemURL and jwksURL go together: set all three, or none
{{- end }}
{{- if and .Values.login.github.teams (not .Values.login.github.org) }}
- login.github.org is missing: the organisation of the teams in login.github.teams
{{- end }}
{{- end }}

{{- define "launcher.databaseProblems" -}}
{{- if and (eq .Values.database.type "sqlite") (gt (int .Values.launcher.replicas) 1) }}
- launcher.replicas is {{ .Values.launcher.replicas }}, but SQLite allows one launcher: set it to 1, or database.type to postgresql
{{- end }}
{{- if and (eq .Values.database.type "postgresql") (not .Values.database.postgresql.secret) }}
- database.postgresql.secret is missing: the name of a Secret in namespace {{ .Release.Namespace }} whose key {{ .Values.database.postgresql.key }} is the database's URL
{{- end }}
{{- end }}
