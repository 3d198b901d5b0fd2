{{/* Environment, mounts and volumes that the chart itself gives the components' pods, as YAML lists. _pod.tpl adds those
of the values. Each template takes the root. */}}

{{/* Volume with one file, ca.crt, if a private CA is configured. Takes (list volume ca); ca is a value with the keys
configMap, secret and key. */}}
{{- define "launcher.caVolume" -}}
{{- $ca := index . 1 }}
{{- if or $ca.configMap $ca.secret -}}
- name: {{ index . 0 }}
  {{- if $ca.secret }}
  secret:
    secretName: {{ $ca.secret | quote }}
  {{- else }}
  configMap:
    name: {{ $ca.configMap | quote }}
  {{- end }}
    items: [{key: {{ $ca.key | quote }}, path: ca.crt}]
{{- end }}
{{- end }}

{{/* Mount of this volume. Takes (list volume ca folder). */}}
{{- define "launcher.caMount" -}}
{{- if or (index . 1).configMap (index . 1).secret -}}
- {name: {{ index . 0 }}, mountPath: {{ index . 2 }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "launcher.env.launcher" -}}
{{ include "launcher.environment" . }}
{{- end }}

{{- define "launcher.mounts.launcher" -}}
- {name: temporary, mountPath: /tmp}
{{- if ne .Values.database.type "postgresql" }}
- {name: data, mountPath: /data}
{{- end }}
{{- if .Values.proxySecret.enabled }}
- {name: proxy-secret, mountPath: /etc/workshop-launcher-proxy, readOnly: true}
{{- end }}
{{- if .Values.templates }}
- {name: templates, mountPath: /etc/workshop-launcher, readOnly: true}
{{- end }}
{{- if .Values.brand.logo.configMap }}
- {name: brand, mountPath: /etc/workshop-launcher-brand, readOnly: true}
{{- end }}
{{- if eq .Values.database.type "postgresql" }}
{{ include "launcher.caMount" (list "database-ca" .Values.database.postgresql.ca "/etc/workshop-launcher-database") }}
{{- end }}
{{- end }}

{{- define "launcher.volumes.launcher" -}}
- name: temporary
  emptyDir: {}
{{- if ne .Values.database.type "postgresql" }}
- name: data
  persistentVolumeClaim:
    claimName: {{ .Values.database.sqlite.existingClaim | default (include "launcher.name" .) | quote }}
{{- end }}
{{- if .Values.proxySecret.enabled }}
# The kubelet updates the file when the Secret changes; the launcher rereads it.
- name: proxy-secret
  secret:
    secretName: {{ include "launcher.proxySecretName" . }}
    defaultMode: 0440
    items: [{key: launcher, path: secrets}]
{{- end }}
{{- if .Values.templates }}
- name: templates
  configMap:
    name: {{ include "launcher.name" . }}-templates
{{- end }}
{{- with .Values.brand.logo.configMap }}
- name: brand
  configMap:
    name: {{ . | quote }}
{{- end }}
{{- if eq .Values.database.type "postgresql" }}
{{ include "launcher.caVolume" (list "database-ca" .Values.database.postgresql.ca) }}
{{- end }}
{{- end }}

{{/* The pod of `helm test` has the launcher's settings and files. */}}
{{- define "launcher.env.doctor" -}}
{{ include "launcher.env.launcher" . }}
{{- end }}

{{- define "launcher.mounts.doctor" -}}
{{ include "launcher.mounts.launcher" . }}
{{- end }}

{{- define "launcher.volumes.doctor" -}}
{{ include "launcher.volumes.launcher" . }}
{{- end }}

{{- define "launcher.env.operator" -}}
{{ include "launcher.operatorEnvironment" . }}
{{- end }}

{{- define "launcher.mounts.operator" -}}
{{- end }}

{{- define "launcher.volumes.operator" -}}
{{- end }}

{{- define "launcher.env.login" -}}
{{ include "launcher.loginEnvironment" (list . (include "launcher.loginSecret" (list . "login"))) }}
{{- end }}

{{- define "launcher.env.workshops-login" -}}
{{ include "launcher.loginEnvironment" (list . (include "launcher.loginSecret" (list . "workshops-login"))) }}
{{- end }}

{{/* Takes (list root secret). */}}
{{- define "launcher.loginEnvironment" -}}
{{- $keys := (index . 0).Values.login.secretKeys }}
{{- range $variable, $key := dict "CLIENT_ID" "clientID" "CLIENT_SECRET" "clientSecret" "COOKIE_SECRET" "cookieSecret" }}
- name: OAUTH2_PROXY_{{ $variable }}
  valueFrom:
    secretKeyRef:
      name: {{ index $ 1 | quote }}
      key: {{ get $keys $key | quote }}
{{- end }}
{{- with (index . 0).Values.login.egressProxy }}
{{- $proxy := dict "HTTP_PROXY" .http "HTTPS_PROXY" .https "NO_PROXY" (join "," .noProxy) }}
{{- range $variable, $value := $proxy }}
{{- with $value }}
- {name: {{ $variable }}, value: {{ . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "launcher.mounts.login" -}}
- {name: config, mountPath: /etc/oauth2-proxy, readOnly: true}
{{ include "launcher.caMount" (list "provider-ca" .Values.login.ca "/etc/oauth2-proxy-ca") }}
{{- end }}

{{- define "launcher.mounts.workshops-login" -}}
{{ include "launcher.mounts.login" . }}
{{- end }}

{{- define "launcher.volumes.login" -}}
- name: config
  configMap:
    name: {{ include "launcher.name" . }}-login
{{ include "launcher.caVolume" (list "provider-ca" .Values.login.ca) }}
{{- end }}

{{- define "launcher.volumes.workshops-login" -}}
- name: config
  configMap:
    name: {{ include "launcher.name" . }}-workshops-login
{{ include "launcher.caVolume" (list "provider-ca" .Values.login.ca) }}
{{- end }}

{{- define "launcher.env.front" -}}
{{- end }}

{{- define "launcher.mounts.front" -}}
- {name: config, mountPath: /etc/workshop-launcher, readOnly: true}
{{- if .Values.proxySecret.enabled }}
- {name: proxy-secret, mountPath: /etc/workshop-launcher-proxy, readOnly: true}
{{- end }}
- {name: temporary, mountPath: /tmp}
{{- end }}

{{- define "launcher.volumes.front" -}}
- name: config
  configMap:
    name: {{ include "launcher.name" . }}-front
{{- if .Values.proxySecret.enabled }}
- name: proxy-secret
  secret:
    secretName: {{ include "launcher.name" . }}-front
    defaultMode: 0440
{{- end }}
- name: temporary
  emptyDir: {}
{{- end }}

{{- define "launcher.env.notice" -}}
- {name: SERVICE_PUBLIC_URL, value: {{ include "launcher.publicURL" . | quote }}}
{{- with .Values.workshops.nameSuffix }}
- {name: SERVICE_WORKSHOP_NAME_SUFFIX, value: {{ . | quote }}}
{{- end }}
{{- end }}

{{- define "launcher.mounts.notice" -}}
{{- end }}

{{- define "launcher.volumes.notice" -}}
{{- end }}
