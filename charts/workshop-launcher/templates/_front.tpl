{{/* The front: a stock nginx that queries the login proxies, for ingress controllers that cannot. It forwards the
identity from the login proxy's answer, and never an identity from the request. */}}

{{/* nginx forwards all headers except two groups: the headers set here, in any spelling, and headers with underscores
or dots in their names. A location that sets a header itself inherits none of these. */}}
{{- define "launcher.front.headers" -}}
proxy_set_header Host $http_host;
proxy_set_header Connection $front_connection;
proxy_set_header Upgrade $front_upgrade;
# TLS ends before the front. X-Forwarded-For is extended, but never used for a decision.
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
# Identity from the login proxy's response; empty in locations without a login.
proxy_set_header X-Auth-Request-Email $front_email;
proxy_set_header X-Auth-Request-User $front_user;
{{- range include "launcher.identityHeaders" . | fromYamlArray }}
{{- if not (has . (list "X-Auth-Request-Email" "X-Auth-Request-User" "X-Auth-Request-Proof")) }}
proxy_set_header {{ . }} "";
{{- end }}
{{- end }}
# Proof that the edge proxy set the identity; empty in locations without a login.
proxy_set_header X-Auth-Request-Proof {{ ternary "$front_proof" "\"\"" .Values.proxySecret.enabled }};
{{- end }}

{{/* The auth subrequest gets only the parts of a request that are named here. */}}
{{- define "launcher.front.authRequest" -}}
proxy_method GET;
{{ include "launcher.front.sessionBuffer" . }}
proxy_read_timeout 15s;
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

{{/* Locations of a host whose pages require a login. Takes (list root login); login is login or workshops-login.
Without a session, a page gets the login proxy's own answer to the same request: a redirect to the provider, which leads
back to this page, or 401 for a client that asks for JSON. */}}
{{- define "launcher.front.loginLocations" -}}
{{- $login := printf "http://%s-%s.%s.$front_services" (include "launcher.name" (index . 0)) (index . 1) (index . 0).Release.Namespace -}}
if ($front_elsewhere) {
  return 400 "The request names two hosts.\n";
}
location = /.front/question {
  internal;
  {{- include "launcher.front.authRequest" . | nindent 2 }}
  proxy_pass_request_body off;
  proxy_pass {{ $login }}/oauth2/auth;
}
# Requests with a body are refused, because a slow body occupies a connection. A browser's form is repeated as GET.
location @login {
  if ($front_body = form) {
    return 303 https://$http_host$request_uri;
  }
  if ($front_body) {
    return 401 "Unauthorized\n";
  }
  {{- include "launcher.front.rateLimit" . | nindent 2 }}
  {{- include "launcher.front.authRequest" . | nindent 2 }}
  proxy_pass {{ $login }}/;
}
{{- end }}

{{/* Rate limit that all requests without a session share. They wait in its queue, so any number of them cannot delay
requests with a session. */}}
{{- define "launcher.front.rateLimit" -}}
limit_req zone=front_strangers burst=5000;
{{- end }}

{{/* For a location without a login: no body, because its arrival could take any time. */}}
{{- define "launcher.front.public" -}}
{{ include "launcher.front.rateLimit" . }}
if ($front_body) {
  return 413 "No request body is accepted here.\n";
}
proxy_read_timeout 60s;
{{- end }}

{{/* For answers of a login proxy: a large session has dozens of cookies in one head. */}}
{{- define "launcher.front.sessionBuffer" -}}
proxy_buffer_size 64k;
{{- end }}

{{/* Queries the login proxy and stores its response. Takes (list root audience); adds the audience's proxy secret. */}}
{{- define "launcher.front.requireLogin" -}}
auth_request /.front/question;
auth_request_set $front_email $upstream_http_x_auth_request_email;
auth_request_set $front_user $upstream_http_x_auth_request_user;
{{- if (index . 0).Values.proxySecret.enabled }}
include /etc/workshop-launcher-proxy/{{ index . 1 }}.conf;
{{- end }}
{{- end }}

{{/* One nginx configuration file for each audience, in a Secret. */}}
{{- define "launcher.front.proofs" -}}
{{- range $audience := list "launcher" "workshops" }}
{{ $audience }}.conf: {{ printf "auth_request_set $front_proof \"%s\";\n" (include "launcher.proof" (list $ $audience)) | b64enc | quote }}
{{- end }}
{{- end }}

{{/* Codes of the languages with notices, as alternatives of a regular expression. English is the default. */}}
{{- define "launcher.front.languages" -}}
{{- $codes := list }}
{{- range $path, $_ := .Files.Glob "notices/missing.*.html" }}
{{- $codes = append $codes (base $path | trimPrefix "missing." | trimSuffix ".html") }}
{{- end }}
{{- without $codes "en" | join "|" }}
{{- end }}

{{/* Policy of the notices: it allows the style that they embed, by its hash. launcher-sidecar defines it. */}}
{{- define "launcher.front.noticePolicy" -}}
default-src 'none'; style-src 'sha256-qkrn+JObtfaOce0L2sxLrZh5CUSY5iNWCDctwyotFv4='; base-uri 'none'; form-action 'none'; frame-ancestors 'self'
{{- end }}

{{- define "launcher.front.conf" -}}
{{- $name := include "launcher.name" . }}
{{- $launcher := printf "http://%s.%s.$front_services" $name .Release.Namespace -}}
daemon off;
pid /tmp/nginx.pid;
# One worker: the limits of connections and memory apply per worker.
worker_processes 1;
# Without it, open WebSockets would delay a stop without limit.
worker_shutdown_timeout 20s;
error_log stderr warn;
events {
  worker_connections {{ include "launcher.front.connections" . }};
}
http {
  include /tmp/resolver.conf;
  # Request lines contain the provider's authorization codes.
  access_log off;
  server_tokens off;
  default_type text/plain;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;

  # Host names may be long.
  server_names_hash_bucket_size 256;
  ignore_invalid_headers on;
  underscores_in_headers off;
  # Most heads fit into 8 KiB; launcher and sidecars accept up to 64 KiB.
  client_header_buffer_size 8k;
  large_client_header_buffers 1 64k;
  include /tmp/heads.conf;
  client_header_timeout 15s;
  client_body_buffer_size 8k;
  # Frees the kernel's send buffer of a client that has stopped reading.
  reset_timedout_connection on;
  # Longer than the idle timeout of load balancers in front.
  keepalive_timeout 650s;
  # Bodies of any size are streamed; connections may be idle for an hour.
  client_max_body_size 0;
  client_body_timeout 3600s;
  proxy_request_buffering off;
  proxy_buffering off;
  proxy_buffer_size 32k;
  # Never allocated without buffering, but nginx requires their sum to exceed the other buffers.
  proxy_buffers 8 64k;
  proxy_connect_timeout 5s;
  proxy_read_timeout 3600s;
  proxy_send_timeout 3600s;
  proxy_http_version 1.1;
  proxy_redirect off;
  # An app must not cause redirects to internal locations.
  proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset;

  map $http_upgrade $front_upgrade {
    ~*^websocket$ websocket;
    default "";
  }
  map $front_upgrade $front_connection {
    websocket upgrade;
    default close;
  }
  # True if an absolute-form request target names another host than the Host header.
  map "$host $http_host" $front_elsewhere {
    "~*^([^ ]+) \1\.?(:[0-9]+)?$" "";
    default 1;
  }
  # Empty without a body; form if a browser sends one; 1 for other clients.
  map "$http_transfer_encoding$content_length $http_accept" $front_body {
    "~^0? " "";
    "~ .*text/html" form;
    default 1;
  }
  # 300 logins and refusals per second for all clients together: the key is constant.
  limit_req_zone $nginx_version zone=front_strangers:64k rate=300r/s;
  limit_req_log_level info;
  # Language of the notices: the first that the browser names.
  map $http_accept_language $front_language {
    "~*^ *(?<front_tag>{{ include "launcher.front.languages" . }})\b" $front_tag;
    default en;
  }
  map $upstream_addr $front_again {
    "" "";
    default 2;
  }
  {{- include "launcher.front.headers" . | nindent 2 }}

  # Requests for other hosts, and the kubelet's probes.
  server {
    include /tmp/listen-once.conf;
    server_name _;
    location = /healthz {
      return 200 "ok\n";
    }
    location / {
      return 421 "Unknown host.\n";
    }
  }

  server {
    include /tmp/listen.conf;
    server_name {{ .Values.host }};
    {{- include "launcher.front.loginLocations" (list . "login") | nindent 4 }}
    location / {
      {{- include "launcher.front.requireLogin" (list . "launcher") | nindent 6 }}
      error_page 401 = @login;
      proxy_pass {{ $launcher }};
    }
    # API, and resources that a page loads: 401 instead of a redirect to the login.
    location ~ ^/(api|assets|fragments)(/|$) {
      {{- include "launcher.front.requireLogin" (list . "launcher") | nindent 6 }}
      error_page 401 = @unauthorized;
      proxy_pass {{ $launcher }};
    }
    # try_files, because `return` would bypass limit_req.
    location @unauthorized {
      {{- include "launcher.front.rateLimit" . | nindent 6 }}
      try_files /nothing =401;
    }
    # Page without a login: every visitor is unauthenticated.
    location = /signed-out {
      {{- include "launcher.front.public" . | nindent 6 }}
      proxy_pass {{ $launcher }}/signed-out$is_args$args;
    }
    location ~ ^/oauth2(/|$) {
      {{- include "launcher.front.public" . | nindent 6 }}
      {{- include "launcher.front.sessionBuffer" . | nindent 6 }}
      proxy_pass http://{{ $name }}-login.{{ .Release.Namespace }}.$front_services;
    }
  }

  # Login host of the workshops' domain.
  server {
    include /tmp/listen.conf;
    server_name {{ include "launcher.workshopsLoginHost" . }};
    location ~ ^/oauth2(/|$) {
      {{- include "launcher.front.public" . | nindent 6 }}
      {{- include "launcher.front.sessionBuffer" . | nindent 6 }}
      proxy_pass http://{{ $name }}-workshops-login.{{ .Release.Namespace }}.$front_services;
    }
    location / {
      return 404 "Not found.\n";
    }
  }

  # Workshops: the host name is the name of the Service{{ with .Values.workshops.nameSuffix }}, and {{ . }}{{ end }}.
  server {
    include /tmp/listen.conf;
    server_name "~^(?<front_workshop>[a-z]([a-z0-9-]{0,61}[a-z0-9])?){{ .Values.workshops.nameSuffix }}\.{{ .Values.workshops.domain | replace "." "\\." }}$";
    {{- include "launcher.front.loginLocations" (list . "workshops-login") | nindent 4 }}
    location / {
      {{- include "launcher.front.requireLogin" (list . "workshops") | nindent 6 }}
      error_page 401 = @login;
      error_page 502 = @gone;
      # For the error pages of @gone.
      recursive_error_pages on;
      proxy_pass http://$front_workshop.{{ .Values.workshops.namespace }}.$front_services;
    }
    # The launcher answers about the class of a workshop.
    location ^~ /_launcher/class/ {
      {{- include "launcher.front.requireLogin" (list . "launcher") | nindent 6 }}
      error_page 401 = @unauthorized;
      proxy_pass {{ $launcher }};
    }
    location @unauthorized {
      {{- include "launcher.front.rateLimit" . | nindent 6 }}
      try_files /nothing =401;
    }
    location @gone {
      # 404 without a Service of this name. 502 if its pod does not answer, or the network does not route to it yet.
      error_page 404 /.front/notices/missing.$front_language.html;
      error_page 502 /.front/notices/starting.$front_language.html;
      if ($front_again = "") {
        return 404;
      }
      return 502;
    }
    location /.front/notices/ {
      internal;
      # The notices contain the name of the workshop, from the host. server_name limits its characters.
      ssi on;
      alias /etc/workshop-launcher/;
      charset utf-8;
      add_header Refresh $front_again always;
      add_header Cache-Control no-store always;
      add_header Content-Security-Policy "{{ include "launcher.front.noticePolicy" . }}" always;
      add_header Vary Accept-Language always;
      add_header X-Content-Type-Options nosniff always;
    }
  }
}
{{- end }}
