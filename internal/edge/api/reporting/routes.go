package reporting

import (
	"slices"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// handlers holds the handlers of the group.
type handlers struct{ app *app.App }

// Routes returns the operations of the group.
func Routes(a *app.App) []wire.Route {
	h := handlers{a}
	routes := slices.Concat(h.reports(), h.assetReports(), h.receivablesReports(), h.explanations())
	for i := range routes {
		routes[i] = routes[i].LargeRead()
	}
	return routes
}

func (h handlers) reports() []wire.Route {
	return wire.Tag{Name: "Reports", Description: "Financial statements, the general ledger and financial insights."}.Routes(
		wire.Get("/v1/reports/balance-sheet", h.getBalanceSheet, "Get the balance sheet").
			Describe("Assets, liabilities and equity at the end of each period.").MayConflict(),
		wire.Get("/v1/reports/trial-balance", h.getTrialBalance, "Get the trial balance").
			Describe("Opening balance, movement and closing balance of every account, with totals of debits and credits.").MayConflict(),
		wire.Get("/v1/reports/income-statement", h.getIncomeStatement, "Get the income statement").
			Describe("Income and expenses of each period by section.").MayConflict(),
		wire.Get("/v1/reports/general-ledger", h.listGeneralLedger, "List the lines of the general ledger").
			Describe("Posted lines by account, with the balance before and after each line."),
		wire.Get("/v1/reports/financial-insights", h.getFinancialInsights, "Get financial insights").
			Describe("Cash, burn, runway, concentration and the largest movements, each with the queries that explain it."),
	)
}

func (h handlers) assetReports() []wire.Route {
	return wire.Tag{Name: "Asset reports", Description: "Holdings, lots, gains and losses."}.Routes(
		wire.Get("/v1/reports/closing-positions", h.listClosingPositions, "List holdings at the end of a period at cost and fair value"),
		wire.Get("/v1/reports/treasury-balances", h.listTreasuryBalances, "List balances by source and asset, including fiat currency"),
		wire.Get("/v1/reports/realized-gains-losses", h.listRealizedGains, "List realized gains and losses by period and asset"),
		wire.Get("/v1/reports/asset-tax-lots", h.listAssetTaxLots, "List open lots with their cost basis and market value"),
		wire.Get("/v1/reports/schedule-of-dispositions", h.listDispositions,
			"List the schedule of dispositions: disposals lot by lot, by accounting date"),
		wire.Get("/v1/reports/roll-forward", h.listRollForward, "List the roll-forward of each asset over a year").
			Describe("Reconciles the fair value at the beginning of the year with that at its end, as ASC 350-60 requires."),
	)
}

func (h handlers) receivablesReports() []wire.Route {
	return wire.Tag{Name: "Receivables reports", Description: "What customers owe."}.Routes(
		wire.Get("/v1/reports/receivables-ageing", h.getReceivablesAgeing, "Get the ageing of receivables").
			Describe("What each customer owed at the end of a day, by how long it was overdue, and the same in total, compared with the "+
				"balance of trade receivables in the ledger. Covers the invoices that are booked here, and not those that another system keeps."),
		wire.Get("/v1/reports/unapplied-cash", h.getUnappliedCash, "Get unapplied cash").
			Describe("What was unapplied of each deposit at the end of a day, the same by customer, and in total, compared with the balance of "+
				"unapplied cash in the ledger."),
	)
}

func (h handlers) explanations() []wire.Route {
	return wire.Tag{Name: "Explanations", Description: "What a figure of a report consists of."}.Routes(
		wire.Get("/v1/reports/explain", h.explainFigure, "Explain a figure of a report").
			Describe("Returns what the figure consists of, down to lines, lots, prices and transactions.").MayConflict().ReadWhole(),
	)
}
