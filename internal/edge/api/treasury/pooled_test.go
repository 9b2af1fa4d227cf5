package treasury_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// TestABalanceIsReconciledThoughItsSourceConsumedALotOfAnotherOne has 3 ETH at an exchange and 2 dearer ones in a wallet. One leaves the
// exchange, whose file then states 2, and the dearest lot is consumed, which is the one in the wallet.
func TestABalanceIsReconciledThoughItsSourceConsumedALotOfAnotherOne(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		if _, err := n.Client.UpdateLegalEntity(t.Context(), n.LegalEntity.ID, client.UpdateLegalEntity{CostBasisMethod: new("hifo"),
			CostBasisScope: new("legal_entity")}); err != nil {
			t.Fatal(err)
		}
		exchange := n.NewSource(t, client.CreateSource{SourceType: "exchange", Provider: "kraken"})
		wallet := n.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum"})
		n.NewAsset(t, client.CreateAsset{SourceID: exchange.ID, Quantity: "3", CostBasis: "3000.00", DateReceived: "2025-01-01"})
		n.NewAsset(t, client.CreateAsset{SourceID: wallet.ID, Quantity: "2", CostBasis: "8000.00", DateReceived: "2025-01-01"})
		if _, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: "ETH", Currency: "USD", Price: "5000",
			Timestamp: "2025-05-01T00:00:00Z"}); err != nil {
			t.Fatal(err)
		}
		made, err := n.Client.CreateImport(t.Context(), client.CreateImport{FileName: "ledgers.csv", SourceID: exchange.ID,
			File: strings.NewReader("txid,refid,time,type,subtype,aclass,asset,wallet,amount,fee,balance\n" +
				"L1,R1,2025-05-01 08:00:00,withdrawal,,currency,ETH,spot / main,-1,0,2\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Service().App.Imports.Run(t.Context(), n.Organization.ID, made.ID, nil); err != nil {
			t.Fatal(err)
		}
		for x, err := range n.Client.Transactions(t.Context(), url.Values{"source_id": {exchange.ID}}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: x.ID, TransactionType: "EXPENSE",
				LedgerAccountID: n.AccountByCode(t, "6080").ID, AutoPost: true}); err != nil {
				t.Fatal(err)
			}
		}
		for id, want := range map[string]string{exchange.ID: "ETH 2 observed 2 with 2: 0", wallet.ID: "ETH 2"} {
			var got []string
			for b, err := range n.Client.SourceBalances(t.Context(), id) {
				if err != nil {
					t.Fatal(err)
				}
				one := b.AssetType + " " + b.Book
				if b.Observed != nil {
					one += " observed " + *b.Observed + " with " + *b.BookAtObserved + ": " + *b.Difference
				}
				got = append(got, one)
			}
			if strings.Join(got, "; ") != want {
				t.Errorf("%s, want %s", strings.Join(got, "; "), want)
			}
		}
	})
}
