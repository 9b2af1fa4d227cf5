package reporting_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// newPooled has 3 ETH in W0 for 1000.00 and 3 in W1 for 7000.00. W1 sells 3, which consumes the older lot, that of W0.
func newPooled(t *testing.T, n *apitest.Tenant) *vault {
	t.Helper()
	if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID, client.UpdateLegalEntity{CostBasisScope: new("legal_entity"),
		Measurement: new("fair_value")}); err != nil {
		t.Fatal(err)
	}
	v := &vault{n.OpenLedger(t), t, map[string]string{}}
	for _, name := range []string{"W0", "W1"} {
		v.sources[name] = n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", LegalEntityID: n.LegalEntity.ID}).ID
	}
	v.book(v.tell("2025-10-05", "W0", "credit", "3", "1000.00"), "INCOME", "4010")
	v.book(v.tell("2025-10-06", "W1", "credit", "3", "7000.00"), "INCOME", "4010")
	v.book(v.tell("2025-10-20", "W1", "debit", "3", "9000.00"), "EXPENSE", "6080")
	if _, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "ETH", Currency: "USD", Timestamp: "2025-10-31T23:00:00Z",
		Price: "2500"}); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhereLotsArePooledEachSourceHasOneRowForAnAsset(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		v := newPooled(t, n)
		october := ""
		for _, p := range n.Periods(t) {
			if p.Key == "2025-10" {
				october = p.ID
			}
		}
		if _, err := n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: october,
			LegalEntityIDs: []string{n.LegalEntity.ID}}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ report, query, columns, want string }{
			{"closing-positions", "accounting_period_id=" + october,
				"quantity cost_basis fair_value adjustment carrying_amount unrealized_gain_loss lots",
				"W0 3 1000.00 7500.00 6500.00 7500.00 6500.00 1; W1 0 6000.00 0.00 -6000.00 0.00 -6000.00 0"},
			{"treasury-balances", "as_of=2025-10-10", "book_quantity", "W0 3; W1 3"},
			{"treasury-balances", "as_of=2025-10-20", "book_quantity", "W0 3; W1 0"},
			{"treasury-balances", "as_of=2025-10-31", "book_quantity value", "W0 3 7500.00; W1 0 0.00"},
		} {
			var got []string
			for _, row := range v.rows(c.report, c.query) {
				got = append(got, v.shown(row, c.columns))
				for column := range strings.FieldsSeq(strings.TrimSuffix(c.columns, " lots")) {
					q := cell(c.report, row, "legal_entity_id asset_type source_id ledger_account_id chain token_id accounting_period_id", column, "")
					if c.report == "treasury-balances" {
						q += "&" + c.query
					}
					x := explained(t, v.Client, q)
					if x.Value == nil || *x.Value != row[column] {
						t.Errorf("%s of %v is explained as %v: %s", column, row, x.Value, x.Formula)
					}
					follow(t, v.Client, x)
				}
			}
			slices.Sort(got)
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%s %s: %s, want %s", c.report, c.query, strings.Join(got, "; "), c.want)
			}
		}
		for name, want := range map[string]string{"W0": "ETH 3", "W1": "ETH 0"} {
			var got []string
			for b, err := range n.Client.SourceBalances(t.Context(), v.sources[name]) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, b.AssetType+" "+b.Book)
			}
			if strings.Join(got, "; ") != want {
				t.Errorf("%s holds %s, want %s", name, strings.Join(got, "; "), want)
			}
		}
	})
}

// shown returns the name of the source of a row and some columns. It fails unless the row has the account of its source.
func (v *vault) shown(row map[string]any, columns string) string {
	v.t.Helper()
	out := ""
	for name, id := range v.sources {
		if id == row["source_id"] {
			out = name
		}
	}
	src, err := v.Client.Source(v.t.Context(), v.sources[out])
	if err != nil || src.LedgerAccountID != row["ledger_account_id"] {
		v.t.Errorf("%v is not on the account of its source: %v", row, err)
	}
	for column := range strings.FieldsSeq(columns) {
		out += fmt.Sprintf(" %v", row[column])
	}
	return out
}
