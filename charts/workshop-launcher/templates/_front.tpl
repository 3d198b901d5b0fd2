{{/* The front: a stock nginx that asks the login proxies, for clusters whose ingress controller cannot be told to. It
passes on what the login says about a request and nothing that the request says about itself. */}}

{{/* Written at its start: the cluster's name servers and domain, and the addresses to listen on. */}}
{{- define "launcher.front.start" -}}
#!/bin/sh
set -eu
awk '
  $1 == "nameserver" { servers = servers " " ($2 ~ /:/ ? "[" $2 "]" : $2) }
  $1 == "search" { for (i = 2; i <= NF && services == ""; i++) if ($i ~ /^svc\./) services = $i }
  END {
    if (services == "") services = "svc.cluster.local"
    print "resolver" servers " valid=5s ipv6=off;"
    print "map $host $front_services { default " services "; }"
  }' /etc/resolv.conf >/tmp/resolver.conf
echo 'listen 8080;' >/tmp/listen.conf
# Its size is always 0.
[ -z "$(cat /proc/net/if_inet6 2>/dev/null)" ] || echo 'listen [::]:8080;' >>/tmp/listen.conf
# As many connections as the node allows.
ulimit -n "$(ulimit -H -n)" || :
exec nginx -e stderr -c "${0%/*}/nginx.conf"
{{- end }}

{{/* nginx hands headers on but for those that are set here, in any spelling of theirs, and those with underscores or
dots in their names. A location that sets one itself has none of these. */}}
{{- define "launcher.front.headers" -}}
proxy_set_header Host $http_host;
proxy_set_header Connection $front_connection;
proxy_set_header Upgrade $front_upgrade;
# TLS has ended before. What came of X-Forwarded-For is kept, and nothing here goes by it.
proxy_set_header X-Forwarded-Proto https;
proxy_set_header X-Forwarded-Host $http_host;
proxy_set_header X-Forwarded-Port {{ int .Values.ingress.port }};
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
proxy_set_header X-Forwarded-Uri $request_uri;
proxy_set_header X-Forwarded-Method $request_method;
proxy_set_header X-Real-Ip $remote_addr;
{{- range list "Forwarded" "X-Forwarded-Prefix" "X-Forwarded-Server" }}
proxy_set_header {{ . }} "";
{{- end }}
# Who is calling: what the login said about this request, or nothing where it was not asked.
proxy_set_header X-Auth-Request-Email $front_email;
proxy_set_header X-Auth-Request-User $front_user;
{{- range include "launcher.identityHeaders" . | fromYamlArray }}
{{- if not (has . (list "X-Auth-Request-Email" "X-Auth-Request-User" "X-Auth-Request-Proof")) }}
proxy_set_header {{ . }} "";
{{- end }}
{{- end }}
# The proof that this front says so: the proxy secret of launcher or workshops where the login was asked.
proxy_set_header X-Auth-Request-Proof {{ ternary "$front_proof" "\"\"" .Values.proxySecret.enabled }};
{{- end }}

{{/* Of the request only what is named here gets to the question. */}}
{{- define "launcher.front.question" -}}
proxy_method GET;
proxy_pass_request_headers off;
proxy_set_header Connection close;
proxy_set_header Cookie $http_cookie;
proxy_set_header Accept $http_accept;
proxy_set_header User-Agent $http_user_agent;
proxy_set_header X-Forwarded-Proto https;
proxy_set_header X-Forwarded-Host $http_host;
proxy_set_header X-Forwarded-Uri $request_uri;
proxy_set_header X-Forwarded-Method $request_method;
proxy_set_header X-Real-Ip $remote_addr;
{{- end }}

{{/* Takes (list root login), the login being login or workshops-login: what a host has whose pages take that login.
Without a session, a page gets the login proxy's own answer to the same question: the way to the provider, which comes
back to this very page, or 401 for what asks for JSON. */}}
{{- define "launcher.front.gate" -}}
{{- $login := printf "http://%s-%s.%s.$front_services" (include "launcher.name" (index . 0)) (index . 1) (index . 0).Release.Namespace -}}
if ($front_elsewhere) {
  return 400 "Two hosts in one request.\n";
}
location = /.front/question {
  internal;
  {{- include "launcher.front.question" . | nindent 2 }}
  proxy_pass_request_body off;
  proxy_pass {{ $login }}/oauth2/auth;
}
# A small body, of a form, goes along: to drop it, nginx would store it first.
location @login {
  if ($front_large) {
    return 401 "Unauthorized\n";
  }
  {{- include "launcher.front.question" . | nindent 2 }}
  proxy_pass {{ $login }}/;
}
{{- end }}

{{/* Asks, and remembers the answer. Takes (list root audience): the proxy secret of that audience goes with it. */}}
{{- define "launcher.front.asked" -}}
auth_request /.front/question;
auth_request_set $front_email $upstream_http_x_auth_request_email;
auth_request_set $front_user $upstream_http_x_auth_request_user;
{{- if (index . 0).Values.proxySecret.enabled }}
include /etc/workshop-launcher-proxy/{{ index . 1 }}.conf;
{{- end }}
{{- end }}

{{/* One file of nginx's configuration for each audience, in a Secret. */}}
{{- define "launcher.front.proofs" -}}
{{- range $audience := list "launcher" "workshops" }}
{{ $audience }}.conf: {{ printf "auth_request_set $front_proof \"%s\";\n" (include "launcher.proof" (list $ $audience)) | b64enc | quote }}
{{- end }}
{{- end }}

{{- define "launcher.front.conf" -}}
{{- $name := include "launcher.name" . }}
{{- $launcher := printf "http://%s.%s.$front_services" $name .Release.Namespace -}}
daemon off;
pid /tmp/nginx.pid;
worker_processes 2;
# Rather than wait for WebSockets without end.
worker_shutdown_timeout 20s;
error_log stderr warn;
events {
  worker_connections 16000;
}
http {
  include /tmp/resolver.conf;
  # A request line has the provider's codes in it.
  access_log off;
  server_tokens off;
  default_type text/plain;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;

  # Names may be long.
  server_names_hash_bucket_size 256;
  ignore_invalid_headers on;
  underscores_in_headers off;
  large_client_header_buffers 4 64k;
  client_header_timeout 30s;
  # Longer than any load balancer in front keeps a connection for.
  keepalive_timeout 650s;
  # Bodies of any size pass without being stored, and connections may be quiet for an hour.
  client_max_body_size 0;
  client_body_timeout 3600s;
  proxy_request_buffering off;
  proxy_buffering off;
  # A large session comes as dozens of cookies in one head.
  proxy_buffer_size 64k;
  proxy_buffers 8 64k;
  proxy_connect_timeout 5s;
  proxy_read_timeout 3600s;
  proxy_send_timeout 3600s;
  proxy_http_version 1.1;
  proxy_redirect off;
  # An app must not send nginx elsewhere, to what is for nginx alone.
  proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset;

  map $http_upgrade $front_upgrade {
    ~*^websocket$ websocket;
    default "";
  }
  map $front_upgrade $front_connection {
    websocket upgrade;
    default close;
  }
  # A target with a host of its own may name another than the line Host.
  map "$host $http_host" $front_elsewhere {
    "~*^([^ ]+) \1\.?(:[0-9]+)?$" "";
    default 1;
  }
  map "$http_transfer_encoding$content_length" $front_large {
    "" "";
    "~^[0-9]{1,5}$" "";
    default 1;
  }
  map $upstream_addr $front_again {
    "" "";
    default 2;
  }
  {{- include "launcher.front.headers" . | nindent 2 }}

  # Whoever asks for another host, and the kubelet.
  server {
    include /tmp/listen.conf;
    server_name _;
    location = /healthz {
      return 200 "ok\n";
    }
    location / {
      return 421 "Nobody by this name is here.\n";
    }
  }

  server {
    include /tmp/listen.conf;
    server_name {{ .Values.host }};
    {{- include "launcher.front.gate" (list . "login") | nindent 4 }}
    location / {
      {{- include "launcher.front.asked" (list . "launcher") | nindent 6 }}
      error_page 401 = @login;
      proxy_pass {{ $launcher }};
    }
    # What a page loads by itself goes with the API: nobody is sent to a login by an image or a stream of events.
    location ~ ^/(api|assets|fragments)(/|$) {
      {{- include "launcher.front.asked" (list . "launcher") | nindent 6 }}
      error_page 401 = @unauthorized;
      proxy_pass {{ $launcher }};
    }
    location @unauthorized {
      return 401 "Unauthorized\n";
    }
    # A page that takes no login: whoever comes here is nobody.
    location = /signed-out {
      proxy_pass {{ $launcher }}/signed-out$is_args$args;
    }
    location ~ ^/oauth2(/|$) {
      proxy_pass http://{{ $name }}-login.{{ .Release.Namespace }}.$front_services;
    }
  }

  # Where people log in to the workshops' domain.
  server {
    include /tmp/listen.conf;
    server_name {{ include "launcher.workshopsLoginHost" . }};
    location ~ ^/oauth2(/|$) {
      proxy_pass http://{{ $name }}-workshops-login.{{ .Release.Namespace }}.$front_services;
    }
    location / {
      return 404 "There is nothing here.\n";
    }
  }

  # Each workshop is the Service of its name.
  server {
    include /tmp/listen.conf;
    server_name "~^(?<front_workshop>[a-z]([a-z0-9-]{0,61}[a-z0-9])?)\.{{ .Values.workshops.domain | replace "." "\\." }}$";
    {{- include "launcher.front.gate" (list . "workshops-login") | nindent 4 }}
    location / {
      {{- include "launcher.front.asked" (list . "workshops") | nindent 6 }}
      error_page 401 = @login;
      error_page 502 = @gone;
      proxy_pass http://$front_workshop.{{ .Values.workshops.namespace }}.$front_services;
    }
    location @gone {
      # No Service of this name; or its pod does not answer, or the cluster's network has not heard of it yet.
      add_header Refresh $front_again always;
      if ($front_again = "") {
        return 404 "There is no such workshop.\n";
      }
      return 502 "The workshop does not answer. This page tries again by itself.\n";
    }
  }
}
{{- end }}
