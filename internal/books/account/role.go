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
	RoleRetainedEarnings       = "retained_earnings"        // computed: takes no lines
	RoleRetainedEarningsPosted = "retained_earnings_posted" // what is posted to it by hand
	RoleCurrentEarnings        = "current_earnings"         // computed: takes no lines
	RoleTranslationAdjustment  = "translation_adjustment"   // computed: takes no lines
	RoleSuspense               = "suspense"
	RoleSwapClearing           = "swap_clearing"
	RoleTransferClearing       = "transfer_clearing"
	RoleUnappliedCash          = "unapplied_cash"
	RoleReceivable             = "accounts_receivable"
	RolePayable                = "accounts_payable"
)

// The roles of groups: those that cut the income statement into sections, and those that the service puts accounts below.
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

const dueFrom, dueTo = "due_from:", "due_to:"

// RoleDueFrom is the role of the account with what a legal entity owes the others.
func RoleDueFrom(legalEntityID string) string { return dueFrom + legalEntityID }

// RoleDueTo is the role of the account with what the others owe a legal entity.
func RoleDueTo(legalEntityID string) string { return dueTo + legalEntityID }

// RoleFairValueAdjustment is the role of the account that carries an asset from cost to fair value.
func RoleFairValueAdjustment(assetType string) string { return "fair_value_adjustment:" + assetType }

// RoleAccumulatedImpairment is the role of the account that carries an asset from cost to the less that it is worth.
func RoleAccumulatedImpairment(assetType string) string { return "accumulated_impairment:" + assetType }

// entityOf gives the legal entity an intercompany account is about.
func (a Account) entityOf() (legalEntityID string, ok bool) {
	if id, ok := strings.CutPrefix(a.Role, dueFrom); ok {
		return id, true
	}
	return strings.CutPrefix(a.Role, dueTo)
}

// Section is where an account stands in the income statement.
type Section string

// The sections. Accounts of the balance sheet stand in none.
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

// Sections gives the section of every account of a chart by its id. It needs the whole chart, because a section is inherited.
func Sections(chart []Account) map[string]Section {
	byID := make(map[string]Account, len(chart))
	for _, a := range chart {
		byID[a.ID] = a
	}
	out := make(map[string]Section, len(chart))
	for _, a := range chart {
		var way []string // from the account up to the first whose section is known
		at, section, known := a, SectionNone, false
		for !known {
			way = append(way, at.ID)
			if section, known = sectionOfRole[at.Role]; known {
				break
			}
			above, there := byID[at.ParentID]
			if !there || len(way) > len(chart) { // the top; or a circle, which only a check may meet
				section = sectionOfType[at.Type]
				break
			}
			section, known = out[above.ID]
			at = above
		}
		for _, id := range way {
			out[id] = section
		}
	}
	return out
}
