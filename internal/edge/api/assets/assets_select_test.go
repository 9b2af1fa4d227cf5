package assets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestLotsAreSelectedReplacedAndReleased(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.IdentifyLots(t)
		first := n.NewAsset(t, client.CreateAsset{})
		second := n.NewAsset(t, client.CreateAsset{SourceID: *first.SourceID})
		out := n.NewOutflow(t, *first.SourceID, "3")
		none, err := n.Client.LotSelection(t.Context(), out.ID)
		if err != nil || none.TransactionID != out.ID || len(none.Selections) != 0 || none.CreatedBy != nil || none.CreatedAt != nil {
			t.Errorf("%+v %v", none, err)
		}
		picks := []client.LotPicked{{AssetID: second.ID, Quantity: "2.5"}, {AssetID: first.ID, Quantity: "0.50"}}
		made, err := n.Client.SelectLots(t.Context(), out.ID, picks...)
		if err != nil || len(made.Selections) != 2 || made.Selections[0] != picks[0] || made.Selections[1].Quantity != "0.5" ||
			*made.CreatedBy != n.Owner.UserID || made.CreatedAt == nil {
			t.Errorf("%+v %v", made, err)
		}
		if got, err := n.Client.LotSelection(t.Context(), out.ID); err != nil || apitest.JSON(t, got) != apitest.JSON(t, made) {
			t.Errorf("%+v %v", got, err)
		}
		before := n.AuditCount(t)
		if again, err := n.Client.SelectLots(t.Context(), out.ID, picks...); err != nil || apitest.JSON(t, again) != apitest.JSON(t, made) ||
			n.AuditCount(t) != before {
			t.Errorf("%+v %v, %d changes", again, err, n.AuditCount(t)-before)
		}
		apitest.WantConflict(t, n.Client.DeleteAsset(t.Context(), first.ID), "selected for "+out.SequenceNumber)
		other, err := n.Client.SelectLots(t.Context(), out.ID, client.LotPicked{AssetID: first.ID, Quantity: "1.5"},
			client.LotPicked{AssetID: second.ID, Quantity: "1.5"})
		if err != nil || len(other.Selections) != 2 || other.Selections[0].AssetID != first.ID || n.AuditCount(t) != before+1 {
			t.Errorf("%+v %v", other, err)
		}
		if gone, err := n.Client.SelectLots(t.Context(), out.ID); err != nil || len(gone.Selections) != 0 || gone.CreatedBy != nil ||
			n.AuditCount(t) != before+2 {
			t.Errorf("%+v %v", gone, err)
		}
		if err := n.Client.DeleteAsset(t.Context(), first.ID); err != nil {
			t.Error(err)
		}
	})
}

// receiveETH books an inflow of 1 ETH and returns its lot.
func receiveETH(t *testing.T, n *apitest.Tenant, sourceID string, at time.Time) client.Asset {
	t.Helper()
	quantity := "1"
	made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: sourceID, ExternalID: client.NewIdempotencyKey(),
		External: client.CreateTransactionExternal{Timestamp: at, Description: "Reward", Direction: "credit", Quantity: &quantity,
			Currency: "ETH", ValueFiat: &client.ValuedFiat{Gross: "100.00", Fee: "0.00", Net: "100.00", Currency: "USD"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: made.Data[0].ID,
		TransactionType: "STAKING_REWARD", LedgerAccountID: n.AccountByCode(t, "4020").ID, AutoPost: true}); err != nil {
		t.Fatal(err)
	}
	for a, err := range n.Client.Assets(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if !a.IsManual {
			return a
		}
	}
	t.Fatal("no lot was created")
	return client.Asset{}
}

func TestEverySelectionThatDoesNotFitIsNamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.IdentifyLots(t)
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other"})
		fits := n.NewAsset(t, client.CreateAsset{DateReceived: "2024-01-01"})
		elsewhere := n.NewAsset(t, client.CreateAsset{})
		bitcoin := n.NewAsset(t, client.CreateAsset{AssetType: "BTC", SourceID: *fits.SourceID})
		others := n.NewAsset(t, client.CreateAsset{LegalEntityID: other.ID})
		base := n.NewAsset(t, client.CreateAsset{SourceID: *fits.SourceID, Chain: "base"})
		late := receiveETH(t, n, *fits.SourceID, time.Date(2025, 6, 2, 0, 0, 0, 0, time.UTC))
		out := n.NewCrypto(t, *fits.SourceID, "debit", "ETH", "2", time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC))
		limited := client.New(s.URL, n.Limited(t, n.LegalEntity.ID))
		before := n.AuditCount(t)
		choose := func(picks ...client.LotPicked) error {
			_, err := n.Client.SelectLots(t.Context(), out.ID, picks...)
			return err
		}
		pick := func(a client.Asset, quantity string) client.LotPicked {
			return client.LotPicked{AssetID: a.ID, Quantity: quantity}
		}
		apitest.WantError(t, "all of them", choose(pick(elsewhere, "1"), pick(bitcoin, "1"), pick(others, "1"), pick(late, "1"), pick(fits, "3"),
			pick(base, "1")), 400,
			[]string{"selections", "selections[0].asset_id", "selections[1].asset_id", "selections[2].asset_id", "selections[3].asset_id",
				"selections[4].quantity", "selections[5].asset_id"}, "")
		apitest.WantError(t, "a sum", choose(pick(fits, "1.5")), 400, []string{"selections"},
			"add up to 1.5, but the quantity of "+out.SequenceNumber+" is 2")
		apitest.WantError(t, "twice", choose(pick(fits, "1"), pick(fits, "1")), 400, []string{"selections[1].asset_id"}, "selections[0]")
		apitest.WantError(t, "nothing of it", choose(pick(fits, "0"), pick(late, "-1")), 400, []string{"selections[0].quantity",
			"selections[1].quantity"}, "positive")
		apitest.WantError(t, "not there", choose(client.LotPicked{AssetID: apitest.UnknownID("ast_"), Quantity: "1"}, pick(fits, "1")), 404,
			[]string{"selections[0].asset_id"}, "asset not found")
		_, err := limited.SelectLots(t.Context(), out.ID, pick(others, "1"), pick(fits, "1"))
		apitest.WantError(t, "not seen", err, 404, []string{"selections[0].asset_id"}, "asset not found")
		if after := n.AuditCount(t); after != before {
			t.Errorf("%d changes were made by refused requests", after-before)
		}
		if err := choose(pick(fits, "2")); err != nil {
			t.Error(err)
		}
	})
}

func TestLotsOfTheWholeEntityCanBeChosenWhereItsPoolIsThat(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID,
			client.UpdateLegalEntity{CostBasisMethod: new("specific_id"), CostBasisScope: new("legal_entity")}); err != nil {
			t.Fatal(err)
		}
		elsewhere := n.NewAsset(t, client.CreateAsset{})
		out := n.NewOutflow(t, n.NewSource(t, client.CreateSource{SourceType: "exchange"}).ID, "1")
		if _, err := n.Client.SelectLots(t.Context(), out.ID, client.LotPicked{AssetID: elsewhere.ID, Quantity: "1"}); err != nil {
			t.Error(err)
		}
	})
}

func TestLotsAreSelectedOnlyForDisposalsThatAllowIt(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		a := n.NewAsset(t, client.CreateAsset{DateReceived: "2024-01-01"})
		choose := func(x client.Transaction) error {
			_, err := n.Client.SelectLots(t.Context(), x.ID, client.LotPicked{AssetID: a.ID, Quantity: "1"})
			return err
		}
		at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
		out := n.NewCrypto(t, *a.SourceID, "debit", "ETH", "1", at)
		apitest.WantError(t, "by another method", choose(out), 409, []string{"transaction_id"}, "is fifo")
		if _, err := n.Client.SelectLots(t.Context(), out.ID); err != nil {
			t.Errorf("what is not there can be taken back: %v", err)
		}
		if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID,
			client.UpdateLegalEntity{CostBasisMethod: new("specific_id"), CostBasisFrom: client.Set("2026-01-16")}); err != nil {
			t.Fatal(err)
		}
		apitest.WantError(t, "the day before", choose(out), 409, []string{"transaction_id"}, "on 2026-01-15")
		if err := choose(n.NewCrypto(t, *a.SourceID, "debit", "ETH", "1", at.AddDate(0, 0, 1))); err != nil {
			t.Errorf("the day itself: %v", err)
		}
		later := at.AddDate(0, 0, 2)
		apitest.WantError(t, "an inflow", choose(n.NewCrypto(t, *a.SourceID, "credit", "ETH", "1", later)), 400,
			[]string{"transaction_id"}, "is an inflow")
		apitest.WantError(t, "money", choose(n.NewCrypto(t, n.NewSource(t, client.CreateSource{SourceType: "exchange"}).ID, "debit", "USD",
			"1", later)), 400, []string{"transaction_id"}, "no lots")
		spam := n.NewCrypto(t, *a.SourceID, "debit", "ETH", "1", later)
		if _, err := n.Client.UpdateTransaction(t.Context(), spam.ID, client.UpdateTransaction{Status: new("spam")}); err != nil {
			t.Fatal(err)
		}
		apitest.WantError(t, "spam", choose(spam), 409, []string{"transaction_id"}, "spam")
		made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{
			SourceID: *a.SourceID, ExternalID: "nft", External: client.CreateTransactionExternal{Timestamp: later, Description: "Ape",
				Direction: "debit", Quantity: new("1"), Currency: "APE"},
			Crypto: &client.TransactionCrypto{TokenID: new("7"), ContractAddress: new("0x1")},
		}, client.CreateTransaction{
			SourceID: *a.SourceID, ExternalID: "unknown", External: client.CreateTransactionExternal{Timestamp: later, Description: "?",
				Direction: "debit", Currency: "ETH"},
		})
		if err != nil {
			t.Fatal(err)
		}
		apitest.WantError(t, "an NFT", choose(made.Data[0]), 409, []string{"transaction_id"}, "need not be selected")
		apitest.WantError(t, "no quantity", choose(made.Data[1]), 409, []string{"transaction_id"}, "no quantity")
	})
}

func TestTheSelectedLotsAreConsumedAtTheirCost(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		n.IdentifyLots(t)
		first := n.NewAsset(t, client.CreateAsset{DateReceived: "2024-01-01", CostBasis: "1000.00"})
		second := n.NewAsset(t, client.CreateAsset{SourceID: *first.SourceID, DateReceived: "2024-06-01", CostBasis: "5000.00"})
		made, err := n.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: *first.SourceID, ExternalID: "out",
			External: client.CreateTransactionExternal{
				Timestamp: time.Now().Add(-time.Hour), Description: "Rent", Direction: "debit", Quantity: new("1"), Currency: "ETH",
				ValueFiat: &client.ValuedFiat{Gross: "3000.00", Fee: "0", Net: "3000.00", Currency: "USD"},
			}})
		if err != nil {
			t.Fatal(err)
		}
		out := made.Data[0]
		if _, err := n.Client.SelectLots(t.Context(), out.ID, client.LotPicked{AssetID: second.ID, Quantity: "1"}); err != nil {
			t.Fatal(err)
		}
		a, booked := s.SendJSON(t, n.Key, "POST", "/v1/journal-entries", `{"transaction_id":"`+out.ID+
			`","transaction_type":"EXPENSE","ledger_account_id":"`+n.AccountByCode(t, "6030").ID+`","auto_post":true}`)
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		entryID := strings.Trim(string(booked["id"]), `"`)
		taken := func() (out []client.AssetDisposition) {
			for d, err := range n.Client.AssetDispositions(t.Context(), second.ID) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, d)
			}
			return out
		}
		if got := taken(); len(got) != 1 || got[0].Kind != "dispose" || got[0].Quantity != "1" || got[0].CostBasis != "2000.00" ||
			got[0].Proceeds != "3000.00" || got[0].GainLoss != "1000.00" ||
			*got[0].Term != "long" || got[0].Method != "specific_id" || *got[0].TransactionID != out.ID ||
			got[0].JournalEntryID != entryID || *got[0].SourceID != *first.SourceID {
			t.Errorf("%+v", got)
		}
		_, err = n.Client.SelectLots(t.Context(), out.ID, client.LotPicked{AssetID: first.ID, Quantity: "1"})
		apitest.WantError(t, "posted", err, 409, []string{"transaction_id"}, "is posted")
		left, err := n.Client.UpdateAsset(t.Context(), second.ID, client.UpdateAsset{CostBasis: new("2500.00")})
		if err != nil || left.RemainingQuantity != "1.5" || left.RemainingCostBasis != "1500.00" {
			t.Errorf("%+v %v", left, err)
		}
		if got := taken(); len(got) != 1 || got[0].CostBasis != "1000.00" || got[0].GainLoss != "2000.00" || got[0].JournalEntryID == entryID {
			t.Errorf("%+v", got)
		}
		apitest.WantConflict(t, n.Client.DeleteAsset(t.Context(), second.ID), "1 ETH of the asset are consumed already")
		other := n.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other", BaseCurrency: "EUR"})
		_, err = n.Client.UpdateAsset(t.Context(), second.ID, client.UpdateAsset{LegalEntityID: &other.ID})
		apitest.WantConflict(t, err, "1 of the asset are consumed already: it cannot move to another legal entity")
		_, err = n.Client.ReverseJournalEntry(t.Context(), *first.JournalEntryID, client.ReverseJournalEntry{})
		apitest.WantConflict(t, err, "opening balance "+first.ID)
	})
}
