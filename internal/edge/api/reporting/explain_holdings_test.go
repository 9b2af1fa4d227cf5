package reporting_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// vault is a tenant with two wallets, an exchange and their transactions.
type vault struct {
	*apitest.Ledger
	t       *testing.T
	sources map[string]string
}

// newVault books two purchases, a transfer and sales at a gain and at a loss. It stores a price for the end of each month but one.
func newVault(t *testing.T, n *apitest.Tenant) *vault {
	t.Helper()
	v := &vault{n.OpenLedger(t), t, map[string]string{}}
	for _, name := range []string{"A", "B"} {
		v.sources[name] = n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", LegalEntityID: n.LegalEntity.ID}).ID
	}
	v.sources["Bank"] = n.NewSource(t, client.CreateSource{SourceType: "bank", Currency: "USD", LegalEntityID: n.LegalEntity.ID}).ID
	v.book(v.tell("2025-10-05", "A", "credit", "5", "5000.00"), "INCOME", "4010")
	v.book(v.tell("2025-11-10", "A", "credit", "3", "6000.01"), "INCOME", "4010")
	out, in := v.tell("2025-11-20", "A", "debit", "2", ""), v.tell("2025-11-20", "B", "credit", "2", "")
	if a := n.PostJSON(t, "/v1/transactions/link", map[string]any{"transaction_ids": []string{out.ID, in.ID}}, nil); a.Status != http.StatusOK {
		t.Fatalf("%s", a.Body)
	}
	v.book(out, "INTERNAL TRANSFER", "")
	for day, price := range map[string]string{"2025-10-31": "1500", "2025-12-04": "2500.5", "2025-12-31": "1000.75"} {
		if _, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "ETH", Currency: "USD",
			Timestamp: day + "T23:00:00Z", Price: price}); err != nil {
			t.Fatal(err)
		}
	}
	v.book(v.tell("2025-12-05", "A", "debit", "4", ""), "EXPENSE", "6080") // at the price of the night before
	v.book(v.tell("2025-12-20", "B", "debit", "0.5", "100.00"), "EXPENSE", "6080")
	v.book(v.tell("2025-12-21", "Bank", "credit", "250.00", ""), "INCOME", "4010")
	return v
}

// tell adds a transaction.
func (v *vault) tell(day, source, direction, quantity, gross string) client.Transaction {
	v.t.Helper()
	at, _ := time.Parse(time.DateOnly, day)
	e := client.CreateTransactionExternal{Timestamp: at.Add(12 * time.Hour), Description: "Payment", Direction: direction,
		Quantity: &quantity, Currency: "ETH"}
	if source == "Bank" {
		e.Currency = "USD"
	}
	if gross != "" {
		e.ValueFiat = &client.ValuedFiat{Gross: gross, Fee: "0", Net: gross, Currency: "USD"}
	}
	made, err := v.Client.CreateTransactions(v.t.Context(), client.CreateTransaction{SourceID: v.sources[source],
		ExternalID: client.NewIdempotencyKey(), External: e})
	if err != nil {
		v.t.Fatal(err)
	}
	return made.Data[0]
}

// book posts the entry of a transaction.
func (v *vault) book(txn client.Transaction, kind, code string) {
	v.t.Helper()
	body := map[string]any{"transaction_id": txn.ID, "transaction_type": kind, "auto_post": true}
	if code != "" {
		body["ledger_account_id"] = v.Accounts[code]
	}
	if a := v.PostJSON(v.t, "/v1/journal-entries", body, nil); a.Status != http.StatusCreated {
		v.t.Fatalf("%s", a.Body)
	}
}

// rows returns the rows of a report as decoded JSON.
func (v *vault) rows(report, query string) (out []map[string]any) {
	v.t.Helper()
	a := v.Service().Send(v.t, apitest.Request{Method: "GET", Path: "/v1/reports/" + report + "?limit=100&" + query, Key: v.Key})
	var list struct{ Data []map[string]any }
	if err := json.Unmarshal(a.Body, &list); err != nil || a.Status != http.StatusOK {
		v.t.Fatalf("%s: %s %v", report, a.Body, err)
	}
	return list.Data
}

// cell returns the parameters that select a figure of a row for an explanation.
func cell(report string, row map[string]any, names, column, more string) string {
	q := url.Values{"report": {report}, "column": {column}}
	for name := range strings.FieldsSeq(names) {
		property := name
		if name == "disposition_id" {
			property = "id"
		}
		if text, is := row[property].(string); is {
			q.Set(name, text)
		}
	}
	return q.Encode() + more
}

func TestEveryFigureOfHoldingsAddsUp(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for _, policy := range []client.UpdateLegalEntity{{}, {CostBasisMethod: new("weighted_average")}, {CostBasisScope: new("legal_entity")}} {
			n := s.Found(t, "mine")
			if policy != (client.UpdateLegalEntity{}) {
				if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID, policy); err != nil {
					t.Fatal(err)
				}
			}
			explainHoldings(t, newVault(t, n), policy == (client.UpdateLegalEntity{}))
		}
	})
}

// explainHoldings explains every figure of the reports on holdings. Lots add up to the holdings where each source has its
// own lots at their own cost.
func explainHoldings(t *testing.T, v *vault, apart bool) {
	t.Helper()
	const place = "legal_entity_id asset_type source_id ledger_account_id chain token_id"
	var months []string
	for _, p := range sheetOf(t, v.Ledger, "start_date=2025-10-01&end_date=2026-01-31").Periods {
		months = append(months, p.ID)
	}
	checked := 0
	check := func(report, query, names, columns, more string) {
		t.Helper()
		for _, row := range v.rows(report, query) {
			for column := range strings.FieldsSeq(columns) {
				x := explained(t, v.Client, cell(report, row, names, column, more))
				want, _ := row[column].(string)
				if x.Value == nil && row[column] != nil || x.Value != nil && *x.Value != want {
					t.Errorf("%s %s of %v: explained %v: %s", report, column, row, x.Value, x.Formula)
				}
				follow(t, v.Client, x)
				checked++
				if apart && report == "closing-positions" && (column == "quantity" || column == "cost_basis") {
					held := money.Decimal{}
					for _, amount := range amountsOf(x, "lots") {
						held = held.Add(less(t, amount, "0"))
					}
					if !held.Equal(less(t, want, "0")) {
						t.Errorf("the lots of %s come to %s", x.Formula, held)
					}
				}
			}
		}
	}
	for _, month := range months {
		at := "accounting_period_id=" + month
		check("closing-positions", at, place+" accounting_period_id",
			"quantity cost_basis price fair_value adjustment carrying_amount unrealized_gain_loss", "")
		check("realized-gains-losses", at, "legal_entity_id asset_type accounting_period_id",
			"units proceeds fees cost_basis realized_gain realized_loss net short_term long_term", "")
		check("roll-forward", at, "legal_entity_id asset_type",
			"opening_units opening_fair_value additions transfers dispositions gains losses closing_fair_value units cost realized_gains "+
				"realized_losses", "&"+at)
	}
	check("roll-forward", "fiscal_year=2025", "legal_entity_id asset_type", "dispositions gains losses transfers realized_losses",
		"&fiscal_year=2025")
	for _, day := range []string{"2025-11-15", "2025-12-31"} {
		at := "as_of=" + day
		check("treasury-balances", at, place, "book_quantity value", "&"+at)
		check("asset-tax-lots", at, "asset_id",
			"quantity remaining_quantity unit_cost cost_basis remaining_basis price market_value unrealized_gain_loss", "&"+at)
	}
	check("schedule-of-dispositions", "", "disposition_id", "quantity proceeds fee cost_basis gain_loss", "")
	check("schedule-of-dispositions", "", "journal_entry_id asset_type", "", "")
	if checked < 150 {
		t.Errorf("only %d figures", checked)
	}
}

func TestADispositionIsExplainedDownToWhatBroughtTheLot(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		v := newVault(t, s.Found(t, "mine"))
		rows := v.rows("schedule-of-dispositions", "start_date=2025-12-20&end_date=2025-12-20")
		if len(rows) != 1 {
			t.Fatalf("%v", rows)
		}
		x := explained(t, v.Client, cell("schedule-of-dispositions", rows[0], "disposition_id", "gain_loss", ""))
		if x.Formula != "proceeds 100.00 - cost basis 500.00 = -400.00" || x.Election == nil || x.Election.CostBasisMethod != "fifo" ||
			x.Booking == nil || x.Price != nil {
			t.Errorf("%+v", x)
		}
		// The lot in B is a slice of the one that was bought for A in October.
		if len(x.Lots) != 2 || x.Lots[0].Origin != "move" || x.Lots[1].Origin != "transaction" ||
			*x.Lots[0].ParentAssetID != x.Lots[1].ID || x.Lots[1].TransactionID == nil || !x.Lots[1].DateAcquired.Equal(x.Lots[0].DateAcquired) {
			t.Errorf("%+v", x.Lots)
		}
		if !slices.Contains(x.TransactionIDs, *x.Lots[1].TransactionID) || !slices.Contains(x.TransactionIDs,
			rows[0]["transaction_id"].(string)) {
			t.Errorf("%v", x.TransactionIDs)
		}
		if len(x.Lines) == 0 || x.Lines[0].JournalEntryID != rows[0]["journal_entry_id"] ||
			*x.Lines[0].TransactionID != rows[0]["transaction_id"] || !strings.HasPrefix(*x.Lines[0].TransactionSequenceNumber, "OT-") {
			t.Errorf("%+v", x.Lines)
		}
		if legs := x.Booking.Legs; len(legs) != 1 || legs[0].Role != "out" || legs[0].Quantity != "0.5" || *legs[0].Gross != "100.00" {
			t.Errorf("%+v", legs)
		}
		// A transaction without a value was valued at a price, which the explanation names.
		for _, row := range v.rows("schedule-of-dispositions", "start_date=2025-12-05&end_date=2025-12-05") {
			x := explained(t, v.Client, cell("schedule-of-dispositions", row, "disposition_id", "proceeds", ""))
			if x.Price == nil || x.Price.Price != "2500.5" {
				t.Errorf("%+v", x.Price)
			}
		}
		// The whole disposal is the sum of its slices.
		whole := explained(t, v.Client, "report=schedule-of-dispositions&column=proceeds&journal_entry_id="+
			v.rows("schedule-of-dispositions", "start_date=2025-12-05&end_date=2025-12-05")[0]["journal_entry_id"].(string))
		if *whole.Value != "10002.00" || len(whole.Dispositions) != 2 || len(whole.Lines) == 0 {
			t.Errorf("%+v", whole)
		}
	})
}

func TestAFigureOfARevaluationIsExplained(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID,
			client.UpdateLegalEntity{Measurement: new("fair_value")}); err != nil {
			t.Fatal(err)
		}
		v := newVault(t, n)
		december := sheetOf(t, v.Ledger, "start_date=2025-12-01&end_date=2025-12-31").Periods[0].ID
		run, err := n.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: december})
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Assets) != 1 || len(run.Rows) != 2 {
			t.Fatalf("%+v", run)
		}
		a := run.Assets[0]
		name := "report=revaluation&revaluation_id=" + *run.ID + "&legal_entity_id=" + n.LegalEntity.ID + "&asset_type=ETH"
		for column, want := range map[string]string{"delta": a.Delta, "before": a.PreviousAdjustment, "after": a.NewAdjustment,
			"value": a.FairValue, "quantity": a.Quantity, "cost_basis": a.CostBasis, "price": *a.Price} {
			x := explained(t, n.Client, name+"&column="+column)
			if *x.Value != want || x.Price == nil {
				t.Errorf("%s: %s, want %s", column, *x.Value, want)
			}
			follow(t, n.Client, x)
		}
		for _, r := range run.Rows {
			for column, want := range map[string]string{"delta": r.Delta, "before": r.Before, "after": r.After, "value": r.Value,
				"quantity": r.Quantity, "cost_basis": *r.CostBasis, "price": *r.Price} {
				x := explained(t, n.Client, name+"&asset_id="+*r.AssetID+"&column="+column)
				if *x.Value != want || len(x.Lots) == 0 {
					t.Errorf("%s of %s: %s, want %s", column, *r.AssetID, *x.Value, want)
				}
				follow(t, n.Client, x)
			}
		}
		// The carrying amount in the books is divided among the sources.
		for _, row := range v.rows("closing-positions", "accounting_period_id="+december) {
			x := explained(t, n.Client, cell("closing-positions", row, "legal_entity_id asset_type source_id accounting_period_id",
				"adjustment", ""))
			if *x.Value != row["adjustment"] || *x.Value == "0.00" || len(x.Parts) != 2 {
				t.Errorf("%+v", x)
			}
			follow(t, n.Client, x)
		}
	})
}
