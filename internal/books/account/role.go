package account

import "strings"

// The roles every chart has: what the service posts to or computes.
const (
	RoleFeesNetwork            = "fees_network"
	RoleFeesBank               = "fees_bank"
	RoleFeesTrading            = "fees_trading"
	RoleRealizedGain           = "realized_gain"
	RoleRealizedLoss           = "realized_loss"
	RoleUnrealizedGain         = "unrealized_gain"
	RoleUnrealizedLoss         = "unrealized_loss"
	RoleImpairmentLoss         = "impairment_loss"
	RoleRevaluationSurplus     = "revaluation_surplus"
	RoleFXGain                 = "fx_gain"
	RoleFXLoss                 = "fx_loss"
	RoleRounding               = "rounding"
	RoleOpeningBalanceEquity   = "opening_balance_equity"
	RoleRetainedEarnings       = "retained_earnings"        // computed: has no lines
	RoleRetainedEarningsPosted = "retained_earnings_posted" // for postings by hand
	RoleCurrentEarnings        = "current_earnings"         // computed: has no lines
	RoleTranslationAdjustment  = "translation_adjustment"   // computed: has no lines
	RoleSuspense               = "suspense"
	RoleSwapClearing           = "swap_clearing"
	RoleTransferClearing       = "transfer_clearing"
	RoleUnappliedCash          = "unapplied_cash"
	RoleInterestIncome         = "interest_income"
	RoleInterestExpense        = "interest_expense"
	RoleReceivable             = "accounts_receivable"
	RolePayable                = "accounts_payable"
)

// The roles of accounts that the service creates when it first needs them.
const (
	RoleTradeReceivable = "trade_receivable" // the control account of invoices
	RoleBadDebt         = "bad_debt"         // what invoices that are written off cost
)

// IsControl reports whether a role is that of a control account: only its subledger posts to it, so that both are equal.
func IsControl(role string) bool { return role == RoleTradeReceivable }

// ExplainedByApplications reports whether cash applications explain the balance of the account of a role, so that no rule can route
// payments to it.
func ExplainedByApplications(role string) bool { return IsControl(role) || role == RoleUnappliedCash }

// The roles of groups: those that divide the income statement into sections, and those below which the service creates accounts.
const (
	GroupRevenue             = "group:revenue"
	GroupOtherIncome         = "group:other_income"
	GroupCostOfRevenue       = "group:cost_of_revenue"
	GroupOperatingExpense    = "group:operating_expense"
	GroupOtherExpense        = "group:other_expense"
	GroupDueFrom             = "group:due_from"
	GroupDueTo               = "group:due_to"
	GroupFairValueAdjustment = "group:fair_value_adjustment"
)

const dueFrom, dueTo = "due_from", "due_to"

// RoleDueFrom returns the role of the account for what a legal entity owes the others.
func RoleDueFrom(legalEntityID string) string { return dueFrom + ":" + legalEntityID }

// RoleDueTo returns the role of the account for what the others owe a legal entity.
func RoleDueTo(legalEntityID string) string { return dueTo + ":" + legalEntityID }

// IsIntercompany reports whether a role is that of an account for what legal entities owe each other.
func IsIntercompany(role string) bool {
	_, ok := Account{Role: role}.entityOf()
	return ok
}

// RoleFairValueAdjustment returns the role of the account for the difference between the cost and the fair value of an asset.
func RoleFairValueAdjustment(assetType string) string { return "fair_value_adjustment:" + assetType }

// RoleAccumulatedImpairment returns the role of the account for the accumulated impairment of an asset.
func RoleAccumulatedImpairment(assetType string) string { return "accumulated_impairment:" + assetType }

// AdjustmentRoles returns the roles of the accounts by which an asset is carried above or below cost.
func AdjustmentRoles(assetType string) []string {
	return []string{RoleFairValueAdjustment(assetType), RoleAccumulatedImpairment(assetType), RoleTakenOverAdjustment(assetType)}
}

// RoleTakenOverAdjustment returns the role of the account for what lots of an asset are carried at above cost, because they were taken over
// like that from an asset or a legal entity that is measured at fair value. Accumulated impairment only lessens cost.
func RoleTakenOverAdjustment(assetType string) string { return "taken_over_adjustment:" + assetType }

// KeepsRates reports whether lines on the account are translated at the rate of their date, as contributed capital and dividends are. A
// revaluation surplus follows the assets that it belongs to instead: what came in at one rate and leaves at another must leave nothing.
func (a Account) KeepsRates() bool { return a.Type == Equity && a.Role != RoleRevaluationSurplus }

// entityOf returns the legal entity of an intercompany account.
func (a Account) entityOf() (legalEntityID string, ok bool) {
	if id, ok := strings.CutPrefix(a.Role, dueFrom+":"); ok {
		return id, true
	}
	return strings.CutPrefix(a.Role, dueTo+":")
}

// bareRole returns the role without the legal entity or asset that it is for.
func (a Account) bareRole() string {
	role, _, _ := strings.Cut(a.Role, ":")
	return role
}

// Section is a section of the income statement.
type Section string

// The sections. Accounts of the balance sheet are in none.
const (
	SectionNone             Section = ""
	SectionRevenue          Section = "revenue"
	SectionCostOfRevenue    Section = "cost_of_revenue"
	SectionOperatingExpense Section = "operating_expense"
	SectionOtherIncome      Section = "other_income"
	SectionOtherExpense     Section = "other_expense"
)

var sectionOfRole = map[string]Section{
	GroupRevenue: SectionRevenue, GroupOtherIncome: SectionOtherIncome,
	GroupCostOfRevenue: SectionCostOfRevenue, GroupOperatingExpense: SectionOperatingExpense, GroupOtherExpense: SectionOtherExpense,
}

var sectionOfType = map[Type]Section{Revenue: SectionRevenue, Expense: SectionOperatingExpense}

// Sections returns the section of every account of a chart by its id. It needs the whole chart, because a section is inherited.
func Sections(chart []Account) map[string]Section {
	byID := make(map[string]Account, len(chart))
	for _, a := range chart {
		byID[a.ID] = a
	}
	out := make(map[string]Section, len(chart))
	for _, a := range chart {
		var path []string // from the account up to the first whose section is known
		at, section, known := a, SectionNone, false
		for !known {
			path = append(path, at.ID)
			if section, known = sectionOfRole[at.Role]; known {
				break
			}
			above, there := byID[at.ParentID]
			if !there || len(path) > len(chart) { // the top, or a cycle in a damaged chart
				section = sectionOfType[at.Type]
				break
			}
			section, known = out[above.ID]
			at = above
		}
		for _, id := range path {
			out[id] = section
		}
	}
	return out
}
