{{/* Reports all missing and conflicting values in one message. values.schema.json checks single values. */}}

{{- define "launcher.problems" -}}
{{- if not .Values.host }}
- host is missing: the host name of the launcher, as in launcher.example.org
{{- end }}
{{- if not .Values.workshops.domain }}
- workshops.domain is missing: the domain whose subdomains are the workshops, as in workshops.example.net
{{- end }}
{{- include "launcher.nameProblems" . }}
{{- if eq .Values.workshops.namespace .Release.Namespace }}
- workshops.namespace must not be the release's own namespace, {{ .Release.Namespace }}: workshops run third-party code
{{- end }}
{{- include "launcher.classProblems" . }}
{{- include "launcher.imageProblems" . }}
{{- if eq .Values.ingress.controller "traefik" }}
{{- range $name, $_ := include "launcher.annotations" (list . "pages") | fromYaml }}
{{- if hasKey $.Values.ingress.annotations $name }}
- ingress.annotations must not have {{ $name }}: the chart sets it to require a login
{{- end }}
{{- end }}
{{- end }}
{{- include "launcher.schemeProblems" . }}
{{- include "launcher.gatewayProblems" . }}
{{- include "launcher.certificateProblems" . }}
{{- include "launcher.loginProblems" . }}
{{- include "launcher.proxySecretProblems" . }}
{{- include "launcher.frontProblems" . }}
{{- include "launcher.databaseProblems" . }}
{{- $authorities := dict "login.ca" .Values.login.ca "database.postgresql.ca" .Values.database.postgresql.ca }}
{{- range $name, $ca := $authorities }}
{{- if and $ca.configMap $ca.secret }}
- {{ $name }}.configMap and {{ $name }}.secret exclude each other: set one, and remove the other
{{- end }}
{{- end }}
{{- if and .Values.snapshots.store (not (include "launcher.image" (list . "material"))) }}
- images.material is missing: snapshots.store needs it, because only files that survive a crash can be saved
{{- end }}
{{- include "launcher.podProblems" . }}
{{- include "launcher.accountProblems" . }}
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

{{/* Namespaces of classes. */}}
{{- define "launcher.classProblems" -}}
{{- $namespaces := include "launcher.workshopNamespaces" . | fromJsonArray }}
{{- if ne (len $namespaces) (uniq $namespaces | len) }}
- workshops.classNamespaces must have different names, and not that of workshops.namespace
{{- end }}
{{- if has .Release.Namespace (rest $namespaces) }}
- workshops.classNamespaces must not have the release's own namespace, {{ .Release.Namespace }}: workshops run third-party code
{{- end }}
{{- if and .Values.workshops.classNamespaces (ne .Values.ingress.controller "traefik") }}
- workshops.classNamespaces needs ingress.controller traefik: the front finds workshops in workshops.namespace only
{{- end }}
{{- end }}

{{/* Host names of launcher and workshops. Below one domain they must differ, and one wildcard must match all of them. */}}
{{- define "launcher.nameProblems" -}}
{{- $suffix := .Values.workshops.nameSuffix }}
{{- $domain := .Values.workshops.domain }}
{{- if not $domain }}
{{- else if eq .Values.host $domain }}
- host must not lie in workshops.domain: workshops could set cookies for the launcher. Use another registrable domain
{{- else if include "launcher.sharesDomain" . }}
{{- $label := trimSuffix (printf ".%s" $domain) .Values.host }}
{{- if not $suffix }}
- host must not lie in workshops.domain: workshops could set cookies for the launcher. Use another registrable domain, or set workshops.nameSuffix if you have one domain only
{{- else }}
{{- if contains "." $label }}
- host must be one name before workshops.domain, as in launcher.{{ $domain }}: a certificate for *.{{ $domain }} is not valid for {{ .Values.host }}
{{- end }}
{{- if hasSuffix $suffix $label }}
- host must not end in workshops.nameSuffix before workshops.domain: {{ .Values.host }} could be the host of a workshop
{{- end }}
{{- if eq .Values.host (include "launcher.workshopsLoginHost" .) }}
- host must not be {{ .Values.host }}: this is the host of the workshops' login
{{- end }}
{{- if eq .Values.ingress.scheme "http" }}
- ingress.scheme is http, but host lies in workshops.domain: without https, workshops could set the launcher's session cookie
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "launcher.schemeProblems" -}}
{{- if eq .Values.ingress.scheme "http" }}
{{- range $name, $host := dict "host" .Values.host "workshops.domain" .Values.workshops.domain }}
{{- if not (hasSuffix ".localhost" $host) }}
- ingress.scheme is http, but {{ $name }} is not below localhost: passwords and sessions would cross the network in clear text. Use https
{{- end }}
{{- end }}
{{- if ne .Values.ingress.controller "traefik" }}
- ingress.scheme is http, but only the controller traefik supports it: set ingress.controller to traefik, or use https
{{- end }}
{{- end }}
{{- end }}

{{- define "launcher.accountProblems" -}}
{{- range $component := list "launcher" "operator" }}
{{- $account := (get $.Values $component).serviceAccount }}
{{- if not (or $account.create $account.name) }}
- {{ $component }}.serviceAccount.name is missing: the name of an existing ServiceAccount, because {{ $component }}.serviceAccount.create is false
{{- end }}
{{- end }}
{{- range $component := list "login" "front" "notice" }}
{{- $account := (get $.Values $component).serviceAccount }}
{{- if and $account.annotations (not $account.create) }}
- {{ $component }}.serviceAccount.create is missing: without it, {{ $component }}.serviceAccount.annotations has no effect
{{- end }}
{{- end }}
{{- $components := list "launcher" "operator" "login" "front" "notice" }}
{{- range $index, $component := $components }}
{{- $name := include "launcher.serviceAccount" (list $ $component) }}
{{- range $other := slice $components (add1 $index | int) }}
{{- $shared := and $name (eq $name (include "launcher.serviceAccount" (list $ $other))) }}
{{- $created := or (get $.Values $component).serviceAccount.create (get $.Values $other).serviceAccount.create }}
{{- if and $shared (lt $index 2) }}
- {{ $component }}.serviceAccount.name and {{ $other }}.serviceAccount.name must differ: the {{ $component }} has its own permissions
{{- else if and $shared $created }}
- {{ $component }}.serviceAccount.name and {{ $other }}.serviceAccount.name must differ: the chart creates one of the accounts
{{- end }}
{{- end }}
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
