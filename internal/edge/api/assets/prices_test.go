package assets_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestAPriceIsCreatedFoundChangedAndDeleted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "BTC", Currency: "USD", Timestamp: "2026-01-31",
			Price: "64250.1", Note: new("Kraken")})
		if err != nil || made.Price != "64250.10" || made.Origin != "manual" || *made.Note != "Kraken" ||
			!strings.HasPrefix(made.ID, "pri_") || made.Timestamp.Nanosecond() != 999_000_000 {
			t.Fatalf("%s %v", apitest.JSON(t, made), err)
		}
		body := `{"asset_type":"BTC","currency":"USD","timestamp":"` + made.Timestamp.Format("2006-01-02T15:04:05.999Z07:00") + `","price":"1"}`
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/prices", Key: n.Key, Body: body}); a.Status != 409 ||
			!a.Blames(t, "timestamp") || !strings.Contains(string(a.Body), made.ID) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		changed, err := n.Client.UpdatePrice(t.Context(), made.ID, client.UpdatePrice{Price: new("64000"), Note: client.Null[string]()})
		kept, failed := n.Client.Price(t.Context(), made.ID)
		if err != nil || failed != nil || apitest.JSON(t, kept) != apitest.JSON(t, changed) || kept.Price != "64000.00" || kept.Note != nil ||
			kept.UpdatedAt == nil {
			t.Errorf("%s %s %v %v", apitest.JSON(t, changed), apitest.JSON(t, kept), err, failed)
		}
		if err := n.Client.DeletePrice(t.Context(), made.ID); err != nil {
			t.Error(err)
		}
		var got []string
		for e, err := range n.Client.AuditLog(t.Context(), url.Values{"resource_id": {made.ID}}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Action+" "+string(e.Before)+" "+string(e.After))
		}
		first := fmt.Sprintf(
			`{"asset_type":"BTC","currency":"USD","id":%q,"note":"Kraken","origin":"manual","price":"64250.1","timestamp":%q}`, made.ID,
			made.Timestamp.Format("2006-01-02T15:04:05.999Z07:00"))
		second := strings.NewReplacer(`"Kraken"`, "null", "64250.1", "64000").Replace(first)
		if want := []string{"price.deleted " + second + " null", "price.updated " + first + " " + second,
			"price.created null " + first}; strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestPricesComeInBatchesAndFilesAllOrNone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		list := func(query string) (out []string) {
			values, _ := url.ParseQuery(query)
			for p, err := range n.Client.Prices(t.Context(), values) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, p.AssetType+" "+p.Price+" "+p.Origin)
			}
			return out
		}
		many := make([]client.CreatePrice, 1001)
		for i := range many {
			many[i] = client.CreatePrice{AssetType: "BTC", Currency: "USD", Timestamp: fmt.Sprintf("2026-01-01T%02d:%02d:00Z", i/60, i%60),
				Price: fmt.Sprint(i + 1)}
		}
		if _, err := n.Client.CreatePrices(t.Context(), many); err == nil || !strings.Contains(err.Error(), "prices") {
			t.Errorf("%v", err)
		}
		dry, _ := json.Marshal(map[string]any{"prices": many[:2], "dry_run": true})
		if a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/prices/batch", Key: n.Key, Body: string(dry)}); a.Status != 201 ||
			len(list("")) != 0 {
			t.Errorf("dry: %d %s %v", a.Status, a.Body, list(""))
		}
		before := n.AuditCount(t)
		made, err := n.Client.CreatePrices(t.Context(), many[:1000])
		if err != nil || len(made) != 1000 || made[999].Price != "1000.00" || n.AuditCount(t) != before+1000 {
			t.Fatalf("%d %v", len(made), err)
		}
		if got := list("asset_types=ETH,BTC&limit=100"); len(got) != 1000 || got[0] != "BTC 1000.00 manual" {
			t.Errorf("%d listed", len(got))
		}
		bring := func(lines string, dry, replace bool) (client.PriceImport, error) {
			return n.Client.ImportPrices(t.Context(), client.ImportPrices{
				File: strings.NewReader("asset_type,currency,timestamp,price\n" + lines), FileName: "prices.csv", DryRun: dry, Replace: replace,
			})
		}
		file := "BTC,USD,2026-01-01T00:00:00Z,1\nETH,USD,2026-01-01,2450.5\n"
		for _, c := range []struct {
			lines        string
			dry, replace bool
			want         client.PriceImport
		}{
			{file, true, false, client.PriceImport{DryRun: true, Created: 1, Duplicates: 1}},
			{file, false, false, client.PriceImport{Created: 1, Duplicates: 1}},
			{file, false, false, client.PriceImport{Duplicates: 2}},
			{"BTC,USD,2026-01-01T00:00:00Z,7\n", false, true, client.PriceImport{Replaced: 1}},
		} {
			if got, err := bring(c.lines, c.dry, c.replace); err != nil || got != c.want {
				t.Errorf("%+v: %+v %v", c, got, err)
			}
		}
		if got := list("origin=import"); strings.Join(got, ", ") != "ETH 2450.50 import, BTC 7.00 import" {
			t.Errorf("%q", got)
		}
		for lines, status := range map[string]int{"BTC,USD,2026-01-01T00:00:00Z,1\n": 409,
			"BTC,USD,2026-01-01T00:00:00Z,1\nBTC,usd,2026-01-01,1\n": 400} {
			form, kind := apitest.Form(map[string]any{"file": "asset_type,currency,timestamp,price\n" + lines})
			a := s.Send(t, apitest.Request{Method: "POST", Path: "/v1/prices/import", Key: n.Key, Body: form, ContentType: kind})
			if a.Status != status || !a.Blames(t, "file, line 2, price") || len(a.Error(t).Fields) != strings.Count(lines, "\n") {
				t.Errorf("%d %s, want %d", a.Status, a.Body, status)
			}
		}
	})
}
