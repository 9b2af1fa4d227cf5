package price_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
)

func TestPricesAreListedTheLatestFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.put("BTC USD 2026-01-31 3", "ETH USD 2026-01-31T00:00:00Z 2", "BTC EUR 2026-03-08 4", "SOL USD 2026-01-01T12:00:00.0009+01:00 1")
		all := []string{ // the day on which clocks go forward ends an hour earlier
			"BTC EUR 2026-03-09T03:59:59.999Z 4 " +
				"manual", "BTC USD 2026-02-01T04:59:59.999Z 3 " +
				"manual", "ETH USD 2026-01-31T00:00:00.000Z 2 manual", "SOL USD 2026-01-01T11:00:00.000Z 1 manual",
		}
		for _, c := range []struct {
			filter price.Filter
			want   []string
		}{
			{price.Filter{}, all},
			{price.Filter{AssetTypes: []string{"BTC"}}, all[:2]},
			{price.Filter{AssetTypes: []string{"BTC", "SOL"}}, []string{all[0], all[1], all[3]}},
			{price.Filter{AssetTypes: []string{"btc"}}, nil},
			{price.Filter{Currency: "USD"}, all[1:]},
			{price.Filter{Origin: price.Import}, nil},
			{price.Filter{Origin: price.Manual, Currency: "EUR"}, all[:1]},
			{price.Filter{From: "2026-01-31"}, all[:2]}, // the price of ETH is of the evening before in New York
			{price.Filter{From: "2026-01-31T00:00:00Z"}, all[:3]},
			{price.Filter{To: "2026-01-31"}, all[1:]},
			{price.Filter{To: "2026-01-31T00:00:00Z"}, all[2:]},
			{price.Filter{From: "2026-01-30", To: "2026-01-30"}, all[2:3]},
		} {
			if got := w.all(c.filter); !slices.Equal(got, c.want) {
				t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
			}
		}
		for says, f := range map[string]price.Filter{
			"currency must be an ISO 4217":          {Currency: "BTC"},
			"origin must be one of":                 {Origin: "guess"},
			"start_date must not be after end_date": {From: "2026-02-01", To: "2026-01-31"},
			"start_date must be a time such":        {From: "yesterday"},
			"end_date must be a time such as 2026-": {To: "2026-02-30"},
		} {
			if _, err := w.List(w.ctx, f, page.Request{Limit: 10}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), says) {
				t.Errorf("%+v: %v", f, err)
			}
		}
	})
}

func TestAnInstantHasOnePriceAndTheSecondIsToldItsID(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		made := w.put("BTC USD 2026-01-31 3")[0]
		for _, line := range []string{"BTC USD 2026-01-31 3", "BTC USD 2026-02-01T04:59:59.9995Z 4"} {
			if _, err := w.Create(w.ctx, params(line)[0]); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(),
				"timestamp has a price already: "+made.ID) {
				t.Errorf("%s: %v", line, err)
			}
		}
		before := w.records()
		if _, err := w.CreateBatch(w.ctx, params("ETH USD 2026-01-31 1", "BTC USD 2026-01-31 3"),
			false); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "prices[1].timestamp") {
			t.Errorf("%v", err)
		}
		if got := w.all(price.Filter{}); len(got) != 1 || w.records() != before {
			t.Errorf("%q", got)
		}
		if dry, err := w.CreateBatch(w.ctx, params("ETH USD 2026-01-31 1", "BTC EUR 2026-01-31 3"), true); err != nil || len(dry) != 2 ||
			len(w.all(price.Filter{})) != 1 {
			t.Errorf("dry: %v %v", dry, err)
		}
		w.put("ETH USD 2026-01-31 1", "BTC EUR 2026-01-31 3", "BTC USD 2026-02-01 3")
		if got := w.records() - before; got != 3 {
			t.Errorf("%d records of 3 prices", got)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		done := 0
		for range 8 {
			wg.Go(func() {
				_, err := w.Create(w.ctx, params("SOL USD 2026-01-31 1")[0])
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					done++
				} else if fault.KindOf(err) != fault.Conflict {
					t.Error(err)
				}
			})
		}
		if wg.Wait(); done != 1 {
			t.Errorf("%d made the same price at once", done)
		}
	})
}

func TestEveryFaultOfPricesIsNamedAndNothingIsMade(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		good := price.Params{AssetType: "BTC", Currency: "USD", Timestamp: "2026-01-31", Price: "1"}
		with := func(change func(*price.Params)) price.Params {
			p := good
			change(&p)
			return p
		}
		for says, p := range map[string]price.Params{
			"prices[1].asset_type must be the symbol":             with(func(p *price.Params) { p.AssetType = " " }),
			"prices[1].asset_type must have at most 100":          with(func(p *price.Params) { p.AssetType = strings.Repeat("é", 101) }),
			"prices[1].asset_type must be UTF-8":                  with(func(p *price.Params) { p.AssetType = "a\x00" }),
			"prices[1].currency must be an ISO 4217":              with(func(p *price.Params) { p.Currency = "usd" }),
			"prices[1].currency must differ from asset_type":      with(func(p *price.Params) { p.AssetType = "USD" }),
			"prices[1].timestamp must be a time such":             with(func(p *price.Params) { p.Timestamp = "31.01.2026" }),
			"prices[1].timestamp must lie between 1970 and 2199":  with(func(p *price.Params) { p.Timestamp = "1969-12-30" }),
			"prices[1].timestamp must lie between 1970 and 2199 ": with(func(p *price.Params) { p.Timestamp = "2200-01-01T00:00:00Z" }),
			"prices[1].timestamp is the same as in prices[0]":     with(func(p *price.Params) { p.Price = "2" }),
			"prices[1].price must be more than 0":                 with(func(p *price.Params) { p.Price, p.Currency = "0", "EUR" }),
			"prices[1].price must be more than 0 ":                with(func(p *price.Params) { p.Price, p.Currency = "-1", "EUR" }),
			"prices[1].price must be a decimal":                   with(func(p *price.Params) { p.Price, p.Currency = "1e3", "EUR" }),
			"prices[1].note must have at most 500": with(func(p *price.Params) {
				p.Note, p.Currency = strings.Repeat("x", 501), "EUR"
			}),
		} {
			_, err := w.CreateBatch(w.ctx, []price.Params{good, p}, false)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), strings.TrimSpace(says)) ||
				strings.Count(err.Error(), "prices[1].") != 1 {
				t.Errorf("%v does not say %s alone", err, says)
			}
		}
		for _, n := range []int{0, price.BatchMax + 1} {
			if _, err := w.CreateBatch(w.ctx, make([]price.Params, n), false); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%d prices: %v", n, err)
			}
		}
		if got := w.all(price.Filter{}); len(got) > 0 {
			t.Errorf("%q", got)
		}
	})
}

func TestAPriceIsChangedAndDeletedAndTheAuditSaysSo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		made := w.put("BTC USD 2026-01-31 3")[0]
		before := w.records()
		if after, err := w.Update(w.ctx, made.ID, price.UpdateParams{Price: new("3.0"), Note: new(" ")}); err != nil ||
			after.UpdatedAt != nil || w.records() != before {
			t.Errorf("what changes nothing: %+v %v", after, err)
		}
		after, err := w.Update(w.ctx, made.ID, price.UpdateParams{Price: new("4"), Note: new(" Kraken ")})
		kept, failed := w.Get(w.ctx, made.ID)
		if err != nil || failed != nil || shown(kept) != "BTC USD 2026-02-01T04:59:59.999Z 4 manual again" ||
			shown(after) != shown(kept) || kept.Note != "Kraken" || w.records() != before+1 {
			t.Errorf("%+v %+v %v %v", after, kept, err, failed)
		}
		for _, bad := range []price.UpdateParams{{Price: new("0")}, {Price: new("x")}, {Note: new(strings.Repeat("x", 501))}} {
			if _, err := w.Update(w.ctx, made.ID, bad); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		if err := w.Delete(w.ctx, made.ID); err != nil || w.records() != before+2 {
			t.Error(err)
		}
		_, failed = w.Get(w.ctx, made.ID)
		_, err = w.Update(w.ctx, made.ID, price.UpdateParams{Price: new("4")})
		for _, err := range []error{failed, err, w.Delete(w.ctx, made.ID)} {
			if fault.KindOf(err) != fault.NotFound {
				t.Error(err)
			}
		}
		w.put("BTC USD 2026-01-31 5") // its place is free again
	})
}

func TestAPriceThatSomethingRestsOnIsNotDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, other := newWorld(t, d), newWorld(t, d)
		made := w.put("BTC USD 2026-01-31 3", "ETH USD 2026-01-31 3")
		w.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO revaluation_items (organization_id, revaluation_id, legal_entity_id, kind, unit, currency, "+
				"quantity, before, price_id, value, after, outcome, lines) "+
				"VALUES (@org, 'rv_x', 'le_x', 'asset', 'BTC', 'USD', '1', '0', ?, '3', '3', 'posted', '')", made[0].ID)
			return err
		})
		before := w.records()
		if err := w.Delete(w.ctx, made[0].ID); fault.KindOf(err) != fault.Conflict ||
			!strings.HasSuffix(err.Error(), "is used by 1 revaluation, for example rv_x") {
			t.Error(err)
		}
		if _, err := w.Get(w.ctx, made[0].ID); err != nil || w.records() != before {
			t.Error(err)
		}
		if err := w.Delete(w.ctx, made[1].ID); err != nil {
			t.Error(err)
		}
		if err := other.Delete(other.ctx, made[0].ID); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

func TestVerifyFindsInvalidPrices(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for statement, says := range map[string]string{
			"UPDATE prices SET price = '0' WHERE organization_id = @org":      "price must be more than 0",
			"UPDATE prices SET currency = 'BTC' WHERE organization_id = @org": "currency",
			"UPDATE prices SET asset_type = '' WHERE organization_id = @org":  "asset_type",
			"UPDATE prices SET origin = 'guess' WHERE organization_id = @org": "origin",
		} {
			w := newWorld(t, d)
			w.put("ETH USD 2026-01-31 3")
			err := d.Write(w.ctx, w.org, func(ctx context.Context, tx *db.Tx) error {
				if found := dbtest.Damage(ctx, t, tx, price.Verify, statement); len(found) != 1 || !strings.Contains(found[0], says) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Error("the damage was kept", err)
			}
		}
	})
}
