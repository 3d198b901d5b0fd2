{{/* Configurations of the two login proxies. After their prefixes, the names of their cookies begin with the string by
which sidecars remove them (SERVICE_SESSION_COOKIE_PREFIX). With the scheme http they have no prefix and no attribute
Secure, because browsers store such cookies only over https. */}}

{{/* The launcher's login proxy: its cookie cannot be set by another host or by a workshop. */}}
{{- define "launcher.login.cfg" -}}
cookie_name = "{{ if eq .Values.ingress.scheme "https" }}__Host-{{ end }}_oauth2_proxy"
redirect_url = {{ printf "%s/oauth2/callback" (include "launcher.publicURL" .) | quote }}
whitelist_domains = {{ list (include "launcher.authority" .) (include "launcher.workshopsLoginAuthority" .) | toJson }}
{{ include "launcher.cfg" . }}
{{- end }}

{{/* The workshops' login proxy: one cookie for the whole domain. Requests to /api are an app's, not page visits. */}}
{{- define "launcher.workshops-login.cfg" -}}
cookie_name = "{{ if eq .Values.ingress.scheme "https" }}__Secure-{{ end }}_oauth2_proxy_workshops"
cookie_domains = {{ list (printf ".%s" .Values.workshops.domain) | toJson }}
redirect_url = {{ printf "%s/oauth2/callback" (include "launcher.workshopsLoginURL" .) | quote }}
whitelist_domains = {{ list (printf ".%s%s" .Values.workshops.domain (include "launcher.portSuffix" .))
  (include "launcher.afterSignOut" . | urlParse).host | toJson }}
api_routes = ["^/api(/|$)"]
{{ include "launcher.cfg" . }}
{{- end }}

{{/* Settings of both. Deliberately absent: skip_auth_…, trusted_ips, ping_user_agent (they bypass the login), and
cookie_refresh (the new cookie would not reach the browser). */}}
{{- define "launcher.cfg" -}}
http_address = ":4180"
reverse_proxy = true
upstreams = ["static://202"]
set_xauthrequest = true
skip_provider_button = true
approval_prompt = "auto"
code_challenge_method = "S256"
provider = {{ include "launcher.provider" . | quote }}
email_domains = {{ include "launcher.emailDomains" . }}
{{- if eq (include "launcher.provider" .) "oidc" }}
scope = "openid email profile"
oidc_issuer_url = {{ .Values.login.oidc.issuerURL | quote }}
{{- if .Values.login.oidc.loginURL }}
skip_oidc_discovery = true
login_url = {{ .Values.login.oidc.loginURL | quote }}
redeem_url = {{ .Values.login.oidc.redeemURL | quote }}
oidc_jwks_url = {{ .Values.login.oidc.jwksURL | quote }}
{{- end }}
{{- end }}
{{- if eq (include "launcher.provider" .) "github" }}
{{- with .Values.login.github.org }}
github_org = {{ . | quote }}
{{- end }}
{{- with .Values.login.github.teams }}
github_team = {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- if or .Values.login.ca.configMap .Values.login.ca.secret }}
provider_ca_files = ["/etc/oauth2-proxy-ca/ca.crt"]
use_system_trust_store = true
{{- end }}
cookie_secure = {{ eq .Values.ingress.scheme "https" }}
cookie_httponly = true
cookie_samesite = "lax"
cookie_expire = {{ .Values.login.sessionLifetime | quote }}
cookie_csrf_per_request = true
cookie_csrf_per_request_limit = 16
cookie_csrf_expire = "15m"
session_cookie_minimal = true
{{- end }}
