package api

import (
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/reference"
)

// reference returns the site at /docs, which is generated from the OpenAPI description.
func (a *API) reference() *reference.Site {
	return reference.New(reference.Config{
		Spec: a.schemas.spec, Version: a.config.Version, RateLimit: a.config.RateLimit, BodyMax: wire.BodyMax,
	})
}
