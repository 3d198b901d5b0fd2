{{/* Login: the provider, the admitted domains, and the Secrets of the two login proxies. */}}

{{- define "launcher.provider" -}}
{{ .Values.login.provider | default (ternary "" "oidc" (empty .Values.login.oidc.issuerURL)) }}
{{- end }}

{{/* E-mail domains that may log in, as JSON. Default: the parent domain of the host, if it has a dot. */}}
{{- define "launcher.emailDomains" -}}
{{- $parent := splitList "." .Values.host | rest | join "." }}
{{- .Values.login.emailDomains | default (ternary (list $parent) list (contains "." $parent)) | toJson }}
{{- end }}

{{/* Name of the Secret of a login proxy. Takes (list root component). */}}
{{- define "launcher.loginSecret" -}}
{{- $login := (index . 0).Values.login }}
{{- $name := ternary $login.workshopsSecret $login.secret (eq (index . 1) "workshops-login") }}
{{- $name | default (printf "%s-%s" (include "launcher.name" (index . 0)) (index . 1)) }}
{{- end }}

{{/* Client and cookie secret of a login proxy in the values, as a map with the names of secretKeys. The workshops' login
has the launcher's client unless it has its own. Takes (list root component). */}}
{{- define "launcher.loginCredentials" -}}
{{- $login := (index . 0).Values.login }}
{{- $credentials := dict "clientID" $login.clientID "clientSecret" $login.clientSecret "cookieSecret" $login.cookieSecret }}
{{- if eq (index . 1) "workshops-login" }}
{{- $_ := set $credentials "cookieSecret" $login.workshopsCookieSecret }}
{{- if $login.workshopsClientID }}
{{- $_ := set $credentials "clientID" $login.workshopsClientID }}
{{- $_ := set $credentials "clientSecret" $login.workshopsClientSecret }}
{{- end }}
{{- end }}
{{- toYaml $credentials }}
{{- end }}

{{- define "launcher.loginProblems" -}}
{{- $login := .Values.login }}
{{- $provider := include "launcher.provider" . }}
{{- if not $provider }}
- login.provider is missing: google, github or oidc. With oidc, login.oidc.issuerURL is enough
{{- end }}
{{- if and .Values.host (not (include "launcher.emailDomains" . | fromJsonArray)) }}
- login.emailDomains is missing: the domains whose addresses may log in, as in [example.org], or ["*"] for every account of the provider
{{- end }}
{{- if eq (include "launcher.loginSecret" (list . "login")) (include "launcher.loginSecret" (list . "workshops-login")) }}
- login.secret and login.workshopsSecret must differ: a session of the workshops' domain must be invalid for the launcher
{{- end }}
{{- if and (eq $provider "oidc") (not $login.oidc.issuerURL) }}
- login.oidc.issuerURL is missing: the provider's issuer, as in https://accounts.example.org
{{- end }}
{{- $endpoints := list $login.oidc.loginURL $login.oidc.redeemURL $login.oidc.jwksURL | compact | len }}
{{- if and (ne $endpoints 0) (ne $endpoints 3) }}
- login.oidc.loginURL, redeemURL and jwksURL go together: set all three, or none
{{- end }}
{{- if and $login.github.teams (not $login.github.org) }}
- login.github.org is missing: the organisation of the teams in login.github.teams
{{- end }}
{{- include "launcher.clientProblems" . }}
{{- end }}

{{- define "launcher.clientProblems" -}}
{{- $login := .Values.login }}
{{- if and $login.clientID (not $login.clientSecret) }}
- login.clientSecret is missing: the secret of the client in login.clientID
{{- end }}
{{- if and $login.workshopsClientID (not $login.workshopsClientSecret) }}
- login.workshopsClientSecret is missing: the secret of the client in login.workshopsClientID
{{- end }}
{{- if and $login.clientID (eq (include "launcher.provider" .) "github") (not $login.workshopsClientID) }}
- login.workshopsClientID is missing: an OAuth app of GitHub has one redirect address. Create a second app for the workshops
{{- end }}
{{- if and $login.clientID (ne (values $login.secretKeys | uniq | len) 3) }}
- login.secretKeys must name three different keys, because the chart creates the Secrets from login.clientID
{{- end }}
{{- if not $login.clientID }}
{{- range $name := list "clientSecret" "cookieSecret" "workshopsClientID" "workshopsClientSecret" "workshopsCookieSecret" }}
{{- if get $login $name }}
- login.clientID is missing: without it, login.{{ $name }} has no effect
{{- end }}
{{- end }}
{{- end }}
{{- if and $login.cookieSecret (eq $login.cookieSecret $login.workshopsCookieSecret) }}
- login.cookieSecret and login.workshopsCookieSecret must differ: a session of the workshops' domain must be invalid for the launcher
{{- end }}
{{- end }}
