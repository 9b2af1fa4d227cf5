package api

import (
	"crypto/sha256"
	"encoding/base32"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/reference"
)

// reference is the site at /docs, made from the OpenAPI description.
func (a *API) reference() *reference.Site {
	return reference.New(reference.Config{Spec: a.schemas.spec, Version: a.config.Version, RateLimit: a.config.RateLimit, BodyMax: bodyMax})
}

// schemaOf returns the schema of a body, whichever its type.
func schemaOf(content map[string]*huma.MediaType) *huma.Schema {
	for _, kind := range []string{"application/json", formType} {
		if media := content[kind]; media != nil {
			return media.Schema
		}
	}
	return nil
}

// sampleID returns an id for the examples of schemas, always the same for a type.
func sampleID(prefix string) string {
	sum := sha256.Sum256([]byte(prefix))
	return prefix + "_01kg9p6je0" + base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").EncodeToString(sum[:10])
}
