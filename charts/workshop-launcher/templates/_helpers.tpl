{{/* Names, labels, hosts, and objects that several programs have. */}}

{{/* Name of all objects, or its prefix. */}}
{{- define "launcher.name" -}}
{{- $chart := include "launcher.chartName" . -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains $chart .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $chart | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Label app.kubernetes.io/name of all objects. */}}
{{- define "launcher.chartName" -}}
{{ .Values.nameOverride | default .Chart.Name }}
{{- end }}

{{/* Name of the ServiceAccount of a component. Empty for the account default of the namespace. Takes
(list root component). */}}
{{- define "launcher.serviceAccount" -}}
{{- $group := include "launcher.podGroup" (index . 1) }}
{{- $account := (get (index . 0).Values $group).serviceAccount }}
{{- $suffix := ternary "" (printf "-%s" $group) (eq $group "launcher") }}
{{- $account.name | default (ternary (printf "%s%s" (include "launcher.name" (index . 0)) $suffix) "" $account.create) }}
{{- end }}

{{/* Namespaces of workshops as a JSON list: that of the shared catalog, then those of classes. */}}
{{- define "launcher.workshopNamespaces" -}}
{{- $namespaces := list .Values.workshops.namespace }}
{{- range .Values.workshops.classNamespaces }}
{{- $namespaces = append $namespaces .name }}
{{- end }}
{{- toJson $namespaces }}
{{- end }}

{{/* SERVICE_CLASS_NAMESPACES, for launcher and operator. */}}
{{- define "launcher.classEnvironment" -}}
{{- with include "launcher.workshopNamespaces" . | fromJsonArray | rest }}
- {name: SERVICE_CLASS_NAMESPACES, value: {{ join "," . | quote }}}
{{- end }}
{{- end }}

{{/* Takes (list root component). */}}
{{- define "launcher.selector" -}}
app.kubernetes.io/name: {{ include "launcher.chartName" (index . 0) }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Takes (list root component). */}}
{{- define "launcher.labels" -}}
{{ include "launcher.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Port suffix of a host; empty for the default port of the scheme. */}}
{{- define "launcher.portSuffix" -}}
{{- if ne (int .Values.ingress.port) (ternary 443 80 (eq .Values.ingress.scheme "https")) }}:{{ int .Values.ingress.port }}{{ end }}
{{- end }}

{{- define "launcher.authority" -}}
{{ .Values.host }}{{ include "launcher.portSuffix" . }}
{{- end }}

{{/* Public URL of the launcher, without a path. */}}
{{- define "launcher.publicURL" -}}
{{ .Values.ingress.scheme }}://{{ include "launcher.authority" . }}
{{- end }}

{{/* "true" if the host of the launcher lies in the workshops' domain. launcher.nameProblems allows this only beside the
workshops, whose hosts then have a suffix. */}}
{{- define "launcher.sharesDomain" -}}
{{- if and .Values.workshops.domain (hasSuffix (printf ".%s" .Values.workshops.domain) .Values.host) }}true{{ end }}
{{- end }}

{{/* Login host of the workshops' domain. No workshop has this name: theirs end in ten random characters, or in the suffix. */}}
{{- define "launcher.workshopsLoginHost" -}}
login.{{ .Values.workshops.domain }}
{{- end }}

{{- define "launcher.workshopsLoginAuthority" -}}
{{ include "launcher.workshopsLoginHost" . }}{{ include "launcher.portSuffix" . }}
{{- end }}

{{/* URL of the workshops' login, without a path. */}}
{{- define "launcher.workshopsLoginURL" -}}
{{ .Values.ingress.scheme }}://{{ include "launcher.workshopsLoginAuthority" . }}
{{- end }}

{{/* URL after signing out. The default page takes no login: every visitor is unauthenticated there. */}}
{{- define "launcher.afterSignOut" -}}
{{- .Values.login.signedOutURL | default (printf "%s/signed-out" (include "launcher.publicURL" .)) }}
{{- end }}

{{/* Sign-out URL: ends the launcher's session, then the workshops', then redirects to the URL after signing out. */}}
{{- define "launcher.logoutURL" -}}
{{- $workshops := printf "%s/oauth2/sign_out?rd=%s" (include "launcher.workshopsLoginURL" .)
  (include "launcher.afterSignOut" . | urlquery) -}}
/oauth2/sign_out?rd={{ $workshops | urlquery }}
{{- end }}

{{/* Headers that only the edge proxy may set: the caller's identity as a login proxy answered it, and the proof that the
edge proxy has set it. */}}
{{- define "launcher.identityHeaders" -}}
{{- range list "X-Auth-Request-Email" "X-Auth-Request-User" "X-Auth-Request-Groups" "X-Auth-Request-Preferred-Username"
  "X-Auth-Request-Access-Token" "X-Auth-Request-Redirect" "X-Auth-Request-Proof" "X-Forwarded-Email" "X-Forwarded-User"
  "X-Forwarded-Groups" "X-Forwarded-Preferred-Username" "X-Forwarded-Access-Token" }}
- {{ . }}
{{- end }}
{{- end }}

{{/* "true" if the front is the edge proxy; otherwise empty, because Traefik is. */}}
{{- define "launcher.hasFront" -}}
{{- if ne .Values.ingress.controller "traefik" }}true{{ end }}
{{- end }}

{{/* NetworkPolicy peer for the edge proxy: the front's pods or Traefik's. */}}
{{- define "launcher.fromEdgeProxy" -}}
{{- $traefik := eq .Values.ingress.controller "traefik" -}}
namespaceSelector:
  matchLabels:
    kubernetes.io/metadata.name: {{ ternary (.Values.ingress.namespace | default "traefik") .Release.Namespace $traefik | quote }}
podSelector:
  matchLabels:
    {{- if $traefik }}
    {{- .Values.ingress.podLabels | default (dict "app.kubernetes.io/name" "traefik") | toYaml | nindent 4 }}
    {{- else }}
    {{- include "launcher.selector" (list . "front") | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Peer of a NetworkPolicy: the launcher's pods. */}}
{{- define "launcher.fromLauncher" -}}
namespaceSelector:
  matchLabels:
    kubernetes.io/metadata.name: {{ .Release.Namespace | quote }}
podSelector:
  matchLabels:
    {{- include "launcher.selector" (list . "launcher") | nindent 4 }}
{{- end }}

{{/* Ingress class of Traefik, never the cluster's default class: another controller would ignore the annotations that
require a login. */}}
{{- define "launcher.ingressClass" -}}
{{ .Values.ingress.className | default "traefik" | quote }}
{{- end }}

{{/* Takes (list root component replicas name). */}}
{{- define "launcher.disruptionBudget" -}}
{{- $root := index . 0 }}
{{- if gt (int (index . 2)) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ index . 3 }}
  namespace: {{ $root.Release.Namespace | quote }}
  labels:
    {{- include "launcher.labels" (list $root (index . 1)) | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "launcher.selector" (list $root (index . 1)) | nindent 6 }}
{{- end }}
{{- end }}

{{/* Probes of our programs, on their telemetry port, which answers only after the start is complete. */}}
{{- define "launcher.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: telemetry}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: telemetry}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: telemetry}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
