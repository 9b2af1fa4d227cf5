package account

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// entry is one line of a chart.
type entry struct {
	code, name string
	role       string
	how        how
	below      []entry
}

// how an account differs from a postable one that grows on the side of its type.
type how int

const (
	group    how = 1 << iota // takes no lines
	contra                   // grows on the other side
	clearing                 // is zero when all is explained
)

// charter is the chart of a new organization by type.
var charter = []struct {
	kind    Type
	entries []entry
}{
	{Asset, []entry{
		{code: "1000", name: "Cash and bank", how: group, below: []entry{
			{code: "1010", name: "Bank accounts"},
			{code: "1020", name: "Payment processor balances"},
		}},
		{code: "1100", name: "Exchange balances", how: group, below: []entry{
			{code: "1110", name: "Cash on exchanges"},
			{code: "1120", name: "Digital assets on exchanges"},
		}},
		{code: "1200", name: "Digital assets", how: group, below: []entry{
			{code: "1210", name: "Digital assets at cost"},
			{code: "1220", name: "Stablecoins"},
			{code: "1230", name: "Staked digital assets"},
			{code: "1240", name: "NFTs"},
			{code: "1290", name: "Fair value adjustment", role: GroupFairValueAdjustment, how: group | contra},
		}},
		{code: "1300", name: "Receivables", how: group, below: []entry{
			{code: "1310", name: "Accounts receivable", role: RoleReceivable},
			{code: "1320", name: "Rewards receivable"},
			{code: "1330", name: "Loans receivable"},
			{code: "1340", name: "Other receivables"},
			{code: "1390", name: "Allowance for doubtful accounts", how: contra},
		}},
		{code: "1400", name: "Other current assets", how: group, below: []entry{
			{code: "1410", name: "Prepaid expenses"},
			{code: "1420", name: "Reserves held by processors"},
		}},
		{code: "1500", name: "Due from group companies", role: GroupDueFrom, how: group},
		{code: "1600", name: "Fixed assets", how: group, below: []entry{
			{code: "1610", name: "Equipment"},
			{code: "1690", name: "Accumulated depreciation", how: contra},
		}},
		{code: "1900", name: "Clearing accounts", how: group, below: []entry{
			{code: "1910", name: "Suspense", role: RoleSuspense, how: clearing},
			{code: "1920", name: "Swap clearing", role: RoleSwapClearing, how: clearing},
			{code: "1930", name: "Transfer clearing", role: RoleTransferClearing, how: clearing},
		}},
	}},
	{Liability, []entry{
		{code: "2000", name: "Payables", how: group, below: []entry{
			{code: "2010", name: "Accounts payable", role: RolePayable},
			{code: "2020", name: "Accrued expenses"},
			{code: "2030", name: "Credit cards"},
			{code: "2040", name: "Payroll liabilities"},
			{code: "2050", name: "Taxes payable"},
		}},
		{code: "2100", name: "Customer balances", how: group, below: []entry{
			{code: "2110", name: "Unapplied cash", role: RoleUnappliedCash},
			{code: "2120", name: "Deferred revenue"},
		}},
		{code: "2200", name: "Loans", how: group, below: []entry{
			{code: "2210", name: "Loans payable"},
			{code: "2220", name: "Digital asset loans payable"},
			{code: "2230", name: "Interest payable"},
		}},
		{code: "2300", name: "Due to group companies", role: GroupDueTo, how: group},
	}},
	{Equity, []entry{
		{code: "3000", name: "Contributed capital", how: group, below: []entry{
			{code: "3010", name: "Paid-in capital"},
			{code: "3020", name: "Distributions", how: contra},
		}},
		{code: "3100", name: "Opening balance equity", role: RoleOpeningBalanceEquity},
		{code: "3200", name: "Retained earnings", role: RoleRetainedEarnings, how: group, below: []entry{
			{code: "3210", name: "Retained earnings, posted", role: RoleRetainedEarningsPosted},
		}},
		{code: "3300", name: "Current earnings", role: RoleCurrentEarnings, how: group},
		{code: "3400", name: "Revaluation surplus", role: RoleRevaluationSurplus},
		{code: "3500", name: "Translation adjustment", role: RoleTranslationAdjustment, how: group},
	}},
	{Revenue, []entry{
		{code: "4000", name: "Revenue", role: GroupRevenue, how: group, below: []entry{
			{code: "4010", name: "Sales"},
			{code: "4020", name: "Staking income"},
			{code: "4030", name: "Validator revenue"},
			{code: "4040", name: "Reward income"},
			{code: "4050", name: "Trading profit and loss"},
			{code: "4080", name: "Sales refunds", how: contra},
			{code: "4090", name: "Chargebacks", how: contra},
		}},
		{code: "4500", name: "Other income", role: GroupOtherIncome, how: group, below: []entry{
			{code: "4510", name: "Realized gains", role: RoleRealizedGain},
			{code: "4520", name: "Unrealized gains", role: RoleUnrealizedGain},
			{code: "4530", name: "Foreign exchange gains", role: RoleFXGain},
			{code: "4540", name: "Interest income"},
			{code: "4590", name: "Other income"},
		}},
	}},
	{Expense, []entry{
		{code: "5000", name: "Cost of revenue", role: GroupCostOfRevenue, how: group, below: []entry{
			{code: "5010", name: "Infrastructure and hosting"},
			{code: "5020", name: "Validator and node costs"},
			{code: "5030", name: "Payment processing fees"},
			{code: "5040", name: "Marketplace fees and royalties"},
		}},
		{code: "6000", name: "Operating expenses", role: GroupOperatingExpense, how: group, below: []entry{
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
			{code: "6200", name: "Transaction fees", how: group, below: []entry{
				{code: "6210", name: "Network fees", role: RoleFeesNetwork},
				{code: "6220", name: "Bank fees", role: RoleFeesBank},
				{code: "6230", name: "Trading fees", role: RoleFeesTrading},
			}},
			{code: "6900", name: "Other operating expenses"},
		}},
		{code: "7000", name: "Other expenses", role: GroupOtherExpense, how: group, below: []entry{
			{code: "7010", name: "Realized losses", role: RoleRealizedLoss},
			{code: "7020", name: "Unrealized losses", role: RoleUnrealizedLoss},
			{code: "7030", name: "Impairment losses", role: RoleImpairmentLoss},
			{code: "7040", name: "Foreign exchange losses", role: RoleFXLoss},
			{code: "7050", name: "Interest expense"},
			{code: "7060", name: "Rounding differences", role: RoleRounding},
			{code: "7070", name: "Income taxes"},
			{code: "7090", name: "Other expenses"},
		}},
	}},
}

// systemRoles are the roles every chart must have.
var systemRoles = func() (roles []string) {
	var walk func([]entry)
	walk = func(entries []entry) {
		for _, e := range entries {
			if e.role != "" {
				roles = append(roles, e.role)
			}
			walk(e.below)
		}
	}
	for _, c := range charter {
		walk(c.entries)
	}
	return roles
}()

// seeded is what the audit says of an account of the first chart. A struct, because a map of each would cost as much as the rows.
type seeded struct {
	Code     string  `json:"code"`
	ID       string  `json:"id"`
	Clearing bool    `json:"is_clearing_account"`
	Postable bool    `json:"is_postable"`
	Name     string  `json:"name"`
	Balance  Balance `json:"normal_balance"`
	ParentID *string `json:"parent_account_id"`
	Role     *string `json:"role"`
	Number   int64   `json:"sequence_number"`
	Type     Type    `json:"type"`
}

// Seed gives a new organization its chart, as one change. It is a building block.
func Seed(ctx context.Context, tx *db.Tx) error {
	h, err := orgstate.Touch(ctx, tx)
	if err != nil {
		return err
	}
	var chart []Account
	var told []seeded
	var add func(kind Type, parentID string, entries []entry)
	add = func(kind Type, parentID string, entries []entry) {
		for _, e := range entries {
			h.AccountNumber++
			a := e.account(kind)
			a.ID, a.SequenceNumber, a.ParentID, a.CreatedAt = tx.NewID(id.LedgerAccount), h.AccountNumber, parentID, tx.Now()
			chart = append(chart, a)
			told = append(told, seeded{Code: a.Code, ID: a.ID, Clearing: a.Clearing, Postable: a.Postable, Name: a.Name,
				Balance: a.NormalBalance, ParentID: db.OrNull(a.ParentID), Role: db.OrNull(a.Role), Number: a.SequenceNumber, Type: a.Type})
			add(kind, a.ID, e.below)
		}
	}
	for _, c := range charter {
		add(c.kind, "", c.entries)
	}
	if err := insert(ctx, tx, chart...); err != nil {
		return err
	}
	// Nobody listens to an organization that is being made, so the chart is in the log and no event repeats it.
	audit.Record(ctx, tx, audit.Change{Action: "ledger_accounts.seeded", ResourceType: "organization", ResourceID: tx.Organization(),
		After: map[string]any{"ledger_accounts": told}, Silent: true})
	return nil
}

func (e entry) account(kind Type) Account {
	a := Account{Code: e.code, Name: e.name, Role: e.role, Type: kind, NormalBalance: kind.NormalBalance(), Postable: e.how&group == 0,
		Clearing: e.how&clearing != 0}
	if e.how&contra != 0 {
		a.NormalBalance = a.NormalBalance.Contra()
	}
	return a
}

// ForEntity adds what a new legal entity and the others owe each other. It is a building block.
func ForEntity(ctx context.Context, tx *db.Tx, legalEntityID, name string) error {
	h, err := orgstate.Touch(ctx, tx)
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
		h.AccountNumber++
		a := Account{
			ID: tx.NewID(id.LedgerAccount), SequenceNumber: h.AccountNumber, Name: cut("Due from "+name,
				NameMax), Type: g.Type, NormalBalance: g.NormalBalance,
			ParentID: g.ID, Postable: true, Role: RoleDueFrom(legalEntityID), CreatedAt: tx.Now(),
		}
		if g.Role == GroupDueTo {
			a.Name, a.Role = cut("Due to "+name, NameMax), RoleDueTo(legalEntityID)
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

// cut shortens a text to a number of characters.
func cut(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit])
	}
	return text
}
