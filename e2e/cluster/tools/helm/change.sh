# shellcheck shell=bash
# A function that Kubernetes 1.34 has under another name, and a setting for very large releases that cli-utils has later.
sed -i 's|"k8s.io/apimachinery/pkg/api/validate/content"|content "k8s.io/apimachinery/pkg/api/validation/path"|
  s|content.IsPathSegmentName|content.IsValidPathSegmentName|' {pkg/chart/v2,internal/chart/v3}/lint/rules/template.go
sed -i '/sw.StatusComputeWorkers = /d' pkg/kube/statuswait.go
