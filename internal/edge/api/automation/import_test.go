package automation_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// ledgers is a file of an exchange that states the balance after each row. With the fee of the deposit left out, 11.68 USDT would
// be held instead of 0.81.
const ledgers = `"txid","refid","time","type","subtype","aclass","asset","wallet","amount","fee","balance"
"L1","R1","2025-05-01 08:00:00","deposit","","currency","USDT","spot / main",100,10.87,89.13
"L2","R2","2025-05-01 09:00:00","trade","tradespot","currency","USDT","spot / main",-80,0.32,8.81
"L3","R2","2025-05-01 09:00:00","trade","tradespot","currency","XXBT","spot / main",0.0008,0,0.0008
"L4","R4","2025-05-01 10:00:00","withdrawal","","currency","USDT","spot / main",-8,0,0.81
`

// importLedgers imports the file, as the service does in the background, and links the legs of its trade.
func importLedgers(t *testing.T, n *apitest.Tenant, sourceID string) {
	t.Helper()
	made, err := n.Client.CreateImport(t.Context(), client.CreateImport{File: strings.NewReader(ledgers), FileName: "ledgers.csv",
		SourceID: sourceID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Service().App.Imports.Run(t.Context(), n.Organization.ID, made.ID, nil); err != nil {
		t.Fatal(err)
	}
	done, err := n.Client.Import(t.Context(), made.ID)
	if err != nil || done.Status != "completed" || done.Counts.Created != 4 || done.Counts.Warnings != 0 {
		t.Fatalf("%+v %v", done, err)
	}
	a, _ := n.Service().SendJSON(t, n.Key, "POST", "/v1/transactions/match", `{"start_date":"2025-05-01","end_date":"2025-05-01"}`)
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
}

func TestAnImportedFileThatIsClassifiedAndPostedHoldsWhatItStates(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		source := n.NewSource(t, client.CreateSource{SourceType: "exchange", Provider: "kraken"})
		for asset, price := range map[string]string{"USDT": "1", "BTC": "99000"} {
			if _, err := n.Client.CreatePrice(t.Context(), client.CreatePrice{AssetType: asset, Currency: "USD", Timestamp: "2025-05-01T00:00:00Z",
				Price: price}); err != nil {
				t.Fatal(err)
			}
		}
		for text, code := range map[string]string{"deposit": "3010", "withdrawal": "3020"} {
			if _, err := n.Client.PutMemoryRule(t.Context(), "", client.PutMemoryRule{RuleType: "classification", MemoContains: &text,
				LedgerAccountID: new(n.AccountByCode(t, code).ID), TransactionType: new(strings.ToUpper(text)),
				Rationale: new("of the exchange")}); err != nil {
				t.Fatal(err)
			}
		}
		importLedgers(t, n, source.ID)
		filter := map[string]any{"source_id": source.ID}
		deposited := classified(t, n, client.CreateClassificationRun{Filter: map[string]any{"source_id": source.ID, "direction": "credit"},
			Action: "post"})
		if deposited.Counts["posted"] != 1 {
			t.Errorf("%+v", deposited)
		}
		for x, err := range n.Client.Transactions(t.Context(), url.Values{"source_id": {source.ID}, "transaction_types": {"SWAP"},
			"direction": {"debit"}}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: x.ID, TransactionType: "SWAP",
				AutoPost: true}); err != nil {
				t.Fatal(err)
			}
		}
		if run := classified(t, n, client.CreateClassificationRun{Filter: filter, Action: "post"}); run.Counts["posted"] != 1 {
			t.Errorf("%+v", run)
		}
		var held []string
		for b, err := range n.Client.SourceBalances(t.Context(), source.ID) {
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, b.Book+" "+b.AssetType)
		}
		if slices.Sort(held); !slices.Equal(held, []string{"0.0008 BTC", "0.81 USDT"}) {
			t.Errorf("the books hold %q", held)
		}
	})
}
