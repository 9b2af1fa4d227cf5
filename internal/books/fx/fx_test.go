package fx_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

func found(t *testing.T, d *db.DB) (context.Context, string) {
	t.Helper()
	f, err := organization.NewService(d).Create(t.Context(), organization.CreateParams{Name: "mine", Email: "a@example.com",
		Currency: "USD", Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID}), f.Organization.ID
}

func rate(date, rate string) fx.Quotation {
	return fx.Quotation{Base: "EUR", Quote: "USD", Date: date, Rate: money.MustParse(rate)}
}

// days shows the rates of a range: 01-30=1.08 and so on.
func days(rates []fx.Quotation) string {
	var out []string
	for _, q := range rates {
		out = append(out, q.Date[5:]+"="+q.Rate.String())
	}
	return strings.Join(out, " ")
}

func TestARateIsThatOfItsDayAndPairAndNoOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, organizationID := found(t, d)
		_, other := found(t, d)
		err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			_, err := fx.Store(ctx, tx, []fx.Quotation{rate("2026-01-30", "1.08"), rate("2026-02-02", "1.10"), rate("2026-01-28", "1.07")})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = d.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			for _, c := range []struct{ base, quote, date, want string }{
				{"EUR", "USD", "2026-01-30", "1.08"},
				{"EUR", "USD", "2026-02-02", "1.1"},
				{"EUR", "USD", "2026-01-31", ""}, // nothing is carried forward
				{"EUR", "USD", "2026-01-29", ""},
				{"USD", "EUR", "2026-01-30", ""}, // nothing is turned around
				{"EUR", "CHF", "2026-01-30", ""},
			} {
				got, there, err := fx.Rate(ctx, tx, c.base, c.quote, c.date)
				if err != nil || there != (c.want != "") || there && got.String() != c.want {
					t.Errorf("%v: %s %v %v", c, got, there, err)
				}
			}
			for date, want := range map[string]string{"2026-01-27": "", "2026-01-28": "01-28=1.07", "2026-01-31": "01-30=1.08",
				"2027-01-01": "02-02=1.1"} {
				got, there, err := fx.Latest(ctx, tx, "EUR", "USD", date)
				if err != nil || there != (want != "") || there && days([]fx.Quotation{got}) != want {
					t.Errorf("last of %s: %+v %v %v", date, got, there, err)
				}
			}
			for bounds, want := range map[[2]string]string{
				{"2026-01-28", "2026-02-02"}: "01-28=1.07 01-30=1.08 02-02=1.1", {"2026-01-29", "2026-02-01"}: "01-30=1.08", {"2026-02-03",
					"2026-02-28"}: "", {"2026-02-02", "2026-01-28"}: "",
			} {
				got, err := fx.ListBetween(ctx, tx, "EUR", "USD", bounds[0], bounds[1])
				if err != nil || days(got) != want {
					t.Errorf("%v: %s %v", bounds, days(got), err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = d.Read(ctx, other, func(ctx context.Context, tx *db.Tx) error {
			if _, there, err := fx.Latest(ctx, tx, "EUR", "USD", "2027-01-01"); there || err != nil {
				t.Errorf("another organization's rate: %v %v", there, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestAveragesAreExactSumsByMonthWithTheLatestRate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, organizationID := found(t, d)
		err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			_, err := fx.Store(ctx, tx, []fx.Quotation{rate("2026-01-09", "1.1"), rate("2026-01-30", "1.08"), rate("2026-03-02", "1.123456789012"),
				{Base: "EUR", Quote: "CHF", Date: "2026-01-31", Rate: money.MustParse("0.95")}})
			if err != nil {
				return err
			}
			all, err := fx.Averages(ctx, tx, "EUR", "", "2026-01-01", "2026-03-31")
			var got []string
			for _, a := range all {
				got = append(got, fmt.Sprintf("%s %s %s/%d %s", a.Quote, a.Month, a.Sum, a.Count, a.Latest))
			}
			if text := strings.Join(got, ", "); err != nil || text != "CHF 2026-01 0.95/1 0.95, USD 2026-01 2.18/2 1.08, "+
				"USD 2026-03 1.123456789012/1 1.123456789012" {
				t.Errorf("%s %v", text, err)
			}
			if some, err := fx.Averages(ctx, tx, "EUR", "USD", "2026-01-10", "2026-02-28"); err != nil || len(some) != 1 || some[0].Count != 1 {
				t.Errorf("%+v %v", some, err)
			}
			if quotes, err := fx.Quotes(ctx, tx, "EUR"); err != nil || strings.Join(quotes, " ") != "CHF USD" {
				t.Errorf("%q %v", quotes, err)
			}
			for _, c := range [][3]string{{"2026-01-10", "2026-01-31", "1.1"}, {"2026-01-01", "2026-01-31", "1.08"},
				{"2026-01-01", "2026-01-05", ""}} {
				q, there, err := fx.AtBeginning(ctx, tx, "EUR", "USD", c[0], c[1])
				if err != nil || there != (c[2] != "") || there && q.Rate.String() != c[2] {
					t.Errorf("%q: %+v %v %v", c, q, there, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestStoreRefusesInvalidRates(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, organizationID := found(t, d)
		err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
			for _, rates := range [][]fx.Quotation{{rate("2026-01-30", "0")}, {rate("30.01.2026", "1")},
				{rate("2026-01-30", "1"), rate("2026-01-30", "1")}, {{Base: "EUR", Quote: "EUR", Date: "2026-01-30", Rate: money.FromInt(1)}}} {
				if _, err := fx.Store(ctx, tx, rates); fault.KindOf(err) != fault.Invalid {
					t.Errorf("%v: %v", rates, err)
				}
			}
			out, err := fx.Store(ctx, tx, nil)
			if len(out) != 0 {
				t.Errorf("%v", out)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestTheServiceNamesEveryFaultOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, _ := found(t, d)
		s := fx.NewService(d)
		many := make([]fx.StoreParams, fx.RatesMax+1)
		for says, params := range map[string][]fx.StoreParams{
			"rates must have 1 to 1000 items":  nil,
			"rates must have 1 to 1000 items ": many,
			"rates[0].date must not be before": {{Base: "EUR", Quote: "USD", Date: "0999-12-31", Rate: "1"}},
			"rates[0].rate must be a decimal":  {{Base: "EUR", Quote: "USD", Date: "2026-01-30", Rate: "1e3"}},
			"rates[0].rate must be more than 0; rates[1].date must": {{Base: "EUR", Quote: "USD", Date: "2026-01-30", Rate: "0"},
				{Base: "EUR", Quote: "USD", Date: "x", Rate: "1"}},
		} {
			_, err := s.Store(ctx, params)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), strings.TrimSpace(says)) ||
				strings.Count(err.Error(), "rates") != strings.Count(says, "rates") {
				t.Errorf("%v does not say %s", err, says)
			}
		}
	})
}

func TestVerifyReportsEveryKindOfDamage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for statement, says := range map[string]string{
			"UPDATE fx_rates SET rate = '0' WHERE organization_id = @org":             "rate must be more than 0",
			"UPDATE fx_rates SET quote_currency = 'EUR' WHERE organization_id = @org": "another currency",
			"UPDATE fx_rates SET base_currency = 'BTC' WHERE organization_id = @org":  "base_currency",
			"UPDATE fx_rates SET date = '2026-02-30' WHERE organization_id = @org":    "date",
		} {
			ctx, organizationID := found(t, d)
			err := d.Write(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
				if _, err := fx.Store(ctx, tx, []fx.Quotation{rate("2026-01-30", "1.08")}); err != nil {
					return err
				}
				if found := dbtest.Damage(ctx, t, tx, fx.Verify, statement); len(found) != 1 || !strings.Contains(found[0], says) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept")
			}
		}
	})
}
