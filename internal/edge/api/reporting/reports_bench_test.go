package reporting_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/base/money"
	chart "github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// BenchmarkBalanceSheet requests the balance sheet of 60 accounts over 36 months, all of them in use.
func BenchmarkBalanceSheet(b *testing.B) {
	for _, engine := range []struct {
		name string
		open func(testing.TB) db.Config
	}{{"sqlite", dbtest.SQLite}, {"postgres", dbtest.Postgres}} {
		b.Run(engine.name, func(b *testing.B) {
			handler, key := benchBooks(b, engine.open(b))
			for _, shape := range []string{"faithful", "compact"} {
				for _, coding := range []string{"identity", "gzip"} {
					b.Run(shape+"/"+coding, func(b *testing.B) {
						b.ReportAllocs()
						size := 0
						for b.Loop() {
							r := httptest.NewRequest(http.MethodGet, "/v1/reports/balance-sheet?shape="+shape+"&end_date=2025-12-31&start_date=2023-01-01", nil)
							r.Header.Set("X-API-Key", key)
							r.Header.Set("Accept-Encoding", coding)
							w := httptest.NewRecorder()
							handler.ServeHTTP(w, r)
							if w.Code != http.StatusOK {
								b.Fatal(w.Code, w.Body)
							}
							n, _ := io.Copy(io.Discard, w.Body)
							size = int(n)
						}
						b.ReportMetric(float64(size), "bytes")
					})
				}
			}
		})
	}
}

func benchBooks(b *testing.B, c db.Config) (http.Handler, string) {
	b.Helper()
	d, err := db.Open(c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	if err := d.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	a := app.New(d, nil)
	f, err := a.Org.Create(b.Context(), organization.CreateParams{Name: "bench", Email: "a@example.com", Currency: "USD", Timezone: "UTC"})
	if err != nil {
		b.Fatal(err)
	}
	type total struct {
		Tag     string        `db:"tag_id"`
		Entity  string        `db:"legal_entity_id"`
		Account string        `db:"ledger_account_id"`
		Period  string        `db:"accounting_period_id"`
		Debits  money.Decimal `db:"debits"`
		Credits money.Decimal `db:"credits"`
	}
	err = d.Write(b.Context(), f.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		periods, err := period.Ensure(ctx, tx, calendar.Month{Year: 2023, Month: 1})
		if err != nil {
			return err
		}
		var accounts []chart.Account
		for i := range 30 {
			for _, kind := range []chart.Type{chart.Asset, chart.Equity} {
				made, err := chart.Create(ctx, tx, chart.CreateParams{Name: fmt.Sprintf("%s %d", kind, i), Type: kind})
				if err != nil {
					return err
				}
				accounts = append(accounts, made)
			}
		}
		var rows []total
		for i, p := range periods[:36] {
			for j, a := range accounts {
				rows = append(rows, total{Tag: "", Entity: f.LegalEntity.ID, Account: a.ID, Period: p.ID,
					Debits:  money.MustParse(fmt.Sprintf("%d.%02d", 1000+37*i+j/2, j/2)),
					Credits: money.MustParse(fmt.Sprintf("%d.%02d", 500+31*i+j/2, j/2))})
			}
		}
		return db.Insert(ctx, tx, "account_balances", rows...)
	})
	if err != nil {
		b.Fatal(err)
	}
	return api.New(a, api.Config{}), f.KeyText.Reveal()
}
