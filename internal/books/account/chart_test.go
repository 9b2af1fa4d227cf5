package account_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
)

var update = flag.Bool("update", false, "write the golden files anew")

// drawn writes a chart down as a tree, with what is not plain in brackets.
func drawn(chart []account.Account) string {
	byParent := map[string][]account.Account{}
	for _, a := range chart {
		byParent[a.ParentID] = append(byParent[a.ParentID], a)
	}
	var out strings.Builder
	var draw func(parentID string, depth int)
	draw = func(parentID string, depth int) {
		for _, a := range byParent[parentID] {
			var marks []string
			for mark, on := range map[string]bool{
				"group": !a.Postable, "contra": a.NormalBalance != a.Type.NormalBalance(), "clearing": a.Clearing, "role " + a.Role: a.Role != "",
				"not monetary": a.Type.Monetary() && !a.Monetary,
			} {
				if on {
					marks = append(marks, mark)
				}
			}
			slices.Sort(marks)
			line := fmt.Sprintf("%s%s", strings.Repeat("  ", depth), a)
			if depth == 0 {
				line = string(a.Type) + ": " + line
			}
			if len(marks) > 0 {
				line += " [" + strings.Join(marks, ", ") + "]"
			}
			out.WriteString(line + "\n")
			draw(a.ID, depth+1)
		}
	}
	draw("", 0)
	return out.String()
}

func TestANewOrganizationHasTheChartWrittenDown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const golden = "testdata/chart.txt"
		got := strings.ReplaceAll(drawn(w.chart()), w.entity, "<entity>")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("the chart is not as in %s (run with -update if it should be):\n%s", golden, got)
		}
	})
}

// The roles of the bookkeeping, each with the kind of account it must be on.
func TestEverySystemRoleIsOnAnAccountThatFitsIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for role, want := range map[string]string{
			"fees_network": "Expense debit postable", "fees_bank": "Expense debit postable", "fees_trading": "Expense debit postable",
			"realized_gain": "Revenue credit postable", "realized_loss": "Expense debit postable",
			"unrealized_gain": "Revenue credit postable", "unrealized_loss": "Expense debit postable", "impairment_loss": "Expense debit postable",
			"revaluation_surplus": "Equity credit postable", "fx_gain": "Revenue credit postable", "fx_loss": "Expense debit postable",
			"opening_balance_equity": "Equity credit postable", "retained_earnings": "Equity credit",
			"retained_earnings_posted": "Equity credit postable",
			"current_earnings":         "Equity credit", "suspense": "Asset debit postable clearing",
			"swap_clearing":     "Asset debit postable clearing",
			"transfer_clearing": "Asset debit postable clearing", "unapplied_cash": "Liability credit postable",
			"rounding":            "Expense debit postable",
			"accounts_receivable": "Asset debit postable", "accounts_payable": "Liability credit postable",
			"due_from:" + w.entity: "Asset debit postable", "due_to:" + w.entity: "Liability credit postable",
			"group:fair_value_adjustment": "Asset debit", "group:due_from": "Asset debit", "group:due_to": "Liability credit",
		} {
			w.read(func(ctx context.Context, tx *db.Tx) error {
				a, err := account.ByRole(ctx, tx, role)
				got := fmt.Sprint(a.Type, " ", a.NormalBalance)
				if a.Postable {
					got += " postable"
				}
				if a.Clearing {
					got += " clearing"
				}
				if err != nil || got != want || a.Role != role {
					t.Errorf("%s: %s %v, want %s", role, got, err, want)
				}
				return nil
			})
		}
		w.read(func(ctx context.Context, tx *db.Tx) error {
			_, err := account.ByRole(ctx, tx, "nobody's")
			refused(t, "a role nobody has", err, fault.NotFound)
			posted, err := account.ByRole(ctx, tx, account.RoleRetainedEarningsPosted)
			if err != nil {
				return err
			}
			above, err := account.Get(ctx, tx, posted.ParentID)
			if above.Role != account.RoleRetainedEarnings {
				t.Errorf("what is posted to retained earnings is below %s", above)
			}
			return err
		})
	})
}

func TestTheFirstChartIsOneChangeAndNoEvent(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if got := w.logged(w.org); got != "organization.created, ledger_accounts.seeded" {
			t.Errorf("the audit has %s", got)
		}
		w.read(func(ctx context.Context, tx *db.Tx) error {
			events, err := db.All[string](ctx, tx, "SELECT type FROM events WHERE organization_id = @org AND type LIKE 'ledger_account%'")
			if len(events) != 2 { // the two of the legal entity
				t.Errorf("events %v", events)
			}
			said, err2 := db.One[string](ctx, tx, "entry",
				"SELECT after FROM audit_log WHERE organization_id = @org AND action = 'ledger_accounts.seeded'")
			for _, a := range w.chart() {
				if a.Code != "" && !strings.Contains(said, a.ID) {
					t.Errorf("the audit does not tell of %s", a)
				}
			}
			if err == nil {
				err = err2
			}
			return err
		})
		if chart := w.chart(); w.state().AccountNumber != int64(len(chart)) || chart[0].SequenceNumber != 1 ||
			chart[len(chart)-1].SequenceNumber != int64(len(chart)) {
			t.Errorf("%d accounts, and the organization state says %d", len(chart), w.state().AccountNumber)
		}
	})
}

// A line is a name, in brackets its role, and after the colon its section.
func TestAnAccountIsInTheSectionOfTheNearestGroupWithOne(t *testing.T) {
	t.Parallel()
	for kind, tree := range map[account.Type]string{
		account.Revenue: `
			Turnover [group:revenue]: revenue
				Sales: revenue
				Oddities [group:other_income]: other_income
					Interest: other_income
						Interest of banks [realized_gain]: other_income
					Core after all [group:revenue]: revenue
			Stray: revenue
				Below a stray: revenue`,
		account.Expense: `
			Direct [group:cost_of_revenue]: cost_of_revenue
				Hosting: cost_of_revenue
			Running [group:operating_expense]: operating_expense
				Fees: operating_expense
					Network [fees_network]: operating_expense
				Far off [group:other_expense]: other_expense
					Taxes: other_expense
			Stray: operating_expense`,
		account.Asset: `
			Cash:
				Bank:`,
		account.Liability: `
			Loans:`,
		account.Equity: `
			Capital:`,
	} {
		var chart []account.Account
		want := map[string]string{}
		var way []string
		for line := range strings.Lines(strings.Trim(tree, "\n")) {
			text, section, _ := strings.Cut(strings.TrimSpace(line), ":")
			if role, rest, ok := strings.Cut(section, "]:"); ok { // the colon was the role's
				text, section = text+":"+role+"]", rest
			}
			depth := strings.Count(line, "\t") - 3
			name, role, _ := strings.Cut(strings.TrimSuffix(text, "]"), " [")
			a := account.Account{ID: name, Name: name, Type: kind, Role: role}
			if way = append(way[:depth], name); depth > 0 {
				a.ParentID = way[depth-1]
			}
			chart = append(chart, a)
			want[name] = strings.TrimSpace(section)
		}
		for _, order := range [][]account.Account{chart, reversed(chart)} {
			got := account.Sections(order)
			for _, a := range chart {
				if string(got[a.ID]) != want[a.Name] {
					t.Errorf("%s %s stands in %q, want %q", kind, a.Name, got[a.ID], want[a.Name])
				}
			}
			if len(got) != len(chart) {
				t.Errorf("%d sections of %d accounts", len(got), len(chart))
			}
		}
	}
}

func reversed(chart []account.Account) []account.Account {
	out := slices.Clone(chart)
	slices.Reverse(out)
	return out
}

func TestSectionsEndAlsoWhereAChartIsCircular(t *testing.T) {
	t.Parallel()
	got := account.Sections([]account.Account{{ID: "a", ParentID: "b", Type: account.Expense},
		{ID: "b", ParentID: "a", Type: account.Expense}, {ID: "c", ParentID: "gone", Type: account.Revenue}})
	if got["a"] != account.SectionOperatingExpense || got["b"] != account.SectionOperatingExpense || got["c"] != account.SectionRevenue {
		t.Errorf("%v", got)
	}
}

func TestTheSectionsOfTheFirstChart(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sections := account.Sections(w.chart())
		for name, want := range map[string]account.Section{
			"Sales": account.SectionRevenue, "Staking income": account.SectionRevenue, "Chargebacks": account.SectionRevenue,
			"Realized gains": account.SectionOtherIncome, "Unrealized gains": account.SectionOtherIncome,
			"Foreign exchange gains":     account.SectionOtherIncome,
			"Infrastructure and hosting": account.SectionCostOfRevenue, "Salaries and benefits": account.SectionOperatingExpense,
			"Network fees":    account.SectionOperatingExpense,
			"Realized losses": account.SectionOtherExpense, "Impairment losses": account.SectionOtherExpense,
			"Rounding differences": account.SectionOtherExpense,
			"Bank accounts":        account.SectionNone, "Paid-in capital": account.SectionNone, "Retained earnings": account.SectionNone,
		} {
			if got := sections[w.named(name).ID]; got != want {
				t.Errorf("%s stands in %q, want %q", name, got, want)
			}
		}
	})
}

func TestALegalEntityBringsItsIntercompanyAccountsAndTakesThemAway(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		long := strings.Repeat("é", account.NameMax)
		var made []account.Account
		before := len(w.chart())
		w.write(func(ctx context.Context, tx *db.Tx) error {
			if err := account.CreateIntercompany(ctx, tx, "le_second", long); err != nil {
				return err
			}
			for _, role := range []string{account.RoleDueFrom("le_second"), account.RoleDueTo("le_second")} {
				a, err := account.ByRole(ctx, tx, role)
				if err != nil {
					return err
				}
				made = append(made, a)
			}
			if made[0].Name != "Due from "+long[:2*(account.NameMax-9)] || made[0].Type != account.Asset ||
				made[1].Type != account.Liability || made[1].Name[:7] != "Due to " {
				t.Errorf("%+v", made)
			}
			return nil
		})
		w.write(func(ctx context.Context, tx *db.Tx) error { return account.DeleteIntercompany(ctx, tx, "le_second") })
		if len(w.chart()) != before || w.logged(made[0].ID) != "ledger_account.created, ledger_account.deleted" {
			t.Errorf("%d accounts, %d before; %s", len(w.chart()), before, w.logged(made[0].ID))
		}
		w.post("draft", map[string]string{"Due from Acme": "1", "Bank accounts": "-1"})
		err := w.d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error { return account.DeleteIntercompany(ctx, tx, w.entity) })
		refused(t, "dropping an entity whose account is used", err, fault.Conflict, "Due from Acme", "JE-1")
	})
}
