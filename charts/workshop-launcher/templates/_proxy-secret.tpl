{{/* The proxy secrets. The edge proxy sends one with each identity; launcher and sidecars accept no identity without it. */}}

{{/* Name of the Secret with the proxy secrets, in the release's namespace and in the workshops' namespace. */}}
{{- define "launcher.proxySecretName" -}}
{{ include "launcher.name" . }}-proxy-secret
{{- end }}

{{/* {"launcher": [...], "workshops": [...]} as JSON: the secrets of the values, else of the release's existing
Secret, else new ones. The first call of a render stores them in the root, because randAlphaNum differs with each call. */}}
{{- define "launcher.proxySecrets" -}}
{{- if not (hasKey . "proxySecrets") }}
{{- $present := (lookup "v1" "Secret" .Release.Namespace (include "launcher.proxySecretName" .)).data | default dict }}
{{- $secrets := dict }}
{{- range $audience := list "launcher" "workshops" }}
{{- $kept := get $present $audience | b64dec | splitList "\n" | compact }}
{{- $_ := set $secrets $audience (get $.Values.proxySecret $audience | default $kept | default (list (randAlphaNum 48))) }}
{{- end }}
{{- $_ := set . "proxySecrets" $secrets }}
{{- end }}
{{- toJson .proxySecrets }}
{{- end }}

{{/* The secret that the edge proxy sends. Takes (list root audience); audience is launcher or workshops. */}}
{{- define "launcher.proof" -}}
{{- get (include "launcher.proxySecrets" (index . 0) | fromJson) (index . 1) | first }}
{{- end }}

{{- define "launcher.proxySecretProblems" -}}
{{- if .Values.proxySecret.enabled }}
{{- $secrets := include "launcher.proxySecrets" . | fromJson }}
{{- range $secret := $secrets.launcher }}
{{- if has $secret $secrets.workshops }}
- proxySecret.launcher and proxySecret.workshops must differ: the workshops' secret must be invalid for the launcher
{{- end }}
{{- end }}
{{- range $audience, $lines := $secrets }}
{{- range $line := $lines }}
{{- if not (regexMatch "^[A-Za-z0-9._~+/=-]{32,256}$" $line) }}
- the Secret {{ include "launcher.proxySecretName" $ }} in namespace {{ $.Release.Namespace }} has an invalid line in its key {{ $audience }}: a proxy secret has 32 to 256 characters. Set proxySecret.{{ $audience }}, or delete that Secret
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
