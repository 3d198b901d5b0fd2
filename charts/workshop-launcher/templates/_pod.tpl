{{/* Parts that the pods of all components share, with the values of docs/helm-pods.md. Each template takes
(list root component). _containers.tpl has the environment, the volumes and the mounts that the chart itself gives them. */}}

{{/* Group of values of a component. Takes its name. Both login proxies have the same values. The pod of `helm test` has
those of the launcher. */}}
{{- define "launcher.podGroup" -}}
{{ get (dict "workshops-login" "login" "doctor" "launcher") . | default . }}
{{- end }}

{{/* Labels and annotations of the pods. They do not have the labels of the chart's version: a new version of the chart must
not replace pods that are otherwise unchanged. Takes (list root component annotations): annotations are the chart's own. */}}
{{- define "launcher.podMetadata" -}}
{{- $values := get (index . 0).Values (include "launcher.podGroup" (index . 1)) -}}
labels:
  {{- include "launcher.selector" (list (index . 0) (index . 1)) | nindent 2 }}
  {{- with $values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (index . 2) ($values.podAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Security context of the pods, before the values change it. */}}
{{- define "launcher.podSecurity" -}}
{{- $root := index . 0 -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- /* Socket buffers in the kernel, which fill when a client or a workshop stops reading. Safe sysctls since 1.32. */}}
{{- if and (eq (index . 1) "front") $root.Values.front.boundSocketBuffers
  (semverCompare ">=1.32-0" $root.Capabilities.KubeVersion.Version) }}
sysctls:
- {name: net.ipv4.tcp_rmem, value: "4096 32768 32768"}
- {name: net.ipv4.tcp_wmem, value: "4096 16384 32768"}
{{- end }}
{{- end }}

{{/* Security context of the containers, before the values change it. */}}
{{- define "launcher.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* A security context with the changes of a value. Takes (list default changes), both maps. Nested maps are merged, and
null removes a field. Not mergeOverwrite: it keeps a default that the changes set to null. */}}
{{- define "launcher.mergedSecurity" -}}
{{- $merged := deepCopy (index . 0) }}
{{- range $name, $value := index . 1 }}
{{- if kindIs "map" $value }}
{{- $_ := include "launcher.mergedSecurity" (list (get $merged $name | default dict) $value) | fromYaml | set $merged $name }}
{{- else if kindIs "invalid" $value }}
{{- $_ := unset $merged $name }}
{{- else }}
{{- $_ := set $merged $name $value }}
{{- end }}
{{- end }}
{{- toYaml $merged }}
{{- end }}

{{/* Fields of the pods. */}}
{{- define "launcher.podSettings" -}}
{{- $root := index . 0 }}
{{- $values := get $root.Values (include "launcher.podGroup" (index . 1)) -}}
enableServiceLinks: false
securityContext:
  {{- $default := include "launcher.podSecurity" . | fromYaml }}
  {{- include "launcher.mergedSecurity" (list $default ($values.podSecurityContext | default dict)) | nindent 2 }}
{{- with $root.Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" }}
{{- with get $values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "launcher.affinity" . | fromYaml }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if ne (index . 1) "doctor" }}
{{- include "launcher.spread" . }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end }}

{{/* Affinity of the pods. The pod of `helm test` needs the launcher's node, because SQLite is on a volume that only one node
mounts. */}}
{{- define "launcher.affinity" -}}
{{- $root := index . 0 }}
{{- $affinity := deepCopy ((get $root.Values (include "launcher.podGroup" (index . 1))).affinity | default dict) }}
{{- if and (eq (index . 1) "doctor") (ne $root.Values.database.type "postgresql") }}
{{- $selector := dict "matchLabels" (include "launcher.selector" (list $root "launcher") | fromYaml) }}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" $selector }}
{{- $pods := get $affinity "podAffinity" | default dict }}
{{- $field := "requiredDuringSchedulingIgnoredDuringExecution" }}
{{- $_ := append (get $pods $field | default list) $term | set $pods $field }}
{{- $_ := set $affinity "podAffinity" $pods }}
{{- end }}
{{- toYaml $affinity }}
{{- end }}

{{/* Constraints that spread the pods. By default they spread several replicas over nodes, if there are several. */}}
{{- define "launcher.spread" -}}
{{- $values := get (index . 0).Values (include "launcher.podGroup" (index . 1)) }}
{{- $selector := dict "matchLabels" (include "launcher.selector" . | fromYaml) }}
{{- $constraints := $values.topologySpreadConstraints }}
{{- if and (not $constraints) (gt (int $values.replicas) 1) }}
{{- $constraints = list (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") }}
{{- end }}
{{- with $constraints }}
topologySpreadConstraints:
{{- range . }}
{{- $constraint := ternary . (merge (dict "labelSelector" $selector) .) (hasKey . "labelSelector") }}
{{ toYaml (list $constraint) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Fields of the container: environment, resources, security context, mounts. */}}
{{- define "launcher.containerSettings" -}}
{{- $values := get (index . 0).Values (include "launcher.podGroup" (index . 1)) }}
{{- include "launcher.joined" (list "env" (include (printf "launcher.env.%s" (index . 1)) (index . 0)) $values.extraEnv) }}
{{- include "launcher.joined" (list "envFrom" "" $values.extraEnvFrom) }}
resources:
  {{- toYaml $values.resources | nindent 2 }}
securityContext:
  {{- $default := include "launcher.containerSecurity" . | fromYaml }}
  {{- include "launcher.mergedSecurity" (list $default ($values.securityContext | default dict)) | nindent 2 }}
{{- $mounts := include (printf "launcher.mounts.%s" (index . 1)) (index . 0) }}
{{- include "launcher.joined" (list "volumeMounts" $mounts $values.extraVolumeMounts) }}
{{- end }}

{{/* Volumes of the pods. */}}
{{- define "launcher.podVolumes" -}}
{{- $values := get (index . 0).Values (include "launcher.podGroup" (index . 1)) }}
{{- $volumes := include (printf "launcher.volumes.%s" (index . 1)) (index . 0) }}
{{- include "launcher.joined" (list "volumes" $volumes $values.extraVolumes) }}
{{- end }}

{{/* A field with a list: the chart's own entries, then those of a value. Takes (list field text entries); text is YAML. */}}
{{- define "launcher.joined" -}}
{{- $own := trim (index . 1) }}
{{- if or $own (index . 2) }}
{{ index . 0 }}:
{{- with $own }}
{{ . }}
{{- end }}
{{- with index . 2 }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Values that collide with the chart's own labels, annotations, variables, volumes and mounts. Takes the root. */}}
{{- define "launcher.podProblems" -}}
{{- range $component := list "launcher" "operator" "login" "front" "notice" }}
{{- $values := get $.Values $component }}
{{- $reserved := dict "podLabels" (include "launcher.selector" (list $ $component) | fromYaml | keys) }}
{{- $_ := set $reserved "podAnnotations" (list "checksum/config" "checksum/secret" "checksum/templates") }}
{{- range $field, $names := $reserved }}
{{- range $name := sortAlpha $names }}
{{- if hasKey (get $values $field | default dict) $name }}
- {{ $component }}.{{ $field }} must not have {{ $name }}: the chart sets it. Remove it, or use another name
{{- end }}
{{- end }}
{{- end }}
{{- $lists := dict "extraEnv" (list "env" "name") "extraVolumes" (list "volumes" "name")
  "extraVolumeMounts" (list "mounts" "mountPath") }}
{{- range $field, $parts := $lists }}
{{- $own := list }}
{{- range include (printf "launcher.%s.%s" (first $parts) $component) $ | fromYamlArray }}
{{- $own = get . (last $parts) | append $own }}
{{- end }}
{{- range get $values $field | default list }}
{{- $name := get . (last $parts) }}
{{- if has $name $own }}
- {{ $component }}.{{ $field }} must not have the {{ last $parts }} {{ $name }}: the chart or another entry sets it. Remove it, or use another name
{{- end }}
{{- $own = append $own $name }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
