package assets_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// beforeAllPeriods is the accounting date of opening balances.
var beforeAllPeriods = time.Date(1900, 1, 1, 12, 0, 0, 0, time.UTC)

// openingEntry is the entry of an asset.
func openingEntry(t *testing.T, n *apitest.Tenant, a client.Asset) client.JournalEntry {
	t.Helper()
	if a.JournalEntryID == nil {
		t.Fatalf("%s has no entry", a.ID)
	}
	e, err := n.Client.JournalEntry(t.Context(), *a.JournalEntryID)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// linesOf writes an entry's lines as text, by the codes or names of the accounts.
func linesOf(t *testing.T, n *apitest.Tenant, e client.JournalEntry) string {
	t.Helper()
	var out []string
	for _, l := range e.Lines {
		a, err := n.Client.LedgerAccount(t.Context(), l.LedgerAccountID)
		if err != nil {
			t.Fatal(err)
		}
		name := a.Name
		if a.Code != nil {
			name = *a.Code
		}
		out = append(out, map[string]string{"DEBIT": "Dr ", "CREDIT": "Cr "}[l.CreditOrDebit]+name+" "+l.Amount)
	}
	return strings.Join(out, "; ")
}

// equityCode is the code of the contra account of opening balances.
func equityCode(t *testing.T, n *apitest.Tenant) string {
	t.Helper()
	for a, err := range n.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Role != nil && *a.Role == "opening_balance_equity" {
			return *a.Code
		}
	}
	t.Fatal("no account for opening balances")
	return ""
}

func TestAnOpeningAssetIsALotAndABalanceFromBeforeTheFirstPeriod(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Name: "Vault", Chain: "ethereum"})
		n.OpenLedger(t).Post(t, "2026-02-05", "Dr 1010 1; Cr 4010 1")
		made := n.NewAsset(t, client.CreateAsset{SourceID: *wallet.AccountID, DateReceived: "2024-03-01"})
		if made.Quantity != "2.5" || made.RemainingQuantity != "2.5" || made.CostBasis != "6000.00" ||
			made.RemainingCostBasis != "6000.00" || made.Currency != "USD" || *made.SourceID != *wallet.AccountID ||
			made.LegalEntityID != n.LegalEntity.ID || made.LedgerAccountID != wallet.LedgerAccountID || !made.IsManual ||
			*made.Chain != "ethereum" || made.TransactionID != nil ||
			made.ParentAssetID != nil || made.TokenID != nil || made.BasisPending || made.Provisional || made.UpdatedAt != nil ||
			!strings.HasPrefix(made.ID, "ast_") {
			t.Errorf("%+v", made)
		}
		if want := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC); !made.DateReceived.Equal(want) {
			t.Errorf("received %s", made.DateReceived)
		}
		e := openingEntry(t, n, made)
		if e.Status != "posted" || e.OriginatedBy != "opening" || !e.AccountingDate.Equal(beforeAllPeriods) || e.AccountingPeriodID != nil ||
			e.LegalEntityID != made.LegalEntityID {
			t.Errorf("%+v", e)
		}
		if got, want := linesOf(t, n, e), "Dr Vault 6000.00; Cr "+equityCode(t, n)+" 6000.00"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got, err := n.Client.Asset(t.Context(), made.ID); err != nil || apitest.JSON(t, got) != apitest.JSON(t, made) {
			t.Errorf("%+v %v", got, err)
		}
		// An asset without a date was acquired when the books began.
		second := n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID})
		began := time.Date(2026, 1, 31, 23, 59, 59, 999_000_000, time.UTC)
		if other := openingEntry(t, n, second); !other.AccountingDate.Equal(e.AccountingDate) || !second.DateReceived.Equal(began) {
			t.Errorf("the second is dated %s, received %s", other.AccountingDate, second.DateReceived)
		}
	})
}

func TestTheBooksBeginBeforeTheFirstTransactionThatIsNotBookedYet(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
		first := n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID}).DateReceived
		if now := time.Now().UTC(); first.After(now) || first.Before(now.AddDate(0, -1, -2)) {
			t.Errorf("books without anything begin on %s", first)
		}
		n.NewCrypto(t, wallet.ID, "credit", "ETH", "1", time.Date(2025, 4, 15, 0, 0, 0, 0, time.UTC))
		second := n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID})
		if want := time.Date(2025, 3, 31, 23, 59, 59, 999_000_000, time.UTC); !second.DateReceived.Equal(want) {
			t.Errorf("%s", second.DateReceived)
		}
		if e := openingEntry(t, n, second); !e.AccountingDate.Equal(beforeAllPeriods) {
			t.Errorf("%s", e.AccountingDate)
		}
	})
}

func TestWhatCostNothingIsALotWithoutAnEntryWhoseBasisIsPending(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made := n.NewAsset(t, client.CreateAsset{CostBasis: "0"})
		if made.JournalEntryID != nil || made.CostBasis != "0.00" || made.RemainingQuantity != "2.5" || !made.BasisPending {
			t.Errorf("%+v", made)
		}
		unready := func() []string {
			r, err := n.Client.AccountingPeriodReadiness(t.Context(), n.Periods(t)[0].ID, "")
			i := slices.IndexFunc(r.Checks, func(c client.ReadinessCheck) bool { return c.Code == "basis_pending" })
			if err != nil || i < 0 {
				t.Fatalf("%+v %v", r, err)
			}
			return r.Checks[i].SampleIDs
		}
		if got := unready(); !slices.Equal(got, []string{made.ID}) {
			t.Errorf("the pending assets are %v", got)
		}
		priced, err := n.Client.UpdateAsset(t.Context(), made.ID, client.UpdateAsset{CostBasis: new("10.00")})
		if err != nil || priced.CostBasis != "10.00" || openingEntry(t, n, priced).Lines[0].Amount != "10.00" || priced.BasisPending {
			t.Errorf("%+v %v", priced, err)
		}
		if got := unready(); len(got) > 0 {
			t.Errorf("the pending assets are %v", got)
		}
		entry := *priced.JournalEntryID
		free, err := n.Client.UpdateAsset(t.Context(), made.ID, client.UpdateAsset{CostBasis: new("0")})
		if err != nil || free.JournalEntryID != nil || free.RemainingCostBasis != "0.00" {
			t.Errorf("%+v %v", free, err)
		}
		if e, err := n.Client.JournalEntry(t.Context(), entry); err != nil || e.ReversalChain.NextEntryID == nil {
			t.Errorf("the entry is not reversed: %+v %v", e, err)
		}
		if err := n.Client.DeleteAsset(t.Context(), made.ID); err != nil {
			t.Error(err)
		}
	})
}

func TestEveryFaultOfAnOpeningAssetIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		usual := n.CompleteAsset(t, client.CreateAsset{})
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other", BaseCurrency: "EUR"})
		foreign := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", LegalEntityID: other.ID})
		account := func(a client.CreateLedgerAccount) string {
			made, err := n.Client.CreateLedgerAccount(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			return made.ID
		}
		bitcoin := account(client.CreateLedgerAccount{Name: "Only BTC", Type: "Asset", AssetType: "BTC"})
		archived := account(client.CreateLedgerAccount{Name: "Old", Type: "Asset"})
		if _, err := n.Client.ArchiveLedgerAccount(t.Context(), archived); err != nil {
			t.Fatal(err)
		}
		before := n.AuditCount(t)
		for what, c := range map[string]struct {
			change func(a *client.CreateAsset)
			status int
			fields []string
			says   string
		}{
			"amounts": {func(a *client.CreateAsset) {
				a.Quantity, a.CostBasis, a.DateReceived, a.AssetType, a.Chain = "0", "-1", "2999-01-01", "USD", "a b"
			}, 400, []string{"quantity", "cost_basis", "date_received", "asset_type", "chain"}, "money"},
			"negative":         {func(a *client.CreateAsset) { a.Quantity = "-2" }, 400, []string{"quantity"}, "positive"},
			"parts of cents":   {func(a *client.CreateAsset) { a.CostBasis = "1.001" }, 400, []string{"cost_basis"}, "at most 2 digits"},
			"a symbol in two":  {func(a *client.CreateAsset) { a.AssetType = "E TH" }, 400, []string{"asset_type"}, "no spaces"},
			"long ago":         {func(a *client.CreateAsset) { a.DateReceived = "1969-12-31" }, 400, []string{"date_received"}, "1970"},
			"another currency": {func(a *client.CreateAsset) { a.Currency = "EUR" }, 400, []string{"currency"}, "must be USD"},
			"of another entity": {func(a *client.CreateAsset) {
				a.SourceID = foreign.ID
			}, 400, []string{"legal_entity_id", "ledger_account_id"}, "belongs to another legal entity"},
			"of another source": {func(a *client.CreateAsset) {
				a.LedgerAccountID = foreign.LedgerAccountID
			}, 400, []string{"ledger_account_id"}, "that of another source"},
			"of another asset": {func(a *client.CreateAsset) { a.LedgerAccountID = bitcoin }, 400, []string{"ledger_account_id"}, "for BTC"},
			"no asset": {func(a *client.CreateAsset) {
				a.LedgerAccountID = n.AccountByCode(t, "4010").ID
			}, 400, []string{"ledger_account_id"}, "of type Asset"},
			"not postable": {func(a *client.CreateAsset) {
				a.LedgerAccountID = n.AccountByCode(t, "1200").ID
			}, 400, []string{"ledger_account_id"}, "not postable"},
			"archived": {func(a *client.CreateAsset) { a.LedgerAccountID = archived }, 409, []string{"ledger_account_id"}, "archived"},
			"what is not there": {func(a *client.CreateAsset) {
				a.LegalEntityID, a.LedgerAccountID, a.SourceID = apitest.UnknownID("le_"), apitest.UnknownID("lac_"), apitest.UnknownID("src_")
			}, 404, []string{"legal_entity_id", "ledger_account_id", "source_id"}, "source not found"},
			"on a clearing account": {func(a *client.CreateAsset) {
				a.LedgerAccountID = clearing(t, n)
			}, 400, []string{"ledger_account_id"}, "clearing"},
		} {
			a := usual
			c.change(&a)
			_, err := n.Client.CreateAsset(t.Context(), a)
			apitest.WantError(t, what, err, c.status, c.fields, c.says)
		}
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes were made by refused requests", after-before)
		}
		if got := assetIDs(t, n, nil); len(got) != 0 {
			t.Errorf("there are %v", got)
		}
		usual.LedgerAccountID = account(client.CreateLedgerAccount{Name: "Of no source", Type: "Asset", AssetType: "ETH"})
		if _, err := n.Client.CreateAsset(t.Context(), usual); err != nil {
			t.Errorf("an account of no source: %v", err)
		}
	})
}

// clearing is an account of type Asset on which nothing is held.
func clearing(t *testing.T, n *apitest.Tenant) string {
	t.Helper()
	for a, err := range n.Client.LedgerAccounts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if a.IsClearingAccount && a.Type == "Asset" && a.IsPostable {
			return a.ID
		}
	}
	t.Fatal("no clearing account")
	return ""
}

func assetIDs(t *testing.T, n *apitest.Tenant, query url.Values) []string {
	t.Helper()
	out := []string{}
	for a, err := range n.Client.Assets(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a.ID)
	}
	return out
}

func TestAClosedFirstPeriodKeepsItsOpeningBalance(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		usual := n.CompleteAsset(t, client.CreateAsset{})
		l := n.OpenLedger(t)
		l.Post(t, "2026-01-05", "Dr 1010 1; Cr 4010 1")
		l.Close(t, "US", "2026-01")
		_, err := n.Client.CreateAsset(t.Context(), usual)
		apitest.WantConflict(t, err, "the first period of ", "2026-01, is closed", "reopen")
		if got := assetIDs(t, n, nil); len(got) != 0 {
			t.Errorf("there are %v", got)
		}
	})
}

func TestAnOpeningAssetIsChangedAndItsEntryCorrected(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made := n.NewAsset(t, client.CreateAsset{})
		was := openingEntry(t, n, made)
		changed, err := n.Client.UpdateAsset(t.Context(), made.ID, client.UpdateAsset{Quantity: new("3"), CostBasis: new("7000"),
			LedgerAccountID: new(n.AccountByCode(t, "1210").ID)})
		if err != nil || changed.ID != made.ID || changed.Quantity != "3" || changed.RemainingQuantity != "3" ||
			changed.CostBasis != "7000.00" || changed.RemainingCostBasis != "7000.00" ||
			changed.LedgerAccountID != n.AccountByCode(t, "1210").ID || changed.UpdatedAt == nil || !changed.DateReceived.Equal(*made.DateReceived) {
			t.Fatalf("%+v %v", changed, err)
		}
		e := openingEntry(t, n, changed)
		if got, want := linesOf(t, n, e), "Dr 1210 7000.00; Cr "+equityCode(t, n)+" 7000.00"; got != want ||
			!e.AccountingDate.Equal(was.AccountingDate) || e.OriginatedBy != "correction" {
			t.Errorf("%s of %s by %s, want %s", got, e.AccountingDate, e.OriginatedBy, want)
		}
		if was = openingEntry(t, n, made); was.ReversalChain.NextEntryID == nil {
			t.Error("the first entry is not reversed")
		}
		before := n.AuditCount(t)
		if again, err := n.Client.UpdateAsset(t.Context(), made.ID, client.UpdateAsset{Quantity: new("3.0"),
			LegalEntityID: new(n.LegalEntity.ID)}); err != nil || apitest.JSON(t, again) != apitest.JSON(t, changed) || n.AuditCount(t) != before {
			t.Errorf("%+v %v, %d changes", again, err, n.AuditCount(t)-before)
		}
		update := func(u client.UpdateAsset) error {
			_, err := n.Client.UpdateAsset(t.Context(), made.ID, u)
			return err
		}
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		euro := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Euro", BaseCurrency: "EUR"})
		apitest.WantError(t, "amounts", update(client.UpdateAsset{Quantity: new("0"), CostBasis: new("-1")}), 400,
			[]string{"quantity", "cost_basis"}, "")
		apitest.WantError(t, "another entity", update(client.UpdateAsset{LegalEntityID: &other.ID}), 400, []string{"legal_entity_id"},
			"belongs to another legal entity")
		apitest.WantError(t, "another currency", update(client.UpdateAsset{LegalEntityID: &euro.ID}), 400, []string{"legal_entity_id"}, "EUR")
		apitest.WantError(t, "no asset", update(client.UpdateAsset{LedgerAccountID: new(n.AccountByCode(t, "4010").ID)}), 400,
			[]string{"ledger_account_id"}, "of type Asset")
		if got, _ := n.Client.Asset(t.Context(), made.ID); apitest.JSON(t, got) != apitest.JSON(t, changed) {
			t.Errorf("a refusal changed it: %+v", got)
		}
		if err := n.Client.DeleteAsset(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.Asset(t.Context(), made.ID); !client.IsNotFound(err) {
			t.Errorf("%v", err)
		}
		if e = openingEntry(t, n, changed); e.ReversalChain.NextEntryID == nil {
			t.Error("the last entry is not reversed")
		}
	})
}

func TestAssetsAreFiltered(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		first := n.NewAsset(t, client.CreateAsset{})
		second := n.NewAsset(t, client.CreateAsset{AssetType: "BTC", Chain: "Bitcoin"})
		third := n.NewAsset(t, client.CreateAsset{LegalEntityID: other.ID})
		source, err := n.Client.Source(t.Context(), *first.SourceID)
		if err != nil {
			t.Fatal(err)
		}
		all := []string{third.ID, second.ID, first.ID}
		for _, c := range []struct {
			query string
			want  []string
		}{
			{"", all},
			{"asset_types=ETH", []string{third.ID, first.ID}},
			{"asset_types=BTC,ETH", all},
			{"asset_types=eth", []string{}},
			{"chain=BITCOIN", []string{second.ID}},
			{"source_ids=" + source.ID, []string{first.ID}},
			{"source_ids=" + *first.SourceID + "," + *third.SourceID, []string{third.ID, first.ID}},
			{"ledger_account_id=" + second.LedgerAccountID, []string{second.ID}},
			{"legal_entity_ids=" + other.ID, []string{third.ID}},
			{"is_manual=true", all},
			{"is_manual=false", []string{}},
			{"has_remaining=true", all},
			{"has_remaining=false", []string{}},
			{"transaction_id=" + n.NewTransaction(t).ID, []string{}},
		} {
			query, _ := url.ParseQuery(c.query)
			query.Set("limit", "1")
			if got := assetIDs(t, n, query); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.query, got, c.want)
			}
		}
		limited := &apitest.Tenant{Client: client.New(s.URL, n.Limited(t, other.ID))}
		if got := assetIDs(t, limited, nil); !slices.Equal(got, []string{third.ID}) {
			t.Errorf("a limited key sees %v", got)
		}
		if _, err := limited.Client.Asset(t.Context(), first.ID); !client.IsNotFound(err) {
			t.Errorf("%v", err)
		}
	})
}

func TestAnAssetOfAClosedPeriodIsCorrectedInTheNextOpenOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		l := n.OpenLedger(t)
		l.Post(t, "2026-01-05", "Dr 1010 1; Cr 4010 1")
		made := n.NewAsset(t, client.CreateAsset{})
		l.Close(t, "US", "2026-01")
		_, err := n.Client.CreateAsset(t.Context(), n.CompleteAsset(t, client.CreateAsset{}))
		apitest.WantConflict(t, err, "2026-01, is closed, so that no opening balance can be added", "PATCH /v1/assets/{asset_id}")
		changed, err := n.Client.UpdateAsset(t.Context(), made.ID, client.UpdateAsset{CostBasis: new("5000.00")})
		if err != nil || changed.CostBasis != "5000.00" {
			t.Fatalf("%+v %v", changed, err)
		}
		if e := openingEntry(t, n, changed); !e.AccountingDate.Equal(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)) || !e.PeriodAutoReassigned {
			t.Errorf("%+v", e)
		}
		if err := n.Client.DeleteAsset(t.Context(), made.ID); err != nil {
			t.Error(err)
		}
	})
}
