package treasury_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// statement is the account of a company at a source, written as an accountant would.
type statement struct {
	*testing.T
	n      *apitest.Tenant
	source client.Source
	ids    map[string]string // of transactions by name
	names  map[string]string
}

func newStatement(t *testing.T, s *apitest.Service, c client.CreateSource) *statement {
	t.Helper()
	n := s.Found(t, "mine")
	return &statement{T: t, n: n, source: n.NewSource(t, c), ids: map[string]string{}, names: map[string]string{}}
}

// write reads lines such as "T1 2025-05-01 in 100 USD fee 2 open", which is a transaction that is not booked (without open it is), and
// "2025-05-31 seen 98 USD", which is a balance that somebody entered.
func (s *statement) write(lines ...string) {
	s.Helper()
	for _, line := range lines {
		f := strings.Fields(line)
		if f[1] == "seen" {
			if _, err := s.n.Client.EnterObservedBalance(s.Context(), s.source.ID, client.EnterObservedBalance{AssetType: f[3], Quantity: f[2],
				ObservedAt: f[0]}); err != nil {
				s.Fatalf("%s: %v", line, err)
			}
			continue
		}
		s.transact(line, f)
	}
}

func (s *statement) transact(line string, f []string) {
	s.Helper()
	day, err := time.Parse(time.DateOnly, f[1])
	if err != nil {
		s.Fatal(err)
	}
	fee := "0"
	if n := slices.Index(f, "fee"); n > 0 {
		fee = f[n+1]
	}
	x := client.CreateTransaction{SourceID: s.source.ID, ExternalID: f[0], External: client.CreateTransactionExternal{Description: f[0],
		Timestamp: day.Add(12 * time.Hour), Currency: f[4], Direction: map[string]string{"in": "credit", "out": "debit"}[f[2]], Quantity: &f[3]}}
	gross, taken := money.MustParse(f[3]), money.MustParse(fee)
	value := client.ValuedFiat{Gross: f[3], Fee: fee, Net: gross.Sub(taken).String(), Currency: "USD"}
	if f[4] != "USD" {
		x.Crypto = &client.TransactionCrypto{FeeQuantity: &fee, FeeAssetType: &f[4]}
		thousand := money.FromInt(1000)
		value.Gross, value.Fee = gross.Mul(thousand).RoundTo("USD").String(), taken.Mul(thousand).RoundTo("USD").String()
		value.Net = money.MustParse(value.Gross).Sub(money.MustParse(value.Fee)).String()
	}
	x.External.ValueFiat = &value
	made, err := s.n.Client.CreateTransactions(s.Context(), x)
	if err != nil {
		s.Fatalf("%s: %v", line, err)
	}
	s.ids[f[0]], s.names[made.Data[0].ID] = made.Data[0].ID, f[0]
	if !slices.Contains(f, "open") {
		s.book(f[0], f[2])
	}
}

// book posts a transaction of a direction.
func (s *statement) book(name, direction string) client.JournalEntry {
	s.Helper()
	kind, code := "DEPOSIT", "3010"
	if direction == "out" {
		kind, code = "EXPENSE", "6080"
	}
	entry, err := s.n.Client.BookTransaction(s.Context(), client.BookTransaction{TransactionID: s.ids[name], TransactionType: kind,
		LedgerAccountID: s.n.AccountByCode(s.T, code).ID, AutoPost: true})
	if err != nil {
		s.Fatalf("%s: %v", name, err)
	}
	return entry
}

// correct posts an entry to the account of the source, against another one.
func (s *statement) correct(day, side, amount, other string) {
	s.Helper()
	opposite := map[string]string{"Dr": "Cr", "Cr": "Dr"}[side]
	s.n.OpenLedger(s.T).Post(s.T, day, fmt.Sprintf("%s %s %s; %s %s %s", side, s.source.LedgerAccountID, amount, opposite, other, amount))
}

func orUnknown(text *string) string {
	if text == nil {
		return "?"
	}
	return *text
}

// report returns a line for each asset, and one for each of its candidates.
func (s *statement) report(at string) string {
	s.Helper()
	query := url.Values{"limit": {"2"}}
	if at != "" {
		query.Set("at", at)
	}
	var out []string
	for a, err := range s.n.Client.SourceReconciliation(s.Context(), s.source.ID, query) {
		if err != nil {
			s.Fatal(err)
		}
		line := fmt.Sprintf("%s %s at %s: book %s, transactions %s, observed %s, difference %s", a.AssetType, a.Status,
			a.ComparedAt.Format("01-02"), orUnknown(a.BookQuantity), orUnknown(a.TransactionsQuantity), orUnknown(a.ObservedQuantity),
			orUnknown(a.Difference))
		if a.UnbookedCount > 0 {
			line += fmt.Sprintf(", %d not booked: %s", a.UnbookedCount, a.UnbookedQuantity)
		}
		out = append(out, line)
		for _, c := range a.Candidates {
			line := "- " + c.Kind + " " + c.Explains
			for _, id := range c.TransactionIDs {
				line += " " + s.names[id]
			}
			if c.Until != nil && c.After != nil {
				line += " from " + c.After.Format("01-02") + " to " + c.Until.Format("01-02")
			} else if c.Until != nil {
				line += " by " + c.Until.Format("01-02")
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func (s *statement) reads(at, want string) {
	s.Helper()
	if got := s.report(at); got != strings.TrimSpace(want) {
		s.Errorf("at %s:\n%s\nwant\n%s", at, got, strings.TrimSpace(want))
	}
}

func TestTheBooksOfABankAccountAreComparedWithItsStatements(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{Currency: "USD"})
		s.write("T1 2025-05-02 in 1000 USD")
		s.reads("2025-05-31", "USD unknown at 05-31: book 1000.00, transactions 1000.00, observed ?, difference ?")
		s.write("2025-05-31 seen 1000 USD", "T2 2025-06-03 out 200 USD fee 5", "T3 2025-06-04 in 300 USD fee 2")
		s.reads("2025-05-31", "USD reconciled at 05-31: book 1000.00, transactions 1000.00, observed 1000.00, difference 0.00")
		s.reads("2025-06-30", "USD reconciled at 05-31: book 1000.00, transactions 1000.00, observed 1000.00, difference 0.00")
		s.write("2025-06-30 seen 1098 USD")
		s.reads("", "USD reconciled at 06-30: book 1098.00, transactions 1098.00, observed 1098.00, difference 0.00")
		s.write("T4 2025-07-05 out 40 USD open", "T5 2025-07-06 out 60 USD", "2025-07-31 seen 998 USD")
		s.reads("", `USD difference at 07-31: book 1038.00, transactions 998.00, observed 998.00, difference 40.00, 1 not booked: -40.00
- unbooked 40.00 T4`)
		s.book("T4", "out")
		s.reads("", "USD reconciled at 07-31: book 998.00, transactions 998.00, observed 998.00, difference 0.00")
	})
}

func TestWhatExplainsADifferenceIsFoundWhereItAppeared(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{SourceType: "exchange", Provider: "kraken"})
		s.write("A1 2025-05-01 in 10 ETH fee 0.1", "A2 2025-05-01 in 3 BTC",
			"2025-05-01 seen 9.9 ETH", "2025-05-01 seen 3 BTC",
			"A3 2025-05-02 in 2 ETH", "2025-05-02 seen 11.9 ETH",
			"A4 2025-05-03 in 2 ETH", "2025-05-03 seen 11.9 ETH", // twice
			"A5 2025-05-04 out 1 ETH", "2025-05-04 seen 10.9 ETH",
			"A6 2025-05-05 out 1.5 BTC fee 0.25", "2025-05-05 seen 1.625 BTC") // a fee that is too high
		s.reads("", `BTC difference at 05-05: book 1.5, transactions 1.5, observed 1.625, difference -0.125
- wrong_fee -0.125 A6 from 05-01 to 05-05
- missing_transaction -0.125 from 05-01 to 05-05
ETH difference at 05-04: book 12.9, transactions 12.9, observed 10.9, difference 2
- duplicate 2 A4 A3 from 05-02 to 05-03
- missing_transaction 2 from 05-02 to 05-03`)
		s.write("A7 2025-05-06 in 4 ETH open", "2025-05-06 seen 13.9 ETH") // 1 left that is not there
		s.reads("2025-05-06", `BTC difference at 05-05: book 1.5, transactions 1.5, observed 1.625, difference -0.125
- wrong_fee -0.125 A6 from 05-01 to 05-05
- missing_transaction -0.125 from 05-01 to 05-05
ETH difference at 05-06: book 12.9, transactions 16.9, observed 13.9, difference -1, 1 not booked: 4
- unbooked -4 A7
- duplicate 2 A4 A3 from 05-02 to 05-03
- missing_transaction 1 from 05-04 to 05-06
- missing_transaction 2 from 05-02 to 05-03`)
		s.reads("2025-05-02", `BTC reconciled at 05-01: book 3, transactions 3, observed 3, difference 0
ETH reconciled at 05-02: book 11.9, transactions 11.9, observed 11.9, difference 0`)
	})
}

func TestAmountsBelowACentAreRoundedInTheBooksAndExplained(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{SourceType: "exchange", Provider: "kraken"})
		s.write("A1 2025-05-01 in 100 USD", "A2 2025-05-02 out 10.004 USD fee 0.004", "2025-05-02 seen 89.996 USD")
		s.reads("", `USD reconciled at 05-02: book 90.00, transactions 89.996, observed 89.996, difference 0.004`)
		s.mark(client.CreateReconciliation{At: "2025-05-03"})

		// More of them are more than a cent; what is wrong besides is found all the same.
		s.write("A3 2025-05-04 out 10.004 USD fee 0.004", "A4 2025-05-05 out 0.002 USD", "2025-05-05 seen 79.99 USD")
		s.reads("", `USD difference at 05-05: book 80.00, transactions 79.99, observed 79.99, difference 0.01
- rounding 0.01`)
		s.write("A5 2025-05-06 in 7.5 USD", "A6 2025-05-06 in 7.5 USD", "2025-05-06 seen 87.49 USD", "2025-05-07 seen 87.49 USD",
			"A7 2025-05-08 in 0.001 USD", "2025-05-08 seen 87.491 USD")
		s.reads("", `USD difference at 05-08: book 95.00, transactions 94.991, observed 87.491, difference 7.509
- rounding 0.009
- duplicate 7.50 A6 A5 from 05-05 to 05-06
- missing_transaction 7.50 from 05-05 to 05-06`)

		// An entry by hand puts it right.
		s.correct("2025-05-05", "Cr", "0.01", "7060")
		s.reads("2025-05-05", `USD reconciled at 05-05: book 79.99, transactions 79.99, observed 79.99, difference 0.00`)

		// An entry by hand is nothing that was rounded.
		s.correct("2025-05-05", "Dr", "0.02", "6080")
		s.reads("2025-05-05", `USD difference at 05-05: book 80.01, transactions 79.99, observed 79.99, difference 0.02
- missing_transaction 0.02 from 05-02 to 05-05`)

		// An opening balance is nothing that was rounded either.
		s.correct("2025-04-30", "Dr", "0.03", "3010")
		s.reads("2025-05-05", `USD difference at 05-05: book 80.04, transactions 79.99, observed 79.99, difference 0.05
- missing_transaction 0.02 from 05-02 to 05-05
- missing_transaction 0.03 by 05-02`)
	})
}

func TestMoneyOnASharedAccountIsNotCompared(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{Currency: "USD"})
		s.write("T1 2025-05-02 in 1000 USD", "2025-05-31 seen 1000 USD")
		s.n.NewSource(t, client.CreateSource{Currency: "USD", LedgerAccountID: s.source.LedgerAccountID})
		s.reads("", "USD unknown at 05-31: book ?, transactions 1000.00, observed 1000.00, difference ?")
		s.month("2025-05", "warn: it is not known whether the books have what these sources stated, because other sources have their ledger "+
			"account: "+s.source.Name+". Give each source an account of its own")
		_, err := s.n.Client.CreateReconciliation(t.Context(), s.source.ID, client.CreateReconciliation{At: "2025-05-31"})
		apitest.WantConflict(t, err, "nothing can be compared")
	})
}

func TestAnAccountIsNotSharedWithAWalletOrAnotherLegalEntity(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{Currency: "USD"})
		s.write("T1 2025-05-02 in 1000 USD", "2025-05-31 seen 990 USD")
		s.n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", LedgerAccountID: s.source.LedgerAccountID})
		other := s.n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		s.n.NewSource(t, client.CreateSource{Currency: "USD", LegalEntityID: other.ID, LedgerAccountID: s.source.LedgerAccountID})
		s.reads("", `USD difference at 05-31: book 1000.00, transactions 1000.00, observed 990.00, difference 10.00
- missing_transaction 10.00 by 05-31`)
		if got, want := s.treasury("2025-05-31"), "USD 1000.00: 990.00 at 05-31, difference 10.00"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// month checks the status and the message of the balances of sources before a month is closed.
func (s *statement) month(key, want string) {
	s.Helper()
	p := s.n.OpenLedger(s.T).Period(s.T, key)
	found, err := s.n.Client.AccountingPeriodReadiness(s.Context(), p.ID, "")
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range found.Checks {
		if got := c.Status + ": " + c.Message; c.Code == "source_balances" && got != want {
			s.Errorf("%s, want %s", got, want)
		}
	}
}

// marks returns a line for each reconciliation.
func (s *statement) marks() string {
	s.Helper()
	var out []string
	for r, err := range s.n.Client.Reconciliations(s.Context(), s.source.ID) {
		if err != nil {
			s.Fatal(err)
		}
		line := r.At.Format("01-02")
		if r.Changed {
			line += " changed"
		}
		for _, a := range r.Assets {
			line += fmt.Sprintf("; %s difference %s, now %s", a.AssetType, orUnknown(a.Difference), orUnknown(a.CurrentDifference))
		}
		if r.ReconciledBy == nil {
			line += " by nobody"
		}
		out = append(out, line+" "+strings.Join(r.Guidance.AllowedActions, " "))
	}
	return strings.Join(out, "\n")
}

func (s *statement) mark(r client.CreateReconciliation) client.Reconciliation {
	s.Helper()
	made, err := s.n.Client.CreateReconciliation(s.Context(), s.source.ID, r)
	if err != nil {
		s.Fatal(err)
	}
	return made
}

func TestAReconciliationKeepsItsFiguresAndSaysWhetherTheyChanged(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{Currency: "USD"})
		refuse := func(r client.CreateReconciliation, says ...string) {
			t.Helper()
			_, err := s.n.Client.CreateReconciliation(t.Context(), s.source.ID, r)
			apitest.WantConflict(t, err, says...)
		}
		reads := func(want string) {
			t.Helper()
			if got := s.marks(); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		}
		s.write("T1 2025-05-02 in 1000 USD")
		refuse(client.CreateReconciliation{At: "2025-05-31"}, "nothing can be compared")
		s.write("2025-05-31 seen 1000 USD")
		first := s.mark(client.CreateReconciliation{At: "2025-05-31"})
		reads("05-31; USD difference 0.00, now 0.00 delete")
		refuse(client.CreateReconciliation{At: "2025-05-31"}, "is reconciled up to 2025-05-31T23:59:59.999Z already", first.ID)

		s.write("T2 2025-06-05 out 30 USD")
		refuse(client.CreateReconciliation{At: "2025-06-30"}, "have changed since its latest observed balance")
		s.write("2025-06-30 seen 960 USD")
		refuse(client.CreateReconciliation{At: "2025-06-30"}, "USD differs by 10.00")
		_, err := s.n.Client.CreateReconciliation(t.Context(), s.source.ID, client.CreateReconciliation{At: "2025-06-30", AcceptDifference: true})
		apitest.WantError(t, "no note", err, 400, []string{"note"}, "why the difference is accepted")
		_, err = s.n.Client.CreateReconciliation(t.Context(), s.source.ID, client.CreateReconciliation{At: "2999-06-30"})
		apitest.WantError(t, "in the future", err, 400, []string{"at"}, "future")
		second := s.mark(client.CreateReconciliation{At: "2025-06-30", AcceptDifference: true, Note: "the bank corrects it in July"})
		reads("06-30; USD difference 10.00, now 10.00 delete\n05-31; USD difference 0.00, now 0.00 ")

		s.write("T3 2025-06-20 out 10 USD open") // what is not booked changes what the transactions add up to
		reads("06-30 changed; USD difference 10.00, now 10.00 delete\n05-31; USD difference 0.00, now 0.00 ")
		s.book("T3", "out")
		reads("06-30 changed; USD difference 10.00, now 0.00 delete\n05-31; USD difference 0.00, now 0.00 ")
		s.write("T4 2025-05-20 in 7 USD")
		reads("06-30 changed; USD difference 10.00, now 7.00 delete\n05-31 changed; USD difference 0.00, now 7.00 ")

		apitest.WantConflict(t, s.n.Client.DeleteReconciliation(t.Context(), s.source.ID, first.ID), "only the latest", second.ID)
		if err := s.n.Client.DeleteReconciliation(t.Context(), s.source.ID, second.ID); err != nil {
			t.Fatal(err)
		}
		reads("05-31 changed; USD difference 0.00, now 7.00 delete")
		apitest.WantConflict(t, s.n.Client.DeleteSource(t.Context(), s.source.ID), "in use")
	})
}

func TestObservedBalancesAreListedAndEntered(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{SourceType: "exchange", Provider: "kraken"})
		made, err := s.n.Client.CreateImport(t.Context(), client.CreateImport{FileName: "ledgers.csv", SourceID: s.source.ID,
			File: strings.NewReader("txid,refid,time,type,subtype,aclass,asset,wallet,amount,fee,balance\n" +
				"L1,R1,2025-05-01 08:00:00,deposit,,currency,ETH,spot / main,4,0,4\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.n.Service().App.Imports.Run(t.Context(), s.n.Organization.ID, made.ID, nil); err != nil {
			t.Fatal(err)
		}
		s.write("2025-05-02 seen 5 ETH", "2025-05-02 seen 6 ETH", "2025-04-01 seen -1 USD")
		list := func(query string) string {
			t.Helper()
			q, err := url.ParseQuery(query + "&limit=1")
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for o, err := range s.n.Client.ObservedBalances(t.Context(), s.source.ID, q) {
				if err != nil {
					t.Fatal(err)
				}
				if o.ObservedFrom == "import" && (o.ImportID == nil || *o.ImportID != made.ID) || o.ObservedFrom == "entered" && o.EnteredBy == nil {
					t.Errorf("%+v", o)
				}
				out = append(out, fmt.Sprint(o.ObservedAt.Format("01-02 15:04"), " ", o.Quantity, " ", o.AssetType, " ", o.ObservedFrom))
			}
			return strings.Join(out, "; ")
		}
		for query, want := range map[string]string{
			"":                      "05-02 23:59 6 ETH entered; 05-01 08:00 4 ETH import; 04-01 23:59 -1.00 USD entered",
			"asset_type=USD":        "04-01 23:59 -1.00 USD entered",
			"start_date=2025-05-01": "05-02 23:59 6 ETH entered; 05-01 08:00 4 ETH import",
			"end_date=2025-05-01":   "05-01 08:00 4 ETH import; 04-01 23:59 -1.00 USD entered",
		} {
			if got := list(query); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		_, err = s.n.Client.EnterObservedBalance(t.Context(), s.source.ID, client.EnterObservedBalance{AssetType: "ETH", Quantity: "9",
			ObservedAt: "2025-05-01T08:00:00Z"})
		apitest.WantConflict(t, err, "stated by its provider or in a file", "4")
		bank := s.n.NewSource(t, client.CreateSource{})
		if _, err = s.n.Client.EnterObservedBalance(t.Context(), bank.ID, client.EnterObservedBalance{AssetType: "USD", Quantity: "9",
			ObservedAt: "2025-05-01"}); err != nil {
			t.Fatal(err)
		}
		apitest.WantConflict(t, s.n.Client.DeleteSource(t.Context(), bank.ID), "1 observed balance")
		_, err = s.n.Client.EnterObservedBalance(t.Context(), bank.ID, client.EnterObservedBalance{AssetType: "ETH", Quantity: "9",
			ObservedAt: "2999-05-01"})
		apitest.WantError(t, "wrong in two ways", err, 400, []string{"asset_type", "observed_at"}, "future")
	})
}

// treasury returns a line for each asset of the source in the report.
func (s *statement) treasury(asOf string) string {
	s.Helper()
	var out []string
	for b, err := range s.n.Client.TreasuryBalances(s.Context(), url.Values{"as_of": {asOf}, "source_ids": {s.source.ID}, "limit": {"1"}}) {
		if err != nil {
			s.Fatal(err)
		}
		line := b.AssetType + " " + b.BookQuantity
		if b.LastSynced != nil {
			line += fmt.Sprintf(": %s at %s, difference %s", orUnknown(b.ProviderQuantity), b.LastSynced.Format("01-02"), orUnknown(b.Difference))
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func TestTheReportOfTreasuryBalancesHasWhatSourcesStated(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, service *apitest.Service) {
		s := newStatement(t, service, client.CreateSource{SourceType: "exchange", Provider: "kraken"})
		s.write("A1 2025-05-01 in 10 ETH", "A2 2025-05-01 in 100 USD", "A3 2025-05-02 in 3 BTC")
		if got, want := s.treasury("2025-05-31"), "BTC 3; ETH 10; USD 100.00"; got != want {
			t.Errorf("nothing stated: %s, want %s", got, want)
		}
		s.write("2025-05-01 seen 9 ETH", "2025-05-03 seen 100.004 USD", "A4 2025-05-04 out 1 ETH", "2025-05-05 seen 9 ETH")
		for _, chain := range []string{"ethereum", "polygon"} {
			s.n.NewAsset(t, client.CreateAsset{SourceID: s.source.ID, AssetType: "USDC", Quantity: "5", CostBasis: "5.00",
				DateReceived: "2025-05-01", Chain: chain})
		}
		s.write("2025-05-11 seen 10 USDC")
		for asOf, want := range map[string]string{
			"2025-05-01": "ETH 10: 9 at 05-01, difference 1; USD 100.00; USDC 5; USDC 5",
			"2025-05-04": "BTC 3; ETH 9: 9 at 05-01, difference 1; USD 100.00: 100.004 at 05-03, difference -0.004; USDC 5; USDC 5",
			"2025-05-31": "BTC 3; ETH 9: 9 at 05-05, difference 0; USD 100.00: 100.004 at 05-03, difference -0.004; USDC 5; USDC 5",
		} {
			if got := s.treasury(asOf); got != want {
				t.Errorf("%s: %s, want %s", asOf, got, want)
			}
		}
	})
}
