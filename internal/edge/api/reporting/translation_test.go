package reporting_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// openSubsidiary opens a ledger with a subsidiary in EUR and stores rates: 2025-01-15 1.10.
func openSubsidiary(t *testing.T, s *apitest.Service, rates ...string) (*apitest.Ledger, client.LegalEntity) {
	t.Helper()
	l := s.Found(t, "mine").OpenLedger(t)
	euro, err := l.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Euro", BaseCurrency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	storeRates(t, l, rates...)
	return l, euro
}

func storeRates(t *testing.T, l *apitest.Ledger, rates ...string) {
	t.Helper()
	for _, text := range rates {
		date, value, _ := strings.Cut(text, " ")
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD "+date+" "+value)); err != nil {
			t.Fatal(err)
		}
	}
}

// wantFXEffects fails unless opening + debits - credits + fx_effect = closing in every row of a translated sheet and trial balance.
func wantFXEffects(t *testing.T, l *apitest.Ledger, parameters string) {
	t.Helper()
	sheet := sheetOf(t, l, parameters)
	number := money.MustParse
	for _, a := range sheet.LedgerAccounts {
		for key, cell := range sheet.Balances[a.ID] {
			c := cell.CreditDebit
			if c.FXEffect == nil {
				t.Errorf("%s %s has no fx_effect", a.Name, key)
				continue
			}
			moved := number(c.Debits.Value).Sub(number(c.Credits.Value))
			if a.NormalBalance == "credit" {
				moved = moved.Neg()
			}
			if got := number(c.OpeningBalance.Value).Add(moved).Add(number(c.FXEffect.Value)); got.Fixed("USD") != c.ClosingBalance.Value {
				t.Errorf("%s %s: %+v moves to %s", a.Name, key, c, got)
			}
		}
	}
	trial, err := l.Client.TrialBalance(t.Context(), query(t, parameters))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range trial.LedgerAccounts {
		for key, c := range trial.Balances[a.ID] {
			opening, closing := number(c.OpeningDebit).Sub(number(c.OpeningCredit)), number(c.ClosingDebit).Sub(number(c.ClosingCredit))
			effect := number(c.FXEffect)
			if a.NormalBalance == "credit" {
				effect = effect.Neg()
			}
			if got := opening.Add(number(c.Debits)).Sub(number(c.Credits)).Add(effect); !got.Equal(closing) {
				t.Errorf("%s %s of the trial balance: %+v moves to %s", a.Name, key, c, got)
			}
		}
	}
}

func TestTheCapitalOfASubsidiaryStaysAtTheRateOfTheDayItWasPaidIn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s, "2025-01-15 1.10", "2025-02-10 1.13", "2025-12-31 1.20", "2026-01-10 1.22", "2026-01-31 1.25")
		l.PostTo(t, euro.ID, "2025-01-15", "Dr 1010 1000; Cr 3010 1000")
		l.PostTo(t, euro.ID, "2025-02-20", "Dr 1010 100; Cr 4010 100")
		l.PostTo(t, euro.ID, "2026-01-20", "Dr 6080 40; Cr 1010 40")
		parameters := "start_date=2025-12-01&end_date=2026-01-31&presentation_currency=USD&legal_entity_ids=" + euro.ID
		want := map[string]string{
			"1010": "1243.00 +0.00 -0.00 = 1320.00 | 1320.00 +0.00 -50.00 = 1325.00",
			"3010": "1100.00 +0.00 -0.00 = 1100.00 | 1100.00 +0.00 -0.00 = 1100.00",
			"3200": "0.00 +0.00 -0.00 = 0.00 | 0.00 +0.00 -113.00 = 113.00",
			"3300": "113.00 +0.00 -0.00 = 113.00 | 113.00 +162.40 -0.00 = -49.40",
			"3500": "30.00 +0.00 -77.00 = 107.00 | 107.00 +0.00 -54.40 = 161.40",
		}
		check := func() {
			t.Helper()
			sheet := sheetOf(t, l, parameters)
			for code, row1 := range want {
				if got := row(l, sheet, code); got != row1 {
					t.Errorf("%s:\n got %s\nwant %s", code, got, row1)
				}
			}
			wantFXEffects(t, l, parameters)
		}
		check()
		wantExplained(t, l.Client, statementFigures(t, l.Client, "presentation_currency=USD&legal_entity_ids="+euro.ID,
			sheetOf(t, l, parameters).Periods))
		compact, err := l.Client.CompactBalanceSheet(t.Context(), query(t, parameters))
		if err != nil || strings.Join(compact.Balances[l.Accounts["1010"]].FXEffect, " ") != "77.00 55.00" {
			t.Errorf("compact shape: %+v %v", compact.Balances[l.Accounts["1010"]], err)
		}
		// The rate was kept with the line when it was posted, whatever is stored for the day later.
		storeRates(t, l, "2025-01-15 9.99")
		check()
	})
}

func TestALineThatWasPostedBeforeItsRateWasStoredGetsTheRateOfItsDate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s)
		l.PostTo(t, euro.ID, "2025-01-15", "Dr 1010 1000; Cr 3010 1000")
		parameters := "start_date=2025-01-01&end_date=2025-02-28&presentation_currency=USD&legal_entity_ids=" + euro.ID
		storeRates(t, l, "2025-01-31 1.20")
		a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/balance-sheet?" + parameters, Key: l.Key})
		if a.Status != 409 || !strings.Contains(a.Error(t).Message, "no rate from EUR to USD is stored for 2025-01-15 or a day before it") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		storeRates(t, l, "2025-01-10 1.10")
		if got := row(l, sheetOf(t, l, parameters), "3010"); got != "0.00 +0.00 -1100.00 = 1100.00 | 1100.00 +0.00 -0.00 = 1100.00" {
			t.Error(got)
		}
		wantFXEffects(t, l, parameters)
	})
}

func TestAReversalOfCapitalLeavesNothingInAnyCurrency(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s, "2025-01-15 1.10", "2025-02-15 1.30")
		late := l.PostTo(t, euro.ID, "2025-01-20", "Dr 1010 77; Cr 3010 77") // no rate is stored for this day
		kept := l.PostTo(t, euro.ID, "2025-01-15", "Dr 1010 1000; Cr 3010 1000")
		for _, id := range []string{late.ID, kept.ID} {
			if _, err := l.Client.ReverseJournalEntry(t.Context(), id, client.ReverseJournalEntry{AccountingDate: "2025-02-15"}); err != nil {
				t.Fatal(err)
			}
		}
		parameters := "start_date=2025-01-01&end_date=2025-02-28&presentation_currency=USD&legal_entity_ids=" + euro.ID
		if got := row(l, sheetOf(t, l, parameters), "3010"); got != "0.00 +0.00 -1184.70 = 1184.70 | 1184.70 +1184.70 -0.00 = 0.00" {
			t.Error(got)
		}
	})
}

// closeFor closes months for a legal entity.
func closeFor(t *testing.T, l *apitest.Ledger, e client.LegalEntity, keys ...string) {
	t.Helper()
	l.Names[e.Name] = e.ID
	l.Close(t, e.Name, keys...)
}

func TestARateThatIsStoredLateCountsInOpenMonthsAndNeverInClosedOnes(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s, "2025-01-10 1.10")
		paid := l.PostTo(t, euro.ID, "2025-01-15", "Dr 1010 1000; Cr 3010 1000")
		l.PostTo(t, euro.ID, "2025-01-20", "Dr 1010 100; Cr 4010 100")
		parameters := "start_date=2025-01-01&end_date=2025-01-31&presentation_currency=USD&legal_entity_ids=" + euro.ID
		wantRows := func(when string, want map[string]string) {
			t.Helper()
			for code, text := range want {
				if got := row(l, sheetOf(t, l, parameters), code); got != text {
					t.Errorf("%s, %s:\n got %s\nwant %s", when, code, got, text)
				}
			}
			wantFXEffects(t, l, parameters)
		}
		storeRates(t, l, "2025-01-12 1.12") // newer than the rate that was stored when the capital was booked
		closed := map[string]string{
			"1010": "0.00 +1232.00 -0.00 = 1232.00", // 1100 at 1.12
			"3010": "0.00 +0.00 -1120.00 = 1120.00", // 1000 at 1.12
			"3300": "0.00 +0.00 -111.00 = 111.00",   // 100 at (1.10 + 1.12) / 2
			"3500": "0.00 +0.00 -1.00 = 1.00",
		}
		wantRows("open", closed)
		closeFor(t, l, euro, "2025-01")
		wantRows("closed", closed)
		storeRates(t, l, "2025-01-10 1.30", "2025-01-14 1.50", "2025-01-15 1.60", "2025-01-31 2.00")
		wantRows("after other rates were stored", closed)
		if got := revenueOf(t, l, parameters); got != "111.00" {
			t.Errorf("revenue after other rates were stored is %s", got)
		}

		// A reversal in an open month has the rate of the closed entry, and the open month its own rates.
		if _, err := l.Client.ReverseJournalEntry(t.Context(), paid.ID, client.ReverseJournalEntry{AccountingDate: "2025-02-03"}); err != nil {
			t.Fatal(err)
		}
		february := strings.Replace(parameters, "2025-01-31", "2025-02-28", 1)
		for code, want := range map[string]string{
			"1010": closed["1010"] + " | 1232.00 +0.00 -2000.00 = 200.00",
			"3010": closed["3010"] + " | 1120.00 +1120.00 -0.00 = 0.00",
		} {
			if got := row(l, sheetOf(t, l, february), code); got != want {
				t.Errorf("February, %s:\n got %s\nwant %s", code, got, want)
			}
		}

		reopen := client.ReopenAccountingPeriod{Reason: "other rates", LegalEntityID: euro.ID}
		if _, err := l.Client.ReopenAccountingPeriod(t.Context(), l.Period(t, "2025-01").ID, reopen); err != nil {
			t.Fatal(err)
		}
		wantRows("reopened", map[string]string{"3010": "0.00 +0.00 -1600.00 = 1600.00", "1010": "0.00 +2200.00 -0.00 = 2200.00"})
	})
}

// revenueOf returns the revenue of the first month of an income statement.
func revenueOf(t *testing.T, l *apitest.Ledger, parameters string) string {
	t.Helper()
	income, err := l.Client.IncomeStatement(t.Context(), query(t, parameters))
	if err != nil {
		t.Fatal(err)
	}
	return income.Sections[0].Total[income.Periods[0].Key]
}

func TestAClosedMonthWithoutARateIsTranslatedOnceOneIsStored(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s)
		l.PostTo(t, euro.ID, "2025-01-15", "Dr 1010 1000; Cr 3010 1000")
		closeFor(t, l, euro, "2025-01")
		parameters := "start_date=2025-01-01&end_date=2025-01-31&presentation_currency=USD&legal_entity_ids=" + euro.ID
		if a := s.Send(t, apitest.Request{Method: "GET", Path: "/v1/reports/balance-sheet?" + parameters, Key: l.Key}); a.Status != 409 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		storeRates(t, l, "2025-01-10 1.10")
		if got := row(l, sheetOf(t, l, parameters), "3010"); got != "0.00 +0.00 -1100.00 = 1100.00" {
			t.Error(got)
		}
	})
}

func TestOpeningBalancesHaveTheRateOfTheFirstMonthOfTheirOwnLegalEntity(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s, "2024-01-01 1.50", "2024-12-31 1.10", "2025-01-31 1.20")
		cold := l.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Cold", LegalEntityID: euro.ID})
		l.NewAsset(t, client.CreateAsset{SourceID: cold.ID, LegalEntityID: euro.ID, Quantity: "1", CostBasis: "1000.00",
			DateReceived: "2023-06-01"})
		l.PostTo(t, euro.ID, "2025-01-20", "Dr 1010 100; Cr 4010 100")
		parameters := "start_date=2025-01-01&end_date=2025-01-31&presentation_currency=USD&legal_entity_ids=" + euro.ID
		want := func(when, text string) {
			t.Helper()
			if got := row(l, sheetOf(t, l, parameters), "3100"); got != text {
				t.Errorf("%s:\n got %s\nwant %s", when, got, text)
			}
		}
		const kept = "1100.00 +0.00 -0.00 = 1100.00"
		want("the rate at the beginning of January 2025", kept)
		l.PostTo(t, l.LegalEntity.ID, "2024-01-10", "Dr 1010 5; Cr 3010 5")
		want("after an older entry of another legal entity", kept)
		closeFor(t, l, euro, "2024-01")
		storeRates(t, l, "2025-01-01 1.15")
		want("after a rate was stored for the beginning of a closed history", kept)
	})
}

func TestAClosingKeepsNoRateThatALineKeepsItself(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		l, euro := openSubsidiary(t, s, "2025-01-10 1.10")
		l.PostTo(t, euro.ID, "2025-01-10", "Dr 1010 1000; Cr 3010 1000") // its lines keep the rate of the day
		late := l.PostTo(t, euro.ID, "2025-01-15", "Dr 1010 77; Cr 3010 70; Cr 3010 7")
		closeFor(t, l, euro, "2025-01")
		var kept []string
		err := l.Service().App.DB.Read(t.Context(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
			kept, err = db.All[string](ctx, tx,
				"SELECT applies_to || ' ' || quote_currency FROM period_closing_rates WHERE organization_id = @org ORDER BY 1")
			return err
		})
		want := []string{"average USD", "closing USD", late.ID + " USD"}
		if slices.Sort(want); err != nil || !slices.Equal(kept, want) {
			t.Errorf("it keeps %v, want %v: %v", kept, want, err)
		}
		storeRates(t, l, "2025-01-10 9.99", "2025-01-15 9.99")
		parameters := "start_date=2025-01-01&end_date=2025-01-31&presentation_currency=USD&legal_entity_ids=" + euro.ID
		if got := row(l, sheetOf(t, l, parameters), "3010"); got != "0.00 +0.00 -1184.70 = 1184.70" {
			t.Error(got)
		}
	})
}
