package account

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// chartEntry is one account of the default chart.
type chartEntry struct {
	code, name string
	role       string
	traits     traits
	children   []chartEntry
}

// traits are how an account differs from a postable one with the normal balance of its type.
type traits int

const (
	group       traits = 1 << iota // not postable
	contra                         // has the other normal balance
	clearing                       // has a balance of zero once everything is booked
	nonmonetary                    // keeps the rate of the day, as does every account below it
)

// defaultChart is the chart of a new organization by type.
var defaultChart = []struct {
	kind    Type
	entries []chartEntry
}{
	{Asset, []chartEntry{
		{code: "1000", name: "Cash and bank", traits: group, children: []chartEntry{
			{code: "1010", name: "Bank accounts"},
			{code: "1020", name: "Payment processor balances"},
		}},
		{code: "1100", name: "Exchange balances", traits: group, children: []chartEntry{
			{code: "1110", name: "Cash on exchanges"},
			{code: "1120", name: "Digital assets on exchanges", traits: nonmonetary},
		}},
		{code: "1200", name: "Digital assets", traits: group | nonmonetary, children: []chartEntry{
			{code: "1210", name: "Digital assets at cost"},
			{code: "1220", name: "Stablecoins"},
			{code: "1230", name: "Staked digital assets"},
			{code: "1240", name: "NFTs"},
			{code: "1290", name: "Fair value adjustment", role: GroupFairValueAdjustment, traits: group},
		}},
		{code: "1300", name: "Receivables", traits: group, children: []chartEntry{
			{code: "1310", name: "Accounts receivable", role: RoleReceivable},
			{code: "1320", name: "Rewards receivable"},
			{code: "1330", name: "Loans receivable"},
			{code: "1340", name: "Other receivables"},
			{code: "1390", name: "Allowance for doubtful accounts", traits: contra},
		}},
		{code: "1400", name: "Other current assets", traits: group, children: []chartEntry{
			{code: "1410", name: "Prepaid expenses", traits: nonmonetary},
			{code: "1420", name: "Reserves held by processors"},
		}},
		{code: "1500", name: "Due from group companies", role: GroupDueFrom, traits: group},
		{code: "1600", name: "Fixed assets", traits: group | nonmonetary, children: []chartEntry{
			{code: "1610", name: "Equipment"},
			{code: "1690", name: "Accumulated depreciation", traits: contra},
		}},
		{code: "1900", name: "Clearing accounts", traits: group, children: []chartEntry{
			{code: "1910", name: "Suspense", role: RoleSuspense, traits: clearing},
			{code: "1920", name: "Swap clearing", role: RoleSwapClearing, traits: clearing},
			{code: "1930", name: "Transfer clearing", role: RoleTransferClearing, traits: clearing},
		}},
	}},
	{Liability, []chartEntry{
		{code: "2000", name: "Payables", traits: group, children: []chartEntry{
			{code: "2010", name: "Accounts payable", role: RolePayable},
			{code: "2020", name: "Accrued expenses"},
			{code: "2030", name: "Credit cards"},
			{code: "2040", name: "Payroll liabilities"},
			{code: "2050", name: "Taxes payable"},
		}},
		{code: "2100", name: "Customer balances", traits: group, children: []chartEntry{
			{code: "2110", name: "Unapplied cash", role: RoleUnappliedCash},
			{code: "2120", name: "Deferred revenue", traits: nonmonetary},
		}},
		{code: "2200", name: "Loans", traits: group, children: []chartEntry{
			{code: "2210", name: "Loans payable"},
			{code: "2220", name: "Digital asset loans payable"},
			{code: "2230", name: "Interest payable"},
		}},
		{code: "2300", name: "Due to group companies", role: GroupDueTo, traits: group},
	}},
	{Equity, []chartEntry{
		{code: "3000", name: "Contributed capital", traits: group, children: []chartEntry{
			{code: "3010", name: "Paid-in capital"},
			{code: "3020", name: "Distributions", traits: contra},
		}},
		{code: "3100", name: "Opening balance equity", role: RoleOpeningBalanceEquity},
		{code: "3200", name: "Retained earnings", role: RoleRetainedEarnings, traits: group, children: []chartEntry{
			{code: "3210", name: "Retained earnings, posted", role: RoleRetainedEarningsPosted},
		}},
		{code: "3300", name: "Current earnings", role: RoleCurrentEarnings, traits: group},
		{code: "3400", name: "Revaluation surplus", role: RoleRevaluationSurplus},
		{code: "3500", name: "Translation adjustment", role: RoleTranslationAdjustment, traits: group},
	}},
	{Revenue, []chartEntry{
		{code: "4000", name: "Revenue", role: GroupRevenue, traits: group, children: []chartEntry{
			{code: "4010", name: "Sales"},
			{code: "4020", name: "Staking income"},
			{code: "4030", name: "Validator revenue"},
			{code: "4040", name: "Reward income"},
			{code: "4050", name: "Trading profit and loss"},
			{code: "4080", name: "Sales refunds", traits: contra},
			{code: "4090", name: "Chargebacks", traits: contra},
		}},
		{code: "4500", name: "Other income", role: GroupOtherIncome, traits: group, children: []chartEntry{
			{code: "4510", name: "Realized gains", role: RoleRealizedGain},
			{code: "4520", name: "Unrealized gains", role: RoleUnrealizedGain},
			{code: "4530", name: "Foreign exchange gains", role: RoleFXGain},
			{code: "4540", name: "Interest income", role: RoleInterestIncome},
			{code: "4590", name: "Other income"},
		}},
	}},
	{Expense, []chartEntry{
		{code: "5000", name: "Cost of revenue", role: GroupCostOfRevenue, traits: group, children: []chartEntry{
			{code: "5010", name: "Infrastructure and hosting"},
			{code: "5020", name: "Validator and node costs"},
			{code: "5030", name: "Payment processing fees"},
			{code: "5040", name: "Marketplace fees and royalties"},
		}},
		{code: "6000", name: "Operating expenses", role: GroupOperatingExpense, traits: group, children: []chartEntry{
			{code: "6010", name: "Salaries and benefits"},
			{code: "6020", name: "Contractors"},
			{code: "6030", name: "Software and subscriptions"},
			{code: "6040", name: "Legal fees"},
			{code: "6050", name: "Accounting and audit"},
			{code: "6060", name: "Marketing"},
			{code: "6070", name: "Travel"},
			{code: "6080", name: "Rent and office"},
			{code: "6090", name: "Taxes and licences"},
			{code: "6100", name: "Depreciation"},
			{code: "6200", name: "Transaction fees", traits: group, children: []chartEntry{
				{code: "6210", name: "Network fees", role: RoleFeesNetwork},
				{code: "6220", name: "Bank fees", role: RoleFeesBank},
				{code: "6230", name: "Trading fees", role: RoleFeesTrading},
			}},
			{code: "6900", name: "Other operating expenses"},
		}},
		{code: "7000", name: "Other expenses", role: GroupOtherExpense, traits: group, children: []chartEntry{
			{code: "7010", name: "Realized losses", role: RoleRealizedLoss},
			{code: "7020", name: "Unrealized losses", role: RoleUnrealizedLoss},
			{code: "7030", name: "Impairment losses", role: RoleImpairmentLoss},
			{code: "7040", name: "Foreign exchange losses", role: RoleFXLoss},
			{code: "7050", name: "Interest expense", role: RoleInterestExpense},
			{code: "7060", name: "Rounding differences", role: RoleRounding},
			{code: "7070", name: "Income taxes"},
			{code: "7090", name: "Other expenses"},
		}},
	}},
}

// laterRoles are roles of the default chart that charts from before they existed lack, with the code and type of their accounts.
var laterRoles = map[string]struct {
	code string
	kind Type
}{
	RoleInterestIncome: {"4540", Revenue}, RoleInterestExpense: {"7050", Expense},
}

// FindRoles returns the accounts of a chart by role. In a chart from before a role existed, the account that has the code of the
// default chart takes its place.
func FindRoles(chart []Account) map[string]string {
	roles := map[string]string{}
	for _, a := range chart {
		if a.Role != "" {
			roles[a.Role] = a.ID
		}
	}
	for role, as := range laterRoles {
		for _, a := range chart {
			if roles[role] == "" && a.Role == "" && a.Code == as.code && a.Type == as.kind && a.Postable && !a.Archived() {
				roles[role] = a.ID
			}
		}
	}
	return roles
}

// systemRoles are the roles every chart must have.
var systemRoles = func() (roles []string) {
	var walk func([]chartEntry)
	walk = func(entries []chartEntry) {
		for _, e := range entries {
			if _, later := laterRoles[e.role]; e.role != "" && !later {
				roles = append(roles, e.role)
			}
			walk(e.children)
		}
	}
	for _, c := range defaultChart {
		walk(c.entries)
	}
	return roles
}()

// seededFacts describes an account of the default chart in the audit log. It is a struct, because a map for each account would
// cost as much as inserting the rows.
type seededFacts struct {
	Code     string  `json:"code"`
	ID       string  `json:"id"`
	Clearing bool    `json:"is_clearing_account"`
	Monetary bool    `json:"is_monetary"`
	Postable bool    `json:"is_postable"`
	Name     string  `json:"name"`
	Balance  Balance `json:"normal_balance"`
	ParentID *string `json:"parent_account_id"`
	Role     *string `json:"role"`
	Number   int64   `json:"sequence_number"`
	Type     Type    `json:"type"`
}

// Seed creates the default chart of a new organization, with one audit record. It runs in the caller's transaction.
func Seed(ctx context.Context, tx *db.Tx) error {
	state, err := orgstate.Touch(ctx, tx)
	if err != nil {
		return err
	}
	var chart []Account
	var told []seededFacts
	var add func(kind Type, parent Account, entries []chartEntry)
	add = func(kind Type, parent Account, entries []chartEntry) {
		for _, e := range entries {
			state.AccountNumber++
			a := e.account(kind)
			a.ID, a.SequenceNumber, a.ParentID, a.CreatedAt = tx.NewID(id.LedgerAccount), state.AccountNumber, parent.ID, tx.Now()
			a.Monetary = a.InheritedMonetary(parent) && e.traits&nonmonetary == 0
			chart = append(chart, a)
			told = append(told, seededFacts{Code: a.Code, ID: a.ID, Clearing: a.Clearing, Monetary: a.Monetary, Postable: a.Postable,
				Name: a.Name, Balance: a.NormalBalance, ParentID: db.OrNull(a.ParentID), Role: db.OrNull(a.Role), Number: a.SequenceNumber,
				Type: a.Type})
			add(kind, a, e.children)
		}
	}
	for _, c := range defaultChart {
		add(c.kind, Account{}, c.entries)
	}
	if err := insert(ctx, tx, chart...); err != nil {
		return err
	}
	parts := make([]audit.Part, len(chart))
	for i, a := range chart {
		parts[i] = audit.Part{Type: "ledger_account", ID: a.ID}
	}
	// A new organization has no webhooks yet, so there is no event.
	audit.Record(ctx, tx, audit.Change{Action: "ledger_accounts.seeded", ResourceType: "organization", ResourceID: tx.Organization(),
		After: map[string]any{"ledger_accounts": told}, NoEvent: true, Parts: parts, PartsOnly: true})
	return nil
}

func (e chartEntry) account(kind Type) Account {
	a := Account{Code: e.code, Name: e.name, Role: e.role, Type: kind, NormalBalance: kind.NormalBalance(), Postable: e.traits&group == 0,
		Clearing: e.traits&clearing != 0}
	if e.traits&contra != 0 {
		a.NormalBalance = a.NormalBalance.Contra()
	}
	return a
}

// CreateIntercompany creates the accounts for what a new legal entity and the others owe each other. It runs in the caller's
// transaction.
func CreateIntercompany(ctx context.Context, tx *db.Tx, legalEntityID, name string) error {
	state, err := orgstate.Touch(ctx, tx)
	if err != nil {
		return err
	}
	groups, err := selectByRoles(ctx, tx, GroupDueFrom, GroupDueTo)
	if err != nil {
		return err
	}
	if len(groups) != 2 {
		return fmt.Errorf("account: the chart has %d of the two groups for intercompany accounts", len(groups))
	}
	accounts := make([]Account, 0, 2)
	for _, g := range groups {
		state.AccountNumber++
		a := Account{
			ID: tx.NewID(id.LedgerAccount), SequenceNumber: state.AccountNumber,
			Name: truncate("Due from "+name, NameMax), Type: g.Type, NormalBalance: g.NormalBalance,
			ParentID: g.ID, Postable: true, Monetary: g.Monetary, Role: RoleDueFrom(legalEntityID), CreatedAt: tx.Now(),
		}
		if g.Role == GroupDueTo {
			a.Name, a.Role = truncate("Due to "+name, NameMax), RoleDueTo(legalEntityID)
		}
		accounts = append(accounts, a)
	}
	if err := insert(ctx, tx, accounts...); err != nil {
		return err
	}
	for _, a := range accounts {
		recordCreated(ctx, tx, a)
	}
	return nil
}

// truncate shortens a text to a number of characters.
func truncate(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit])
	}
	return text
}
