package automation

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	return slices.Concat(h.classification(), h.memory(), h.firmTemplates())
}

func (h handlers) classification() []wire.Route {
	create := wire.Post("/v1/classification-runs", h.createClassificationRun, "Start a classification run").
		Describe("Applies the rules to transactions in the background. Where no rule matches, it suggests a classification from " +
			"earlier bookings. An organization can have 20 runs that are not finished.").Creates().LargeWrite()
	return wire.Tag{Name: "Classification", Description: "Background runs that classify transactions by rules and precedents."}.Routes(
		wire.Get("/v1/classification-runs", h.listClassificationRuns, "List classification runs, newest first"),
		wire.Prepared(create, h.prepareClassificationRun),
		wire.Get("/v1/classification-runs/{classification_run_id}", h.getClassificationRun,
			"Get the progress and the counts of a classification run"),
		wire.Get("/v1/classification-runs/{classification_run_id}/results", h.listClassificationResults,
			"List the results of a classification run").
			Describe("One result per transaction, with its reasons, in the order of the transactions."),
		wire.Post("/v1/classification-runs/{classification_run_id}/cancel", h.cancelClassificationRun, "Cancel a classification run").
			Describe("Keeps what the run has done so far."),
		wire.Post("/v1/classification-runs/{classification_run_id}/resume", h.resumeClassificationRun,
			"Resume a cancelled or failed classification run").
			Describe("The run continues where it stopped, with the rules it started with."),
	)
}

func (h handlers) memory() []wire.Route {
	rule := func(r wire.Route) wire.Route { return r.When("kind", "rule") }
	writeRule := func(r wire.Route) wire.Route {
		return rule(r).NeedsScope(actor.ScopeRules).NeedsRole(actor.Owner).OrFirm(actor.Partner)
	}
	routes := wire.Tag{Name: "Memory", Description: "Documents and rules that guide classification."}.Routes(
		wire.Get("/v1/memory/file", h.getMemory, "Get a file or a folder").
			Describe("A path that ends in a slash returns everything below it. Includes the files of the organization's accounting firm."),
		wire.Put("/v1/memory/file", h.putMemory, "Create or replace a file").WholeOrganization().NeedsScope(actor.ScopeMemory),
		wire.Delete("/v1/memory/file", h.deleteMemory, "Delete a file").WholeOrganization().NeedsScope(actor.ScopeMemory).
			Describe("Its earlier versions are kept."),
		wire.Get("/v1/memory/history", h.listMemoryHistory, "List the versions of a file, newest first").
			Describe("With what changed, who changed it and why."),

		rule(wire.Get("/v1/memory/file", h.getMemoryRules, "List the rules of the organization")),
		writeRule(wire.Put("/v1/memory/file", h.putMemoryRule, "Create or replace a rule").WholeOrganization().
			Describe("The rule applies to later classification runs.")),
		writeRule(wire.Delete("/v1/memory/file", h.deleteMemoryRule, "Delete a rule").WholeOrganization().
			Describe("Its earlier versions are kept.")),
		rule(wire.Get("/v1/memory/history", h.listMemoryRuleHistory, "List the versions of a rule, newest first").
			Describe("With what changed, who changed it and why.")),
		wire.Post("/v1/memory/rules/test", h.testMemoryRule, "Test a rule against past transactions").ReadOnly().Backtest().MayConflict().
			Describe("Returns what the rule matches, what it would change and which other rules match too. Nothing is saved."),
	)
	for i := range routes {
		routes[i] = routes[i].ByProvider()
	}
	return routes
}
