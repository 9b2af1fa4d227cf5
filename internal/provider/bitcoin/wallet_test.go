package bitcoin

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/bitcoin/bitcointest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

// account is that of the first account of the words "abandon … about" in BIP84.
const account = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"

var start = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// history is a wallet on a chain, and what was read of it.
type history struct {
	testing.TB
	*bitcointest.Server
	dialer *provider.Dialer
	own    *wallet
	cursor string
	read   map[string]provider.Record
	pages  [][]provider.Record
}

// begin returns a wallet on a chain of ten blocks.
func begin(t testing.TB, text string) *history {
	t.Helper()
	h := &history{TB: t, Server: bitcointest.New(), read: map[string]provider.Record{}}
	h.Server.Wallet = text
	now := clock.NewManual(start)
	providertest.Start(t, h.Server, now.Now)
	description := Connector{}.Describe()
	description.Rate = provider.Rate{}
	h.dialer = provider.NewDialer(description, provider.Config{URL: h.Server.URL, AllowPrivate: true, Clock: now})
	var err error
	if h.own, err = open(h.session()); err != nil {
		t.Fatal(err)
	}
	h.Confirm(start.Add(-1000*time.Hour), 10)
	return h
}

// session returns a session, with other credentials than the wallet, if there are any.
func (h *history) session(more ...string) *provider.Session {
	credentials := provider.Credentials{provider.Address: secret.New(h.Server.Wallet)}
	for i := 0; i < len(more); i += 2 {
		credentials[more[i]] = secret.New(more[i+1])
	}
	return h.dialer.Open(credentials, false)
}

// to returns an output of the wallet.
func (h *history) to(branch, index int, value int64) bitcointest.Coin {
	h.Helper()
	out, err := h.own.output(place{branch, index})
	if err != nil {
		h.Fatal(err)
	}
	return bitcointest.Coin{Address: out.address, Script: hex.EncodeToString(out.script), Value: value}
}

// receive adds a block with a payment to an address of the wallet, and returns what can be spent.
func (h *history) receive(branch, index int, value int64) bitcointest.Point {
	h.Helper()
	ids := h.Mine(start, bitcointest.Tx{Foreign: []bitcointest.Coin{bitcointest.ToStranger(value + 100)},
		Out: []bitcointest.Coin{bitcointest.ToStranger(50), h.to(branch, index, value)}})
	return bitcointest.Point{ID: ids[0], N: 1}
}

// sync reads to the end, and returns how many requests that took and which records were new.
func (h *history) sync() (requests int, added []provider.Record) {
	h.Helper()
	before := h.Requests()
	s, seen := h.session(), map[string]bool{}
	for range 1000 {
		p, err := Connector{}.Read(h.Context(), s, ledger, h.cursor)
		if err != nil {
			h.Fatal(err)
		}
		if len(p.Omitted) > 0 {
			h.Errorf("left out: %+v", p.Omitted)
		}
		for _, id := range p.Removed {
			if _, ok := h.read[id]; !ok {
				h.Errorf("%s is taken back and was not read", id)
			}
			delete(h.read, id)
		}
		for _, r := range p.Records {
			if seen[r.ExternalID] {
				h.Errorf("%s was read twice", r.ExternalID)
			}
			seen[r.ExternalID] = true
			if former, ok := h.read[r.ExternalID]; ok && fmt.Sprint(former.Quantity, former.Inflow) != fmt.Sprint(r.Quantity, r.Inflow) {
				h.Errorf("%s was read as %+v and then as %+v", r.ExternalID, former, r)
			} else if !ok {
				added = append(added, r)
			}
			h.read[r.ExternalID] = r
		}
		if len(p.Records) > 0 {
			h.pages = append(h.pages, p.Records)
		}
		if h.cursor = p.Cursor; !p.More {
			return h.Requests() - before, added
		}
	}
	h.Fatal("it has no end")
	return 0, nil
}

// balanced requires that the records add up to the balance, and returns it in satoshis.
func (h *history) balanced() string {
	h.Helper()
	sum := money.Decimal{}
	for _, id := range slices.Sorted(maps.Keys(h.read)) {
		sum = sum.Add(*h.read[id].Moved())
	}
	got, err := Connector{}.Balances(h.Context(), h.session())
	if err != nil {
		h.Fatal(err)
	}
	want := provider.Complete(map[string]money.Decimal{symbol: sum})
	if want.At = got.At; fmt.Sprint(got) != fmt.Sprint(want) {
		h.Errorf("the records add up to %v, and the balance is %v", want, got)
	}
	return sum.String()
}

func TestChangeIsNoIncomeAndTheFeeIsStated(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	first, second := h.receive(0, 0, 100_000), h.receive(0, 3, 50_000)
	ids := h.Mine(start, bitcointest.Tx{Spends: []bitcointest.Point{first, second},
		Out: []bitcointest.Coin{bitcointest.ToStranger(120_000), h.to(1, 0, 29_000)}})
	h.Confirm(start, 5)
	h.sync()
	r := h.read[ids[0]]
	if r.Inflow || r.Quantity.String() != "0.00121" || r.Crypto.FeeQuantity.String() != "0.00001" || r.Crypto.FeeAssetType != "BTC" ||
		r.Type != "" ||
		r.Crypto.To != bitcointest.Stranger || r.Crypto.Chain != "bitcoin" || r.Crypto.TransactionHash != ids[0] || r.Crypto.BlockNumber != 13 {
		t.Errorf("%+v %+v", r, r.Crypto)
	}
	if received := h.read[first.ID]; !received.Inflow || received.Quantity.String() != "0.001" || received.Crypto.FeeQuantity != nil ||
		received.Crypto.From != bitcointest.Stranger || received.Crypto.To != "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu" {
		t.Errorf("%+v %+v", received, received.Crypto)
	}
	if sum := h.balanced(); sum != "0.00029" {
		t.Errorf("the balance is %s", sum)
	}
}

func TestABalanceHasTheTimeOfTheLastFinalBlock(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	h.receive(0, 0, 100_000)
	h.Confirm(start.Add(-2*time.Hour), 1)
	h.Confirm(start.Add(-time.Hour), 5)
	held, err := Connector{}.Balances(t.Context(), h.session())
	if err != nil || !held.At.Equal(start.Add(-2*time.Hour)) || fmt.Sprint(held.Balances) != "[{BTC 0.001 }]" || !held.Complete {
		t.Errorf("%+v %v", held, err)
	}
}

func TestAConsolidationIsItsFee(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	first, second := h.receive(0, 0, 100_000), h.receive(0, 1, 50_000)
	ids := h.Mine(start, bitcointest.Tx{Spends: []bitcointest.Point{first, second}, Out: []bitcointest.Coin{h.to(0, 2, 149_500)}})
	free := h.Mine(start, bitcointest.Tx{Spends: []bitcointest.Point{{ID: ids[0]}}, Out: []bitcointest.Coin{h.to(0, 4, 149_500)}})
	h.Confirm(start, 5)
	h.sync()
	r := h.read[ids[0]]
	if r.Inflow || r.Type != "FEE" || r.Quantity.String() != "0.000005" || r.Crypto.FeeQuantity != nil {
		t.Errorf("%+v %+v", r, r.Crypto)
	}
	if r, ok := h.read[free[0]]; ok {
		t.Errorf("nothing moved: %+v", r)
	}
	h.balanced()
}

func TestATransactionThatOthersPaidInIsItsDifference(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	first, second := h.receive(0, 0, 100_000), h.receive(0, 1, 100_000)
	stranger := []bitcointest.Coin{bitcointest.ToStranger(100_000)}
	less := h.Mine(start, bitcointest.Tx{Spends: []bitcointest.Point{first}, Foreign: stranger,
		Out: []bitcointest.Coin{h.to(1, 0, 99_700), bitcointest.ToStranger(99_700)}})
	more := h.Mine(start, bitcointest.Tx{Spends: []bitcointest.Point{second}, Foreign: stranger,
		Out: []bitcointest.Coin{h.to(1, 1, 150_000)}})
	h.Confirm(start, 5)
	h.sync()
	if r := h.read[less[0]]; r.Inflow || r.Quantity.String() != "0.000003" || r.ProviderCategory != collaborative ||
		r.Crypto.FeeQuantity != nil {
		t.Errorf("%+v", r)
	}
	if r := h.read[more[0]]; !r.Inflow || r.Quantity.String() != "0.0005" || r.ProviderCategory != collaborative || r.Memo == "" {
		t.Errorf("%+v", r)
	}
	h.balanced()
}

func TestATransactionCountsAfterSixConfirmations(t *testing.T) {
	t.Parallel()
	for _, text := range []string{account, bitcointest.Address} {
		h := begin(t, text)
		h.receive(0, 0, 1_000)
		h.Confirm(start, 4)
		if _, added := h.sync(); len(added) != 0 || h.balanced() != "0" {
			t.Errorf("%d records after 5 confirmations", len(added))
		}
		h.Confirm(start, 1)
		if _, added := h.sync(); len(added) != 1 || h.balanced() != "0.00001" {
			t.Errorf("%d records after 6 confirmations", len(added))
		}
	}
}

func TestAddressesAreFoundAsTheyAreUsed(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	h.sync()
	h.balanced()
	for _, at := range []place{{0, 0}, {0, 19}, {0, 39}, {1, 19}, {0, 38}, {0, 59}, {0, 2}} {
		h.receive(at.branch, at.index, 1_000)
		h.Confirm(start, 5)
		if _, added := h.sync(); len(added) != 1 {
			t.Errorf("%d records of a payment to %+v", len(added), at)
		}
		h.balanced()
	}
	h.receive(0, 80, 1_000)
	h.Confirm(start, 5)
	if _, added := h.sync(); len(added) != 0 {
		t.Errorf("%d records of a payment behind 20 unused addresses", len(added))
	}
	h.receive(0, 79, 1_000)
	h.Confirm(start, 5)
	if _, added := h.sync(); len(added) != 2 {
		t.Errorf("%d records after the address before it was used", len(added))
	}
	h.balanced()
}

// Change goes to an address that is far behind the last one that was used.
func TestAnAddressBehindTheGapIsRecognizedInATransactionOfTheWallet(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	first := h.receive(0, 0, 100_000)
	ids := h.Mine(start, bitcointest.Tx{Spends: []bitcointest.Point{first},
		Out: []bitcointest.Coin{h.to(1, 110, 60_000), h.to(0, 90, 39_000)}})
	h.Confirm(start, 5)
	h.sync()
	if r := h.read[ids[0]]; r.Type != "FEE" || r.Quantity.String() != "0.00001" {
		t.Errorf("%+v", r)
	}
	h.receive(1, 115, 500)
	h.Confirm(start, 5)
	if _, added := h.sync(); len(added) != 1 {
		t.Errorf("%d records of a payment behind that address", len(added))
	}
}

func TestAGapLimitCanBeRaisedLater(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	h.receive(0, 0, 1_000)
	h.receive(0, 45, 2_000)
	h.Confirm(start, 5)
	if _, added := h.sync(); len(added) != 1 {
		t.Fatalf("%d records", len(added))
	}
	h.Confirm(start, 1)
	s := h.session(gapLimit, "50")
	records := 0
	for range 100 {
		p, err := Connector{}.Read(t.Context(), s, ledger, h.cursor)
		if err != nil {
			t.Fatal(err)
		}
		records += len(p.Records)
		if h.cursor = p.Cursor; !p.More {
			break
		}
	}
	if records != 1 {
		t.Errorf("%d records", records)
	}
}

// Esplora returns the newest transactions first, 25 at a time. A call reads up to about 300 of them.
func TestALongHistoryIsReadFromTheOldestTransactionOn(t *testing.T) {
	t.Parallel()
	for _, n := range []int{274, 275, 276, 300, 301, 1_037} {
		h := begin(t, bitcointest.Address)
		for i := range n {
			h.Mine(start.Add(time.Duration(i-2*n)*time.Hour), bitcointest.Tx{Foreign: []bitcointest.Coin{bitcointest.ToStranger(2_000)},
				Out: []bitcointest.Coin{{Address: bitcointest.Address, Script: bitcointest.Script, Value: int64(i + 1)}}})
		}
		h.Confirm(start, 5)
		if _, added := h.sync(); len(added) != n {
			t.Fatalf("%d records of %d", len(added), n)
		}
		last := time.Time{}
		for _, page := range h.pages {
			for _, r := range page {
				if r.Timestamp.Before(last) {
					t.Fatalf("%d transactions: one of %s follows one of %s", n, r.Timestamp, last)
				}
				last = r.Timestamp
			}
		}
		h.balanced()
		if requests, added := h.sync(); requests != 1 || len(added) != 0 {
			t.Errorf("%d requests and %d records with nothing new", requests, len(added))
		}
	}
}

func TestAnExtendedKeyWithoutNewBlocksTakesOneRequest(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	h.receive(0, 7, 1_000)
	h.Confirm(start, 5)
	h.sync()
	if requests, _ := h.sync(); requests != 1 {
		t.Errorf("%d requests", requests)
	}
	h.Confirm(start, 1)
	if requests, _ := h.sync(); requests != 1+28+20 { // the blocks, 8 addresses and 20 more, and 20 for change
		t.Errorf("%d requests after a new block", requests)
	}
}

func TestRecordsOfReplacedBlocksAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{account, bitcointest.Address} {
		h := begin(t, text)
		stays := h.receive(0, 0, 1_000)
		moves := h.receive(0, 0, 2_000)
		vanishes := h.receive(0, 0, 4_000)
		h.Confirm(start, 8)
		h.sync()
		txs := h.Drop(10)
		h.Mine(start)
		h.Mine(start, txs[0])
		h.Confirm(start, 12)
		h.sync()
		if _, gone := h.read[vanishes.ID]; gone || len(h.read) != 2 || h.read[moves.ID].Crypto.BlockNumber != 13 ||
			h.read[stays.ID].Crypto.BlockNumber != 11 {
			t.Errorf("%+v", h.read)
		}
		if sum := h.balanced(); sum != "0.00003" {
			t.Errorf("the balance is %s", sum)
		}
		if requests, _ := h.sync(); requests != 1 {
			t.Errorf("%d requests with nothing new", requests)
		}
	}
}

func TestAServerThatIsBehindTakesNothingBack(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	h.receive(0, 0, 1_000)
	h.Confirm(start, 12)
	h.sync()
	h.Drop(9)
	if _, added := h.sync(); len(added) != 0 || len(h.read) != 1 {
		t.Errorf("%d new records, %d in all", len(added), len(h.read))
	}
}

func TestCheckTellsServersOfOtherNetworksAndUnusedKeys(t *testing.T) {
	t.Parallel()
	h := begin(t, account)
	got, err := Connector{}.Check(t.Context(), h.session())
	if err != nil || got.ID != "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu" || got.Grants != nil || len(got.Warnings) != 0 {
		t.Errorf("%+v %v", got, err)
	}
	const bare = "xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj"
	for _, text := range []string{bare, "wpkh(" + bare + "/0/*)"} {
		got, err = Connector{}.Check(t.Context(), h.session(provider.Address, text))
		if err != nil || len(got.Warnings) != 1 {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for wrong, field := range map[string]string{"bc1": provider.Address, "0": gapLimit, "ftp://x": provider.RPCURL,
		"https://a:b@example.com": provider.RPCURL, "https://example.com:99999": provider.RPCURL, "https://example.com/?x=y": provider.RPCURL} {
		if _, err := (Connector{}).Check(t.Context(), h.session(field, wrong)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s %q: %v", field, wrong, err)
		}
	}
	h.FailAt(1, providertest.Status(200, "", "", "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"))
	if _, err := (Connector{}).Check(t.Context(), h.session()); err == nil {
		t.Error("a server of another network is accepted")
	}
	if _, err := (Connector{}).Check(t.Context(), h.session(provider.RPCURL, h.Server.URL+"/")); err != nil {
		t.Error(err)
	}
}
