{{/* Environment of the launcher and of the operator. Settings that keep the program's own default are left out.
     int64 keeps all digits: Helm reads a number of a values file as a float, and prints it as 1e+06 from a million on. */}}

{{- define "launcher.environment" -}}
- {name: SERVICE_LISTEN_ADDR, value: "0.0.0.0:8000"}
- {name: SERVICE_TELEMETRY_ADDR, value: "0.0.0.0:9090"}
- {name: SERVICE_PUBLIC_URL, value: {{ include "launcher.publicURL" . | quote }}}
- {name: SERVICE_LOGOUT_URL, value: {{ include "launcher.logoutURL" . | quote }}}
{{- include "launcher.settings" .Values.api }}
{{- include "launcher.brandEnvironment" . }}
{{- if .Values.brand.logo.configMap }}
- {name: SERVICE_BRAND_LOGO, value: {{ printf "/etc/workshop-launcher-brand/%s" .Values.brand.logo.key | quote }}}
{{- end }}
{{- $limits := deepCopy .Values.limits }}
{{- /* The launcher has no setting for the HTTP proxy, so its checks would fail for material that workshops can load. */}}
{{- if .Values.workshops.materialProxy.url }}
{{- $_ := set $limits "maxMaterialChecks" 0 }}
{{- end }}
{{- include "launcher.settings" $limits }}
{{- with .Values.networkPolicy.exceptAlso }}
- {name: SERVICE_MATERIAL_CHECK_EXCEPT, value: {{ join "," . | quote }}}
{{- end }}
- {name: SERVICE_FLEET, value: kubernetes}
- {name: SERVICE_NAMESPACE, value: {{ .Values.workshops.namespace | quote }}}
{{- include "launcher.classEnvironment" . }}
{{- if .Values.proxySecret.enabled }}
- {name: SERVICE_PROXY_SECRET_FILE, value: /etc/workshop-launcher-proxy/secrets}
{{- end }}
{{- if eq .Values.database.type "postgresql" }}
- name: SERVICE_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.postgresql.secret | quote }}
      key: {{ .Values.database.postgresql.key | quote }}
{{- if or .Values.database.postgresql.ca.configMap .Values.database.postgresql.ca.secret }}
# The driver of PostgreSQL reads both. Parameters of the URL take precedence.
- {name: PGSSLMODE, value: verify-full}
- {name: PGSSLROOTCERT, value: /etc/workshop-launcher-database/ca.crt}
{{- end }}
{{- else }}
- {name: SERVICE_DATA_DIR, value: /data}
{{- end }}
{{- if .Values.templates }}
- {name: SERVICE_SEED_TEMPLATES, value: /etc/workshop-launcher/templates.json}
{{- end }}
- {name: SERVICE_POD_TEMPLATE_ALLOW, value: {{ join "," .Values.workshops.podTemplateAllow | quote }}}
{{- with .Values.snapshots.store }}
- {name: SERVICE_SNAPSHOT_STORE, value: {{ . | quote }}}
{{- end }}
- {name: SERVICE_START_TIMEOUT, value: {{ .Values.workshops.startTimeoutSeconds | int64 | quote }}}
- {name: SERVICE_SHUTDOWN_DELAY, value: {{ .Values.launcher.shutdownDelaySeconds | int64 | quote }}}
- {name: SERVICE_SHUTDOWN_GRACE, value: {{ .Values.launcher.shutdownGraceSeconds | int64 | quote }}}
- {name: SERVICE_LOG, value: {{ .Values.logLevel | quote }}}
{{- include "launcher.traceEnvironment" . }}
{{- end }}

{{- define "launcher.brandEnvironment" -}}
{{- with .Values.brand.name }}
- {name: SERVICE_BRAND_NAME, value: {{ . | quote }}}
{{- end }}
{{- with .Values.brand.color }}
- {name: SERVICE_BRAND_COLOR, value: {{ . | quote }}}
{{- end }}
{{- end }}

{{/* Settings with the names of the values in a group: `launchRate` sets SERVICE_LAUNCH_RATE. */}}
{{- define "launcher.settings" -}}
{{- range $name, $value := . }}
{{- $text := kindIs "float64" $value | ternary (int64 $value) $value | toString }}
{{- if kindIs "slice" $value }}
{{- $text = join "," $value }}
{{- if and $value (kindIs "map" (first $value)) }}
{{- $text = toJson $value }}
{{- end }}
{{- end }}
{{- if and $text (not (kindIs "invalid" $value)) }}
- {name: SERVICE_{{ snakecase $name | upper }}, value: {{ quote $text }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "launcher.operatorEnvironment" -}}
- {name: SERVICE_TELEMETRY_ADDR, value: "0.0.0.0:9091"}
- {name: SERVICE_NAMESPACE, value: {{ .Values.workshops.namespace | quote }}}
{{- include "launcher.classEnvironment" . }}
- {name: SERVICE_WORKSHOP_DOMAIN, value: {{ .Values.workshops.domain | quote }}}
{{- with .Values.workshops.nameSuffix }}
- {name: SERVICE_WORKSHOP_NAME_SUFFIX, value: {{ . | quote }}}
{{- end }}
{{- if ne .Values.ingress.scheme "https" }}
- {name: SERVICE_WORKSHOP_SCHEME, value: {{ .Values.ingress.scheme | quote }}}
{{- end }}
{{- with include "launcher.portSuffix" . }}
- {name: SERVICE_WORKSHOP_PORT, value: {{ trimPrefix ":" . | quote }}}
{{- end }}
- {name: SERVICE_PUBLIC_URL, value: {{ include "launcher.publicURL" . | quote }}}
{{- include "launcher.brandEnvironment" . }}
- {name: SERVICE_SIDECAR_IMAGE, value: {{ include "launcher.image" (list . "sidecar") | quote }}}
{{- with include "launcher.image" (list . "material") }}
- {name: SERVICE_MATERIAL_IMAGE, value: {{ . | quote }}}
{{- end }}
{{- with .Values.workshops.materialProxy }}
{{- if .url }}
- {name: SERVICE_MATERIAL_PROXY, value: {{ .url | quote }}}
{{- with .noProxy }}
- {name: SERVICE_MATERIAL_NO_PROXY, value: {{ join "," . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.proxySecret.enabled }}
- {name: SERVICE_PROXY_SECRET_NAME, value: {{ include "launcher.proxySecretName" . }}}
{{- end }}
- {name: SERVICE_IMAGE_PULL_POLICY, value: {{ .Values.workshops.imagePullPolicy | kebabcase }}}
{{- with .Values.workshops.imagePullSecrets }}
- {name: SERVICE_IMAGE_PULL_SECRETS, value: {{ join "," . | quote }}}
{{- end }}
- {name: SERVICE_START_TIMEOUT, value: {{ .Values.workshops.startTimeoutSeconds | int64 | quote }}}
- {name: SERVICE_ROOM_GRACE, value: {{ .Values.workshops.roomGraceSeconds | int64 | quote }}}
{{- /* null removes the value. */}}
- {name: SERVICE_RUN_AS_USER, value: {{ kindIs "invalid" .Values.workshops.runAsUser | ternary "assigned" (.Values.workshops.runAsUser | int64) | quote }}}
- {name: SERVICE_WAIT_FOR_ISOLATION, value: {{ and .Values.networkPolicy.enabled .Values.networkPolicy.waitForIsolation | quote }}}
- {name: SERVICE_USER_NAMESPACES, value: {{ .Values.workshops.userNamespaces | quote }}}
{{- with .Values.workshops.storageClass }}
- {name: SERVICE_STORAGE_CLASS, value: {{ . | quote }}}
{{- end }}
- {name: SERVICE_POD_TEMPLATE_ALLOW, value: {{ join "," .Values.workshops.podTemplateAllow | quote }}}
{{- with .Values.workshops.nodeSelector }}
- {name: SERVICE_NODE_SELECTOR, value: {{ . | toJson | quote }}}
{{- end }}
{{- with .Values.workshops.tolerations }}
- {name: SERVICE_TOLERATIONS, value: {{ . | toJson | quote }}}
{{- end }}
{{- if eq .Values.ingress.controller "traefik" }}
- {name: SERVICE_INGRESS_CLASS, value: {{ include "launcher.ingressClass" . }}}
- name: SERVICE_INGRESS_ANNOTATIONS
  value: {{ include "launcher.workshopAnnotations" . | fromYaml | toJson | quote }}
{{- with include "launcher.tlsSecret" (list . "workshopsSecret") }}
- {name: SERVICE_INGRESS_TLS_SECRET, value: {{ . | quote }}}
{{- end }}
{{- else }}
- {name: SERVICE_WORKSHOPS_ROUTED_ELSEWHERE, value: "true"}
{{- end }}
- {name: SERVICE_LOG, value: {{ .Values.logLevel | quote }}}
{{- include "launcher.traceEnvironment" . }}
{{- end }}

{{- define "launcher.traceEnvironment" -}}
{{- with .Values.traces }}
{{- if .endpoint }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ .endpoint | quote }}}
{{- if .headersSecret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ .headersSecret | quote }}
      key: {{ .headersKey | quote }}
{{- end }}
{{- $attributes := list }}
{{- range $name, $value := .resourceAttributes }}
{{- $attributes = append $attributes (printf "%s=%s" $name $value) }}
{{- end }}
{{- with $attributes }}
- {name: OTEL_RESOURCE_ATTRIBUTES, value: {{ join "," . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
