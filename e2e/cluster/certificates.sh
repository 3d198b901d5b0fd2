# Writes certificates and kubeconfigs of the cluster's components to pki/ and NAME.conf in the working folder; for
# up.sh.
# shellcheck shell=bash

# certificate NAME SUBJECT SUBJECT-ALTERNATIVE-NAMES
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "pki/$1.key" -subj "$2" -out "pki/$1.csr"
  openssl x509 -req -in "pki/$1.csr" -CA pki/ca.crt -CAkey pki/ca.key -CAcreateserial -days 365 \
    -extfile <(printf 'subjectAltName=%s\n' "$3") -out "pki/$1.crt"
}

# kubeconfig NAME: writes the kubeconfig of that component.
kubeconfig() {
  cat >"$1.conf" <<YAML
apiVersion: v1
kind: Config
current-context: workshops
clusters:
- name: workshops
  cluster: {server: "https://127.0.0.1:$API_PORT", certificate-authority-data: $(base64 --wrap=0 pki/ca.crt)}
users:
- name: $1
  user:
    client-certificate-data: $(base64 --wrap=0 "pki/$1.crt")
    client-key-data: $(base64 --wrap=0 "pki/$1.key")
contexts:
- name: workshops
  context: {cluster: workshops, user: $1}
YAML
}

# certificates NODE-IP: writes all certificates and kubeconfigs, with a new certificate authority.
certificates() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout pki/ca.key -subj /CN=workshops-ca \
    -days 365 -out pki/ca.crt
  openssl genrsa -out pki/sa.key 2048
  openssl rsa -in pki/sa.key -pubout -out pki/sa.pub
  certificate apiserver /CN=kube-apiserver \
    "DNS:localhost,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,IP:127.0.0.1,IP:$API_ADDRESS,IP:$1"
  certificate admin /O=system:masters/CN=admin DNS:admin
  certificate controller-manager /CN=system:kube-controller-manager DNS:controller-manager
  certificate scheduler /CN=system:kube-scheduler DNS:scheduler
  certificate node "/O=system:nodes/CN=system:node:$NODE" "DNS:$NODE,IP:$1"
  certificate proxy /CN=system:kube-proxy DNS:proxy
  for name in admin controller-manager scheduler node proxy; do
    kubeconfig "$name"
  done
}
