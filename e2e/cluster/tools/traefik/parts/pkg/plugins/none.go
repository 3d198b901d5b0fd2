// In place of the interpreters of plugins.

package plugins

import (
	"context"
	"errors"

	"github.com/traefik/traefik/v3/pkg/provider"
)

var errNone = errors.New("this Traefik was built without plugins")

type interpreter struct{}

type providerBuilder struct {
	Import, BasePkg string
	interpreter     *interpreter
}

func newInterpreter(context.Context, string, *Manifest, Settings) (*interpreter, error) {
	return nil, errNone
}

func newYaegiMiddlewareBuilder(*interpreter, string, string) (middlewareBuilder, error) {
	return nil, errNone
}

func newWasmMiddlewareBuilder(string, string, string, Settings) (middlewareBuilder, error) {
	return nil, errNone
}

// BuildProvider fails.
func (b Builder) BuildProvider(string, map[string]any) (provider.Provider, error) {
	return nil, errNone
}
