package treasury_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// tell adds a transaction to a source.
func tell(t *testing.T, n *apitest.Tenant, sourceID string) {
	t.Helper()
	err := n.Service().App.DB.Write(t.Context(), n.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
		s, err := source.Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		_, err = transaction.Add(ctx, tx,
			[]transaction.New{{Source: s, Params: transaction.Params{ExternalID: "a", At: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
				Direction: transaction.Credit, Currency: "USD"}}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestASourceIsCreatedFoundChangedAndDeleted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made := n.NewSource(t, client.CreateSource{SourceType: "wallet", Name: " Treasury ", Chain: "Ethereum", Address: "0xAb"})
		if made.Name != "Treasury" || *made.Chain != "ethereum" || *made.Address != "0xAb" || made.Currency != nil ||
			made.Provider != "ethereum" || !made.IsManual ||
			made.UpdatedAt != nil || !strings.HasPrefix(made.ID, "src_") || !strings.HasPrefix(*made.AccountID, "wal_") ||
			!slices.Equal(made.Guidance.AllowedActions, []string{"edit", "delete"}) {
			t.Errorf("%+v", made)
		}
		if a, err := n.Client.LedgerAccount(t.Context(), made.LedgerAccountID); err != nil || a.Name != "Treasury" ||
			*a.ParentAccountID != n.AccountByCode(t, "1200").ID || !a.IsPostable {
			t.Errorf("%+v %v", a, err)
		}
		for _, id := range []string{made.ID, *made.AccountID} {
			if got, err := n.Client.Source(t.Context(), id); err != nil || apitest.JSON(t, got) != apitest.JSON(t, made) {
				t.Errorf("%+v %v", got, err)
			}
		}
		changed, err := n.Client.UpdateSource(t.Context(), *made.AccountID, client.UpdateSource{Name: new("Vault"),
			Address: client.Null[string](), LedgerAccountID: new(n.AccountByCode(t, "1210").ID)})
		if err != nil || changed.Name != "Vault" || changed.Address != nil || *changed.Chain != "ethereum" ||
			changed.Guidance.Version == made.Guidance.Version && changed.UpdatedAt.Equal(made.CreatedAt) {
			t.Errorf("%+v %v", changed, err)
		}
		if a, data := s.SendJSON(t, n.Key, "DELETE", "/v1/sources/"+*made.AccountID, ""); a.Status != 200 ||
			string(data["id"]) != `"`+made.ID+`"` || string(data["deleted"]) != "true" || len(data) != 2 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if _, err := n.Client.Source(t.Context(), made.ID); !client.IsNotFound(err) {
			t.Errorf("%v", err)
		}
	})
}

func TestEveryFaultOfASourceIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		before := n.AuditCount(t)
		create := func(c client.CreateSource) error {
			if c.LegalEntityID == "" {
				c.LegalEntityID = n.LegalEntity.ID
			}
			_, err := n.Client.CreateSource(t.Context(), c)
			return err
		}
		apitest.WantError(t, "a wallet", create(client.CreateSource{SourceType: "wallet", Name: " ", Address: "0x 1",
			LedgerAccountID: n.AccountByCode(t, "4010").ID, Provider: "a b", Currency: "a b"}),
			400, []string{"name", "chain", "address", "ledger_account_id", "provider", "currency"}, "")
		apitest.WantError(t, "a bank", create(client.CreateSource{SourceType: "bank", Name: "B", Chain: "base", Address: "0x1", Currency: "ETH",
			LedgerAccountID: n.AccountByCode(t, "1000").ID}),
			400, []string{"chain", "address", "currency", "ledger_account_id"}, "not postable")
		apitest.WantError(t, "odd chain", create(client.CreateSource{SourceType: "wallet", Name: "W", Chain: "☃"}), 400,
			[]string{"chain"}, "letters, digits")
		apitest.WantError(t, "what is not there", create(client.CreateSource{SourceType: "bank", Name: "B",
			LegalEntityID: apitest.UnknownID("le_"), LedgerAccountID: apitest.UnknownID("lac_")}),
			404, []string{"legal_entity_id", "ledger_account_id"}, "legal entity not found")
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes were made by refused requests", after-before)
		}
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "base", Address: "0xAB"})
		apitest.WantError(t, "the address again", create(client.CreateSource{SourceType: "wallet", Name: "W", Chain: "BASE", Address: "0xab"}),
			409, []string{"address"}, wallet.ID)
		_, err := n.Client.UpdateSource(t.Context(), wallet.ID, client.UpdateSource{Chain: client.Null[string]()})
		apitest.WantError(t, "a wallet on no chain", err, 400, []string{"chain"}, "is required for a wallet")
	})
}

func TestASourceInUseStaysAndSaysWhy(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made := n.NewSource(t, client.CreateSource{Name: "Savings"})
		tell(t, n, made.ID)
		apitest.WantConflict(t, n.Client.DeleteSource(t.Context(), made.ID), "Savings is in use", "1 transaction, for example OT-1",
			"keep the source")
		_, err := n.Client.UpdateSource(t.Context(), made.ID, client.UpdateSource{Currency: client.Set("CHF"), Name: new("x")})
		apitest.WantError(t, "its currency", err, 409, []string{"currency"}, "OT-1")
		now, err := n.Client.Source(t.Context(), made.ID)
		if err != nil || !slices.Equal(now.Guidance.AllowedActions, []string{"edit"}) || len(now.Guidance.Warnings) != 2 ||
			now.Name != "Savings" {
			t.Errorf("%+v %v", now, err)
		}
		apitest.WantConflict(t, n.Client.DeleteLedgerAccount(t.Context(), made.LedgerAccountID), "is used by 1 source, for example "+made.ID)
		_, err = n.Client.ArchiveLedgerAccount(t.Context(), made.LedgerAccountID)
		apitest.WantConflict(t, err, "it is used by 1 source", "choose another ledger account there first")
	})
}

func TestAKeyForSomeLegalEntitiesSeesTheirSourcesOnly(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"}).ID
		hidden := n.NewSource(t, client.CreateSource{Name: "Hidden"})
		shown := n.NewSource(t, client.CreateSource{Name: "Shown", LegalEntityID: other})
		limited := client.New(s.URL, n.Limited(t, other))
		var names []string
		for one, err := range limited.Sources(t.Context(), url.Values{"limit": {"1"}}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, one.Name)
		}
		if !slices.Equal(names, []string{"Shown"}) {
			t.Errorf("%q", names)
		}
		for _, id := range []string{hidden.ID, *hidden.AccountID} {
			if _, err := limited.Source(t.Context(), id); !client.IsNotFound(err) {
				t.Errorf("get: %v", err)
			}
			if _, err := limited.UpdateSource(t.Context(), id, client.UpdateSource{Name: new("x")}); !client.IsNotFound(err) {
				t.Errorf("update: %v", err)
			}
			if err := limited.DeleteSource(t.Context(), id); !client.IsNotFound(err) {
				t.Errorf("delete: %v", err)
			}
		}
		if _, err := limited.UpdateSource(t.Context(), shown.ID, client.UpdateSource{LegalEntityID: &n.LegalEntity.ID}); !client.IsNotFound(err) {
			t.Errorf("moved out of sight: %v", err)
		}
		if err := limited.DeleteSource(t.Context(), shown.ID); err != nil {
			t.Error(err)
		}
	})
}

func TestTheAccountOfASourceIsNamedForThoseWhoSeeItsLegalEntity(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		first, second := n.LegalEntity.ID, n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Second"}).ID
		vault := n.NewSource(t, client.CreateSource{Name: "Vault"})
		expect := func(names map[string]string) {
			t.Helper()
			for key, want := range names {
				a, err := client.New(s.URL, key).LedgerAccount(t.Context(), vault.LedgerAccountID)
				if err != nil || a.Name != want {
					t.Errorf("%q, %v, want %q", a.Name, err, want)
				}
			}
		}
		const hidden = "Account of another legal entity"
		ofFirst, ofSecond := n.Limited(t, first), n.Limited(t, second)
		expect(map[string]string{n.Key: "Vault", ofFirst: "Vault", ofSecond: hidden})
		if _, err := n.Client.UpdateSource(t.Context(), vault.ID, client.UpdateSource{LegalEntityID: &second}); err != nil {
			t.Fatal(err)
		}
		expect(map[string]string{n.Key: "Vault", ofFirst: hidden, ofSecond: "Vault"})
	})
}

func TestASourceThatHoldsAssetsKeepsItsLegalEntityAndCannotBeDeleted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
		asset := n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID})
		before := n.AuditCount(t)
		_, err := n.Client.UpdateSource(t.Context(), wallet.ID, client.UpdateSource{LegalEntityID: &other.ID})
		apitest.WantConflict(t, err, "1 asset, for example "+asset.ID, "INTERCOMPANY TRANSFER")
		apitest.WantConflict(t, n.Client.DeleteSource(t.Context(), wallet.ID), "1 asset, for example "+asset.ID, "INTERCOMPANY TRANSFER")
		if n.AuditCount(t) != before {
			t.Error("something was written")
		}
		if err := n.Client.DeleteAsset(t.Context(), asset.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.UpdateSource(t.Context(), wallet.ID, client.UpdateSource{LegalEntityID: &other.ID}); err != nil {
			t.Errorf("a source that holds nothing any more: %v", err)
		}
	})
}

func TestTheBalancesOfASourceAreThoseOfTheBooksByAsset(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
		bank := n.NewSource(t, client.CreateSource{SourceType: "bank", LedgerAccountID: n.AccountByCode(t, "1010").ID})
		n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID, Quantity: "2.5", CostBasis: "6000.00"})
		n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID, Quantity: "0.75", CostBasis: "100.00"})
		n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID, AssetType: "UNI", Quantity: "300", CostBasis: "1830.00"})
		n.NewAsset(t, client.CreateAsset{AssetType: "BTC", Quantity: "1", CostBasis: "30000.00"}) // at another source
		l := n.OpenLedger(t)
		l.Post(t, "2026-01-05", "Dr 1010 100.50; Cr 4010 100.50")
		l.Post(t, "2026-01-06", "Dr 6020 20.25; Cr 1010 20.25")
		for id, want := range map[string]string{wallet.ID: "ETH 3.25; UNI 300", *wallet.AccountID: "ETH 3.25; UNI 300", bank.ID: "USD 80.25"} {
			var got []string
			for b, err := range n.Client.SourceBalances(t.Context(), id) {
				if err != nil {
					t.Fatal(err)
				}
				if b.Observed != nil || b.Difference != nil {
					t.Errorf("%+v: nobody observed it", b)
				}
				got = append(got, b.AssetType+" "+b.Book)
			}
			if strings.Join(got, "; ") != want {
				t.Errorf("%s holds %s, want %s", id, strings.Join(got, "; "), want)
			}
		}
		for _, err := range n.Client.SourceBalances(t.Context(), "src_none") {
			if !client.IsNotFound(err) {
				t.Errorf("a source that does not exist: %v", err)
			}
		}
	})
}
