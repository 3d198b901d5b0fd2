//go:build tools

// Package tools names the program that build.sh builds. Its go.sum needs only Traefik itself: build.sh builds inside
// Traefik's own module, whose go.sum pins the rest.
package tools

import _ "github.com/traefik/traefik/v3/cmd/traefik"
