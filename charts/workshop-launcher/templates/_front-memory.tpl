{{/* Arithmetic of the front's memory limit. All memory that nginx and the kernel hold for its connections fits into the
limit, so clients cannot cause an OOM kill of the front.

  16 MiB          the two processes without connections, 8 MiB of them in the worker
  for each connection 168 KiB:
  96 KiB          nginx, as the average of all connections. An unfinished head takes 80: buffers of 8 and 64, pools. A
                  request that is served has two connections, so 192. With a head of up to 8 KiB it takes 168: head,
                  auth subrequest and request 8 each, answer of the login proxy 64, answer 32, a WebSocket's other
                  direction 32, pools 16.
  64 KiB          socket buffers, 32 each way: sysctls of the pod, rcvbuf and sndbuf of listen. cgroup v2 charges them.
  8 KiB           the kernel's structures for a socket; measured: 4.2

Two kinds of load take more than 96 KiB on average: heads that also have long names (142), and requests that all have
heads of 64 KiB. The worker's data limit (ulimit -d) is the sum for all connections: an allocation beyond it fails, nginx
answers that request with 5xx or closes it, and keeps running. There is no limit per client address: a class shares its
router's address, and all users share a load balancer's. */}}

{{- define "launcher.front.defaultMemory" -}}1Gi{{- end }}

{{/* The memory limit in bytes; empty if it cannot be parsed. */}}
{{- define "launcher.front.memory" -}}
{{- $limit := dig "limits" "memory" (include "launcher.front.defaultMemory" .) .Values.front.resources }}
{{- $text := ternary $limit (printf "%d" (int64 $limit)) (kindIs "string" $limit) }}
{{- if regexMatch "^[0-9]+([.][0-9]+)?(Ki|Mi|Gi|k|M|G)?$" $text }}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- $unit := regexFind "[A-Za-z]*$" $text }}
{{- mulf (trimSuffix $unit $text | float64) (get $units $unit) | int64 }}
{{- end }}
{{- end }}

{{- define "launcher.front.connections" -}}
{{- $memory := include "launcher.front.memory" . | int64 }}
{{- div (sub $memory (mul 16 1048576)) (mul (add 96 64 8) 1024) }}
{{- end }}

{{/* The worker's data limit, in KiB. */}}
{{- define "launcher.front.data" -}}
{{- add (mul 96 (include "launcher.front.connections" .)) 8192 }}
{{- end }}

{{- define "launcher.frontProblems" -}}
{{- if include "launcher.hasFront" . }}
{{- $memory := include "launcher.front.memory" . }}
{{- if not $memory }}
- front.resources.limits.memory is invalid: write a number with Ki, Mi or Gi, as in {{ include "launcher.front.defaultMemory" . }}
{{- else if lt (int64 $memory) 67108864 }}
- front.resources.limits.memory is less than 64Mi: nginx with a few hundred connections needs more
{{- end }}
{{- end }}
{{- end }}
