package api

import (
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/edge/docs"
)

// docs returns the site at /docs, which is generated from the OpenAPI description.
func (a *API) docs() *docs.Site {
	return docs.New(docs.Config{
		Spec: a.schemas.spec, Version: a.config.Version, RateLimit: a.config.RateLimit, BodyMax: wire.BodyMax,
	})
}
