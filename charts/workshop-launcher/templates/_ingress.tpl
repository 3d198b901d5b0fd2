{{/* The annotations that put the login in front of an Ingress. */}}

{{/* Takes (list root gate), the gate being pages, api, workshops, or none: for the login proxies themselves. */}}
{{- define "launcher.annotations" -}}
{{ include (printf "launcher.%sAnnotations" (index . 0).Values.ingress.controller) . }}
{{- end }}

{{/* Those of each workshop's Ingress. */}}
{{- define "launcher.workshopAnnotations" -}}
{{ include "launcher.annotations" (list . "workshops") }}
{{- end }}

{{- define "launcher.traefikAnnotations" -}}
{{- $root := index . 0 }}
{{- $middlewares := ternary (list "strip") (list "strip" (index . 1)) (eq (index . 1) "none") }}
{{- $names := list }}
{{- range $middlewares }}
{{- $names = printf "%s-%s-%s@kubernetescrd" $root.Release.Namespace (include "launcher.name" $root) . | append $names }}
{{- end -}}
traefik.ingress.kubernetes.io/router.entrypoints: {{ $root.Values.ingress.entryPoint }}
traefik.ingress.kubernetes.io/router.tls: "true"
traefik.ingress.kubernetes.io/router.middlewares: {{ join "," $names }}
{{- end }}

{{/* nginx looks names up without the cluster's search list, so it gets them whole. It overwrites the headers that it is
given by the login proxy, and drops those whose names have underscores or dots. */}}
{{- define "launcher.nginxAnnotations" -}}
{{- $root := index . 0 }}
{{- $gate := index . 1 }}
{{- $suffix := ternary "workshops-login" "login" (eq $gate "workshops") -}}
nginx.ingress.kubernetes.io/force-ssl-redirect: "true"
{{- if ne $gate "none" }}
nginx.ingress.kubernetes.io/auth-url: http://{{ include "launcher.name" $root }}-{{ $suffix }}.{{ $root.Release.Namespace }}.svc.cluster.local/oauth2/auth
nginx.ingress.kubernetes.io/auth-response-headers: X-Auth-Request-Email,X-Auth-Request-User
# Bodies of any size, and connections that are quiet for an hour.
nginx.ingress.kubernetes.io/proxy-body-size: "0"
nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
nginx.ingress.kubernetes.io/proxy-read-timeout: "3600"
nginx.ingress.kubernetes.io/proxy-send-timeout: "3600"
{{- end }}
{{- if eq $gate "pages" }}
nginx.ingress.kubernetes.io/auth-signin: https://{{ include "launcher.authority" $root }}/oauth2/start?rd=$escaped_request_uri
{{- else if eq $gate "workshops" }}
nginx.ingress.kubernetes.io/auth-signin: https://{{ include "launcher.workshopsLoginAuthority" $root }}/oauth2/start?rd=https://$http_host$escaped_request_uri
{{- end }}
{{- end }}
