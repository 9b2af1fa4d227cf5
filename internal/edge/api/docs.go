package api

import (
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/reference"
)

// reference is the site at /docs, made from the OpenAPI description.
func (a *API) reference() *reference.Site {
	return reference.New(reference.Config{
		Spec: a.schemas.spec, Version: a.config.Version, RateLimit: a.config.RateLimit, BodyMax: wire.BodyMax,
	})
}
