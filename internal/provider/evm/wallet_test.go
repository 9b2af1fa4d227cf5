package evm_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/evm"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

var start = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// The addresses that tests use.
var (
	wallet, stranger = evmtest.Wallet, evmtest.Stranger
	exchange         = evmtest.Address("an exchange")
)

// history is a wallet, and what was read of it.
type history struct {
	*testing.T
	*evmtest.Server
	connector evm.Connector
	dialer    *provider.Dialer
	now       *clock.Manual
	cursor    string
	read      map[string]provider.Record
	omitted   []provider.Omission
	gaps      []provider.Gap
	removed   []string
}

// begin returns a wallet with 10 coins.
func begin(t *testing.T, c evm.Connector, change ...func(s *evmtest.Server)) *history {
	h := &history{T: t, Server: evmtest.New(), connector: c, read: map[string]provider.Record{}, now: clock.NewManual(start)}
	for _, f := range change {
		f(h.Server)
	}
	providertest.Start(t, h.Server, h.now.Now)
	description := c.Describe()
	description.Rate = provider.Rate{}
	h.dialer = provider.NewDialer(description, provider.Config{AllowPrivate: true, Clock: h.now})
	h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("10")})
	return h
}

// eachNode runs a test on nodes that can do more and less, all of which trace.
func eachNode(t *testing.T, test func(h *history)) {
	for name, change := range map[string]func(s *evmtest.Server){
		"trace_filter":     func(*evmtest.Server) {},
		"traces of blocks": func(s *evmtest.Server) { s.Filters = false },
		"no old states":    func(s *evmtest.Server) { s.Filters, s.Archive = false, false },
		"a contract":       func(s *evmtest.Server) { s.Filters, s.Code[wallet] = false, "0x60" },
		"short ranges":     func(s *evmtest.Server) { s.Range, s.Together = 3, 5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(begin(t, evm.Ethereum, change))
		})
	}
}

// tx executes a transaction in a block of its own.
func (h *history) tx(tx evmtest.Tx) string { return h.Mine(start.Add(-100*time.Hour), nil, tx)[0] }

func (h *history) session(more ...string) *provider.Session {
	credentials := provider.Credentials{}
	for name, text := range h.Credentials() {
		credentials[name] = secret.New(text)
	}
	for i := 0; i < len(more); i += 2 {
		credentials[more[i]] = secret.New(more[i+1])
	}
	s := h.dialer.Open(credentials, false)
	s.Cursors = map[string]string{"transactions": h.cursor}
	return s
}

// sync reads to the end, and returns how many requests that took and how many records were read.
func (h *history) sync(more ...string) (requests, added int) {
	h.Helper()
	before, s := h.Requests(), h.session(more...)
	for range 1000 {
		p, err := h.connector.Read(h.Context(), s, "transactions", h.cursor)
		if err != nil {
			h.Fatal(err)
		}
		h.omitted, h.gaps, h.removed = append(h.omitted, p.Omitted...), append(h.gaps, p.Gaps...), append(h.removed, p.Removed...)
		for _, id := range p.Removed {
			delete(h.read, id)
		}
		for _, r := range p.Records {
			h.read[r.ExternalID] = r
			added++
		}
		if h.cursor = p.Cursor; !p.More {
			return h.Requests() - before, added
		}
	}
	h.Fatal("it has no end")
	return 0, 0
}

// of returns the records of a transaction, as text.
func (h *history) of(hash string) (out []string) {
	for _, id := range slices.Sorted(maps.Keys(h.read)) {
		r := h.read[id]
		if r.Group != hash {
			continue
		}
		text := "-"
		if r.Inflow {
			text = "+"
		}
		text += r.Quantity.String() + " " + r.Currency
		if r.Crypto.TokenID != "" {
			text += "#" + r.Crypto.TokenID
		}
		if r.Crypto.FeeQuantity != nil {
			text += " fee " + r.Crypto.FeeQuantity.String() + " " + r.Crypto.FeeAssetType
		}
		out = append(out, strings.TrimSpace(text+" "+r.Type))
	}
	slices.Sort(out)
	return out
}

// wants requires the records of a transaction.
func (h *history) wants(hash string, want ...string) {
	h.Helper()
	slices.Sort(want)
	if got := h.of(hash); fmt.Sprint(got) != fmt.Sprint(want) {
		h.Errorf("%q, want %q", got, want)
	}
}

// balanced requires that the records add up to what the wallet holds, and that nothing was left out.
func (h *history) balanced() {
	h.Helper()
	sums := map[string]money.Decimal{}
	for _, r := range h.read {
		if r.Type != "NFT" {
			sums[r.Currency] = sums[r.Currency].Add(*r.Moved())
		}
	}
	got, err := h.connector.Balances(h.Context(), h.session())
	if err != nil {
		h.Fatal(err)
	}
	if want := provider.Complete(sums).Balances; fmt.Sprint(nonzero(got)) != fmt.Sprint(want) {
		h.Errorf("the records add up to %v, and the balance is %v", want, got)
	}
	coins := money.Decimal{}
	for _, b := range got.Balances {
		if b.Currency == "ETH" {
			coins = b.Amount
		}
	}
	if want := money.MustParse(wei(h.Held(wallet))); !coins.Equal(want) {
		h.Errorf("the balance is %s, and the wallet holds %s", coins, want)
	}
	if len(h.omitted) > 0 {
		h.Errorf("left out: %+v", h.omitted)
	}
}

// nonzero returns of what the wallet holds something.
func nonzero(h provider.Holdings) []provider.Balance {
	return slices.DeleteFunc(slices.Clone(h.Balances), func(b provider.Balance) bool { return b.Amount.IsZero() })
}

// wei returns an amount in the smallest unit as coins.
func wei(n *big.Int) string {
	digits := fmt.Sprintf("%019s", n)
	return digits[:len(digits)-18] + "." + digits[len(digits)-18:]
}

func TestFeesArePartOfWhatWasSent(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		paid := h.tx(evmtest.Tx{From: wallet, To: stranger, Value: evmtest.Wei("2")})
		called := h.tx(evmtest.Tx{From: wallet, To: exchange, Input: "0x12345678", Gas: 50_000, Price: 2_000_000_000})
		failed := h.tx(evmtest.Tx{From: wallet, To: exchange, Value: evmtest.Wei("1"), Failed: true})
		theirs := h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1"), Failed: true})
		self := h.tx(evmtest.Tx{From: wallet, To: wallet, Value: evmtest.Wei("1")})
		made := h.tx(evmtest.Tx{From: wallet, Value: evmtest.Wei("0.5"), Input: "0x6000"})
		h.sync()
		h.wants(paid, "-2.000021 ETH fee 0.000021 ETH")
		h.wants(called, "-0.0001 ETH FEE")
		h.wants(failed, "-0.000021 ETH FEE")
		h.wants(theirs)
		h.wants(self, "-0.000021 ETH FEE")
		h.wants(made, "-0.500021 ETH fee 0.000021 ETH")
		h.balanced()
		r := h.read["1:"+paid]
		if c := r.Crypto; c == nil || c.Chain != "ethereum" || c.TransactionHash != paid || c.From != wallet || c.To != stranger ||
			c.BlockNumber != 2 || !r.Timestamp.Equal(start.Add(-100*time.Hour)) || !strings.Contains(string(r.Original), `"gasUsed"`) {
			t.Errorf("%+v %+v", r.Record, c)
		}
		if r := h.read["1:"+failed+":fee"]; r.Memo != "failed" || r.ProviderCategory != "" {
			t.Errorf("%+v", r.Record)
		}
		if r := h.read["1:"+called+":fee"]; r.ProviderCategory != "0x12345678" {
			t.Errorf("%+v", r.Record)
		}
		if c := h.read["1:"+made].Crypto; c.To != evmtest.Address(made) {
			t.Errorf("%+v", c)
		}
	})
}

func TestFeesOfRollupsAndBlobsAreFees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]evm.Connector{"optimism": evm.Optimism, "scroll": evm.Scroll} {
		h := begin(t, c, func(s *evmtest.Server) { s.ChainID = map[string]int64{"optimism": 10, "scroll": 534352}[name] })
		paid := h.tx(evmtest.Tx{From: wallet, To: stranger, Value: evmtest.Wei("2"), L1Fee: evmtest.Wei("0.001")})
		blobs := h.tx(evmtest.Tx{From: wallet, To: stranger, Gas: 21000, Price: 1_000_000_000, BlobGas: 131072, BlobPrice: 1_000_000_000})
		minted := h.tx(evmtest.Tx{From: wallet, To: wallet, Value: evmtest.Wei("3"), Mint: evmtest.Wei("3"), Gas: 46_000})
		lost := h.tx(evmtest.Tx{From: wallet, To: exchange, Value: evmtest.Wei("4"), Mint: evmtest.Wei("4"), Gas: 46_000, Failed: true})
		h.sync()
		h.wants(paid, "-2.001021 ETH fee 0.001021 ETH")
		h.wants(blobs, "-0.000152072 ETH FEE")
		h.wants(minted, "+3 ETH")
		h.wants(lost, "+4 ETH")
		h.balanced()
	}
}

func TestTransfersInsideOfContracts(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		pool := evmtest.Address("a pool")
		h.tx(evmtest.Tx{From: stranger, To: pool, Value: evmtest.Wei("100")})
		paid := h.tx(evmtest.Tx{From: stranger, To: pool, Input: "0xaabbccdd", Calls: []evmtest.Call{
			{From: pool, To: exchange, Calls: []evmtest.Call{{From: pool, To: wallet, Value: evmtest.Wei("1")}}},
			{From: pool, To: exchange, Failed: true, Calls: []evmtest.Call{{From: pool, To: wallet, Value: evmtest.Wei("7")}}},
			{From: pool, To: wallet, Value: evmtest.Wei("8"), Failed: true},
			{Type: "DELEGATECALL", From: pool, To: wallet, Value: evmtest.Wei("9")},
			{Type: "STATICCALL", From: pool, To: wallet},
			{Type: "SELFDESTRUCT", From: pool, To: wallet, Value: evmtest.Wei("2")},
			{Type: "CREATE", From: pool, To: exchange, Value: evmtest.Wei("3")},
		}})
		failed := h.tx(evmtest.Tx{From: stranger, To: pool, Failed: true, Calls: []evmtest.Call{{From: pool, To: wallet,
			Value: evmtest.Wei("1")}}})
		silent := h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1"), Failed: true, Silent: true})
		swapped := h.tx(evmtest.Tx{From: wallet, To: pool, Value: evmtest.Wei("1"), Calls: []evmtest.Call{{From: pool, To: wallet,
			Value: evmtest.Wei("0.25")}}, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, pool, wallet, 3_000_000_000)}})
		back := h.tx(evmtest.Tx{From: stranger, To: wallet, Calls: []evmtest.Call{{From: wallet, To: pool, Value: evmtest.Wei("0.5")}}})
		h.sync()
		h.wants(paid, "+1 ETH", "+2 ETH")
		h.wants(failed)
		h.wants(silent)
		h.wants(swapped, "-1.000021 ETH fee 0.000021 ETH", "+0.25 ETH", "+3000 USDC")
		if h.Code[wallet] != "" || h.Filters { // another wallet cannot send coins without a transaction
			h.wants(back, "-0.5 ETH")
			h.balanced()
		}
		if r, ok := h.read["1:"+paid+":0.0"]; !ok || r.Crypto.From != pool || r.ProviderCategory != "0xaabbccdd" {
			t.Errorf("%+v", r)
		}
	})
}

func TestANodeThatDoesNotTraceIsAGap(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum, func(s *evmtest.Server) { s.Filters, s.Traces = false, false })
	got, err := h.connector.Check(t.Context(), h.session())
	if err != nil || len(got.Warnings) != 2 {
		t.Errorf("%+v %v", got, err)
	}
	pool := evmtest.Address("a pool")
	h.tx(evmtest.Tx{From: stranger, To: pool, Value: evmtest.Wei("100")})
	hash := h.tx(evmtest.Tx{From: stranger, To: pool, Calls: []evmtest.Call{{From: pool, To: wallet, Value: evmtest.Wei("1")}}})
	h.sync()
	h.wants(hash)
	h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1")})
	h.sync()
	if len(h.gaps) != 1 || !strings.Contains(h.gaps[0].Reason, "does not trace") || len(h.read) != 2 ||
		h.gaps[0].Through.Before(h.gaps[0].From) {
		t.Errorf("%+v %d", h.gaps, len(h.read))
	}
}

func TestWithdrawalsOfValidators(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		for i := range 60 {
			withdrawn := []evmtest.Withdrawal{{Address: stranger, Gwei: 17}}
			if i%17 == 3 {
				withdrawn = append(withdrawn, evmtest.Withdrawal{Address: wallet, Gwei: 18_000_000 + int64(i)})
			}
			var txs []evmtest.Tx
			if i%20 == 3 {
				txs = append(txs, evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1")})
			}
			h.Mine(start.Add(time.Duration(i-100)*time.Minute), withdrawn, txs...)
		}
		h.sync()
		h.balanced()
		if r, ok := h.read["1:withdrawal:22"]; !ok || r.Quantity.String() != "0.01800002" || r.ProviderCategory != "validator withdrawal" ||
			r.Crypto.BlockNumber != 22 || r.Crypto.TransactionHash != "" {
			t.Errorf("%+v", r)
		}
	})
}

func TestAQuietLookTakesOneRequest(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		h.sync()
		before := h.cursor
		if requests, added := h.sync(); requests != 1 || added != 0 || h.cursor != before {
			t.Errorf("%d requests and %d records, and the position went from %s to %s", requests, added, before, h.cursor)
		}
		h.tx(evmtest.Tx{From: stranger, To: exchange})
		if requests, added := h.sync(); requests > 6 || added != 0 {
			t.Errorf("%d requests and %d records", requests, added)
		}
	})
}

func TestCheckTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	got, err := h.connector.Check(t.Context(), h.session())
	if err != nil || got.ID != wallet || got.Grants != nil || len(got.Warnings) != 0 || !strings.EqualFold(got.Name, wallet) {
		t.Errorf("%+v %v", got, err)
	}
	for _, wrong := range [][2]string{{provider.Address, "x"}, {provider.Address, wallet[:41]}, {provider.RPCURL, "x"}, {provider.RPCURL, ""},
		{provider.RPCURL, "https://a:b@example.com"}, {provider.RPCURL, "https://example.com:99999"},
		{"first_block", "-1"}, {"first_block", "x"}, {"first_block", "2"},
		{provider.Address, "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}} {
		if _, err := h.connector.Check(t.Context(), h.session(wrong[0], wrong[1])); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	got, err = h.connector.Check(t.Context(), h.session(provider.Address, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"))
	if err != nil || got.ID != "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed" || got.Name != "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" {
		t.Errorf("%+v %v", got, err)
	}
	h.ChainID = 137
	if _, err := h.connector.Check(t.Context(), h.session()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another chain: %v", err)
	}
}

func TestAnotherChainHasTheCoinThatPeopleName(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Other, func(s *evmtest.Server) { s.ChainID = 42220 })
	fields := []string{"native_symbol", "celo", "chain", "Celo"}
	got, err := h.connector.Check(t.Context(), h.session(fields...))
	if err != nil || got.ID != "42220:"+wallet {
		t.Errorf("%+v %v", got, err)
	}
	usdc := h.tx(evmtest.Tx{From: stranger, To: evmtest.USDC, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 5_000_000)}})
	paid := h.tx(evmtest.Tx{From: wallet, To: stranger, Value: evmtest.Wei("1")})
	h.sync(fields...)
	h.wants(paid, "-1.000021 CELO fee 0.000021 CELO")
	h.wants(usdc, "+5 "+evmtest.USDC) // it is genuine on Ethereum only
	if c := h.read["42220:"+paid].Crypto; c == nil || c.Chain != "celo" {
		t.Errorf("%+v", c)
	}
}
