package books_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestALegalEntityIsCreatedWithDefaultOrGivenSettings(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		usual, err := n.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{Name: "Plain", BaseCurrency: "EUR"})
		if err != nil {
			t.Fatal(err)
		}
		if usual.Name != "Plain" || usual.BaseCurrency != "EUR" || usual.Country != nil || usual.ParentLegalEntityID != nil ||
			usual.OwnershipPercent != nil ||
			usual.CostBasisMethod != "fifo" || usual.CostBasisFrom != nil || usual.CostBasisScope != "source" || usual.Measurement != "cost" ||
			usual.Framework != "ifrs" || usual.FeeTreatment != "expense" || usual.ShortDisposal != "block" ||
			usual.IntercompanyBasis != "carry_over" ||
			usual.LoansOut != "derecognize" || usual.FiscalYearStartMonth != 1 || usual.UpdatedAt != nil || len(usual.CostBasisHistory) != 1 {
			t.Errorf("%s", apitest.JSON(t, usual))
		}
		own, err := n.Client.CreateLegalEntity(t.Context(), client.CreateLegalEntity{
			Name: "Own", BaseCurrency: "JPY", Country: new("JP"), ParentLegalEntityID: &usual.ID, OwnershipPercent: new(
				"51.500"), CostBasisMethod: "weighted_average",
			CostBasisFrom: new("2025-04-01"), CostBasisScope: "legal_entity", Measurement: "fair_value", FiscalYearStartMonth: 4,
			Framework: "us_gaap", FeeTreatment: "net", ShortDisposal: "zero_basis", IntercompanyBasis: "fair_value", LoansOut: "park",
		})
		if err != nil {
			t.Fatal(err)
		}
		if *own.Country != "JP" || *own.ParentLegalEntityID != usual.ID || *own.OwnershipPercent != "51.5" ||
			own.CostBasisMethod != "weighted_average" ||
			*own.CostBasisFrom != "2025-04-01" || own.CostBasisScope != "legal_entity" || own.Measurement != "fair_value" ||
			own.FiscalYearStartMonth != 4 ||
			own.Framework != "us_gaap" || own.FeeTreatment != "net" || own.ShortDisposal != "zero_basis" ||
			own.IntercompanyBasis != "fair_value" || own.LoansOut != "park" {
			t.Errorf("%s", apitest.JSON(t, own))
		}
		again, err := n.Client.LegalEntity(t.Context(), own.ID)
		if err != nil || apitest.JSON(t, again) != apitest.JSON(t, own) {
			t.Errorf("read %s, made %s, %v", apitest.JSON(t, again), apitest.JSON(t, own), err)
		}
		var names []string
		for e, err := range n.Client.LegalEntities(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, e.Name)
		}
		if !slices.Equal(names, []string{"mine", "Plain", "Own"}) {
			t.Errorf("listed %v", names)
		}
	})
}

func TestALegalEntityAcceptsValidValuesAndNamesEveryInvalidOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		parent := n.LegalEntity.ID
		long := strings.Repeat("é", 200)
		before := n.AuditCount(t)
		for _, c := range []struct {
			body  string
			blame string // fields, or empty if it is valid
		}{
			{`{"name":"` + long + `","base_currency":"USD"}`, ""},
			{`{"name":"` + long + `é","base_currency":"USD"}`, "name"},
			{`{"name":"   ","base_currency":"usd","country":"ch"}`, "name base_currency country"},
			{`{"name":"   ","base_currency":"usd"}`, "name base_currency"},
			{`{"name":"A","base_currency":"BTC"}`, "base_currency"},
			{`{"name":"A","base_currency":"XAU"}`, "base_currency"},
			{`{"name":"A","base_currency":"USD","country":"C"}`, "country"},
			{`{"name":"A","base_currency":"USD","country":"CHE"}`, "country"},
			{`{"name":"A","base_currency":"USD","country":null,"parent_legal_entity_id":null,"ownership_percent":null,"cost_basis_from":null}`, ""},
			{`{"name":"A","base_currency":"USD","ownership_percent":"50"}`, "ownership_percent"},
			{`{"name":"A","base_currency":"USD","parent_legal_entity_id":"` + parent + `","ownership_percent":"0"}`, "ownership_percent"},
			{`{"name":"A","base_currency":"USD","parent_legal_entity_id":"` + parent + `","ownership_percent":"-1"}`, "ownership_percent"},
			{`{"name":"A","base_currency":"USD","parent_legal_entity_id":"` + parent +
				`","ownership_percent":"100.000000000000000000000000000001"}`, "ownership_percent"},
			{`{"name":"A","base_currency":"USD","parent_legal_entity_id":"` + parent + `","ownership_percent":"100"}`, ""},
			{`{"name":"A","base_currency":"USD","parent_legal_entity_id":"` + parent +
				`","ownership_percent":"0.000000000000000000000000000001"}`, ""},
			{`{"name":"A","base_currency":"USD","cost_basis_from":"2025-02-29"}`, "cost_basis_from"},
			{`{"name":"A","base_currency":"USD","cost_basis_from":"2024-02-29"}`, ""},
			{`{"name":"A","base_currency":"USD","fiscal_year_start_month":0}`, "fiscal_year_start_month"},
			{`{"name":"","base_currency":"USD","country":"x","ownership_percent":"1e3","cost_basis_method":"x","cost_basis_from":"x","cost_basis_scope":"x","measurement":"x","fiscal_year_start_month":13,"framework":"x","fee_treatment":"x","short_disposal":"x","intercompany_basis":"x","loans_out":"x"}`,
				"name country ownership_percent cost_basis_method cost_basis_from cost_basis_scope measurement fiscal_year_start_month " +
					"framework fee_treatment short_disposal intercompany_basis loans_out"},
		} {
			a, _ := s.SendJSON(t, n.Key, "POST", "/v1/legal-entities", c.body)
			if c.blame == "" {
				if a.Status != 201 {
					t.Errorf("%.200s: %d %s", c.body, a.Status, a.Body)
				}
				before = n.AuditCount(t)
				continue
			}
			fields := strings.Fields(c.blame)
			for _, field := range fields {
				if a.Status != 400 || !a.Blames(t, field) || len(a.Error(t).Fields) != len(fields) {
					t.Errorf("%.200s: %d %s, want %s", c.body, a.Status, a.Body, c.blame)
				}
			}
			if after := n.AuditCount(t); after != before {
				t.Errorf("%.200s made %d changes", c.body, after-before)
			}
		}
	})
}

func TestALegalEntityIsChangedFieldByField(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		e := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Child", ParentLegalEntityID: &n.LegalEntity.ID, OwnershipPercent: new("60")})
		for _, c := range []struct{ body, field, want string }{
			{`{"name":"Renamed"}`, "name", `"Renamed"`},
			{`{"base_currency":"CHF"}`, "base_currency", `"CHF"`},
			{`{"country":"CH"}`, "country", `"CH"`},
			{`{"country":null}`, "country", `null`},
			{`{"ownership_percent":"75.5"}`, "ownership_percent", `"75.5"`},
			{`{"measurement":"impairment"}`, "measurement", `"impairment"`},
			{`{"fiscal_year_start_month":12}`, "fiscal_year_start_month", `12`},
			{`{"fee_treatment":"capitalize"}`, "fee_treatment", `"capitalize"`},
			{`{"short_disposal":"zero_basis"}`, "short_disposal", `"zero_basis"`},
			{`{"intercompany_basis":"fair_value"}`, "intercompany_basis", `"fair_value"`},
			{`{"loans_out":"park"}`, "loans_out", `"park"`},
			{`{"base_currency":"CHF"}`, "framework", `"us_gaap"`}, // it does not change with the currency
			{`{"framework":"ifrs"}`, "framework", `"ifrs"`},
			{`{"ownership_percent":null}`, "ownership_percent", `null`},
			{`{"ownership_percent":"10"}`, "parent_legal_entity_id", `"` + n.LegalEntity.ID + `"`},
			{`{"parent_legal_entity_id":null}`, "ownership_percent", `null`}, // removed together with the parent
			{`{"name":"Renamed"}`, "parent_legal_entity_id", `null`},
		} {
			a, data := s.SendJSON(t, n.Key, "PATCH", "/v1/legal-entities/"+e.ID, c.body)
			if a.Status != 200 || string(data[c.field]) != c.want {
				t.Errorf("%s: %d %s", c.body, a.Status, a.Body)
			}
		}
		for _, body := range []string{`{"ownership_percent":"10"}`, `{"parent_legal_entity_id":null,"ownership_percent":"10"}`} {
			if a, _ := s.SendJSON(t, n.Key, "PATCH", "/v1/legal-entities/"+e.ID, body); a.Status != 400 || !a.Blames(t, "ownership_percent") {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		}
		if a, _ := s.SendJSON(t, n.Key, "PATCH", "/v1/legal-entities/"+e.ID, `{}`); a.Status != 400 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		got, err := n.Client.LegalEntity(t.Context(), e.ID)
		if err != nil || got.Name != "Renamed" || got.BaseCurrency != "CHF" || got.UpdatedAt == nil || len(got.CostBasisHistory) != 1 {
			t.Errorf("%s %v", apitest.JSON(t, got), err)
		}
		before := n.AuditCount(t)
		if _, err := n.Client.UpdateLegalEntity(t.Context(), e.ID, client.UpdateLegalEntity{Name: new("Renamed"),
			Country: client.Null[string]()}); err != nil || n.AuditCount(t) != before {
			t.Errorf("what changes nothing made %d changes: %v", n.AuditCount(t)-before, err)
		}
	})
}

func TestEveryElectionOfCostBasisIsStored(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for _, u := range []client.UpdateLegalEntity{
			{CostBasisMethod: new("lifo"), CostBasisFrom: client.Set("2024-01-01")},
			{CostBasisScope: new("legal_entity")},
			{CostBasisFrom: client.Set("2025-01-01")},
			{CostBasisFrom: client.Set("2025-01-01"), Name: new("Other")}, // elects nothing
			{CostBasisMethod: new("hifo"), CostBasisFrom: client.Null[string]()},
		} {
			if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID, u); err != nil {
				t.Fatal(err)
			}
		}
		e, err := n.Client.LegalEntity(t.Context(), n.LegalEntity.ID)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range e.CostBasisHistory {
			from := "-"
			if h.From != nil {
				from = *h.From
			}
			got = append(got, fmt.Sprint(h.Method, " ", h.Scope, " ", from))
		}
		want := []string{"fifo source -", "lifo source 2024-01-01", "lifo legal_entity 2024-01-01", "lifo legal_entity 2025-01-01",
			"hifo legal_entity -"}
		if !slices.Equal(got, want) || e.CostBasisMethod != "hifo" || e.CostBasisScope != "legal_entity" || e.CostBasisFrom != nil {
			t.Errorf("%v, want %v: %s", got, want, apitest.JSON(t, e))
		}
	})
}

func TestLegalEntitiesDoNotHoldEachOtherInACircle(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		top := n.LegalEntity.ID
		middle := n.NewLegalEntity(t, client.CreateLegalEntity{ParentLegalEntityID: &top}).ID
		bottom := n.NewLegalEntity(t, client.CreateLegalEntity{ParentLegalEntityID: &middle}).ID
		for child, parent := range map[string]string{top: bottom, middle: middle, middle + " ": bottom} {
			child = strings.TrimSpace(child)
			a, _ := s.SendJSON(t, n.Key, "PATCH", "/v1/legal-entities/"+child, `{"parent_legal_entity_id":"`+parent+`"}`)
			if a.Status != 400 || !a.Blames(t, "parent_legal_entity_id") {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
		// Out of the way first, then the other way round.
		if _, err := n.Client.UpdateLegalEntity(t.Context(), bottom,
			client.UpdateLegalEntity{ParentLegalEntityID: client.Null[string]()}); err != nil {
			t.Error(err)
		}
		if _, err := n.Client.UpdateLegalEntity(t.Context(), top, client.UpdateLegalEntity{ParentLegalEntityID: client.Set(bottom)}); err != nil {
			t.Error(err)
		}
	})
}

func TestTheCurrencyOfALegalEntityStaysOnceThereAreLinesInIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		for status, says := range map[string]string{"draft": "2 journal lines, for example of JE-1",
			"posted": "2 journal lines, for example of JE-1"} {
			n := s.Found(t, status)
			l := openLedger(t, n)
			other := n.NewLegalEntity(t, client.CreateLegalEntity{}).ID
			entry := l.Entry("2026-01-31", status, "Dr 1010 5 "+other+"; Cr 4010 5 "+other)
			if _, err := n.Client.CreateJournalEntry(t.Context(), entry); err != nil {
				t.Fatal(err)
			}
			_, err := n.Client.UpdateLegalEntity(t.Context(), other, client.UpdateLegalEntity{BaseCurrency: new("EUR"), Name: new("x")})
			apitest.WantConflict(t, err, "base_currency", says)
			if got, err := n.Client.LegalEntity(t.Context(), other); err != nil || got.BaseCurrency != "USD" || got.Name != "Test" {
				t.Errorf("%s %v", apitest.JSON(t, got), err)
			}
			if _, err := n.Client.UpdateLegalEntity(t.Context(), other, client.UpdateLegalEntity{BaseCurrency: new("USD"),
				Name: new("x")}); err != nil {
				t.Error(err)
			}
			if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID, client.UpdateLegalEntity{BaseCurrency: new("EUR")}); err != nil {
				t.Errorf("an entity without lines: %v", err)
			}
		}
	})
}

func TestALimitedKeyDoesNotSeeAParentThatItHasNoAccessTo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		child := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Child", ParentLegalEntityID: &n.LegalEntity.ID, OwnershipPercent: new("80")})
		for name, x := range map[string]struct {
			key  string
			sees bool
		}{
			"unlimited":            {n.Key, true},
			"limited to both":      {n.Limited(t, child.ID, n.LegalEntity.ID), true},
			"limited to the child": {n.Limited(t, child.ID), false},
		} {
			for _, path := range []string{"/v1/legal-entities", "/v1/legal-entities/" + child.ID} {
				a := s.Send(t, apitest.Request{Method: "GET", Path: path, Key: x.key})
				if a.Status != 200 || strings.Contains(string(a.Body), `"parent_legal_entity_id":"`+n.LegalEntity.ID) != x.sees ||
					strings.Contains(string(a.Body), `"ownership_percent":"80"`) != x.sees {
					t.Errorf("%s, %s: %d %s", name, path, a.Status, a.Body)
				}
			}
		}
	})
}
