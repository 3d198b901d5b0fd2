// Package ecs is in place of the provider for Amazon's containers.
package ecs

import (
	"errors"

	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/safe"
)

// Provider has no settings.
type Provider struct{}

// Init fails.
func (*Provider) Init() error { return errors.New("this Traefik was built without ECS") }

// Provide is never called.
func (*Provider) Provide(chan<- dynamic.Message, *safe.Pool) error { return nil }
