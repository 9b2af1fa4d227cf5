package api

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/assets"
	"github.com/bursarhq/bursar/internal/edge/api/automation"
	"github.com/bursarhq/bursar/internal/edge/api/books"
	"github.com/bursarhq/bursar/internal/edge/api/integration"
	"github.com/bursarhq/bursar/internal/edge/api/receivables"
	"github.com/bursarhq/bursar/internal/edge/api/reporting"
	"github.com/bursarhq/bursar/internal/edge/api/tenancy"
	"github.com/bursarhq/bursar/internal/edge/api/treasury"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// routes returns every operation of the API, in the order in which the reference lists them.
func routes(a *app.App) []wire.Route {
	return slices.Concat(
		tenancy.Routes(a),
		books.Routes(a),
		treasury.Routes(a),
		assets.Routes(a),
		receivables.Routes(a),
		automation.Routes(a),
		integration.Routes(a),
		reporting.Routes(a),
	)
}
