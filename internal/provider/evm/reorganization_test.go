package evm_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/provider/evm"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestRecordsOfReplacedBlocksAreTakenBack(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		pay := evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1")}
		kept := h.tx(pay)
		h.sync()
		gone, again := h.tx(pay), h.tx(pay)
		h.sync()
		h.balanced()
		h.Drop(2)
		h.Mine(start, nil)
		h.Repeat(start, pay, again)
		h.sync()
		h.wants(kept, "+1 ETH")
		h.wants(gone)
		h.wants(again, "+1 ETH")
		h.balanced()
		if len(h.removed) != 2 {
			t.Errorf("%v", h.removed)
		}
		if requests, added := h.sync(); requests != 1 || added != 0 {
			t.Errorf("%d requests and %d records", requests, added)
		}
	})
}

// Reorganizations of random depths, at random times.
func TestRecordsAddUpAfterReorganizations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			h := begin(t, evm.Ethereum, func(s *evmtest.Server) {
				s.Filters, s.Range = r.IntN(2) == 0, []int64{0, 7, 50}[r.IntN(3)]
				s.Archive = s.Filters || r.IntN(2) == 0 // withdrawals are not found otherwise
				s.Together = []int{0, 1, 9}[r.IntN(3)]
			})
			for range 60 {
				for range r.IntN(4) {
					h.random(r)
				}
				if n := r.IntN(8); n < 5 && h.Height() > 8 && r.IntN(5) == 0 {
					h.Drop(n + 1)
					for range n + 2 {
						h.random(r)
					}
				}
				if r.IntN(3) == 0 {
					h.sync()
					h.balanced()
				}
			}
			h.sync()
			h.balanced()
		})
	}
}

// random adds a block with random transactions.
func (h *history) random(r *rand.Rand) {
	pool := evmtest.Address("a pool")
	var all []evmtest.Tx
	for range r.IntN(3) {
		amount := big.NewInt(1 + r.Int64N(1e15))
		tx := evmtest.Tx{From: stranger, To: wallet, Value: amount, Failed: r.IntN(5) == 0}
		switch r.IntN(6) {
		case 0:
			tx.From, tx.To = wallet, stranger
		case 1:
			tx.From, tx.To = wallet, pool
		case 2:
			tx.From, tx.To = stranger, pool
			tx.Calls = []evmtest.Call{{From: pool, To: wallet, Value: amount, Failed: r.IntN(3) == 0, Calls: []evmtest.Call{
				{From: pool, To: wallet, Value: big.NewInt(r.Int64N(3))}}}}
			tx.Value = new(big.Int).Mul(amount, big.NewInt(3))
		case 3:
			tx.From, tx.To = wallet, ""
		}
		all = append(all, tx)
	}
	var withdrawn []evmtest.Withdrawal
	if r.IntN(6) == 0 {
		withdrawn = append(withdrawn, evmtest.Withdrawal{Address: wallet, Gwei: r.Int64N(1e6)})
	}
	h.Mine(start, withdrawn, all...)
}

func TestANodeThatDoesNotKnowWhatIsFinal(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum, func(s *evmtest.Server) { s.Final = false })
	for range 62 {
		h.Mine(start, nil)
	}
	if _, added := h.sync(); added != 0 {
		t.Errorf("%d records of a block that is not deep enough", added)
	}
	h.Mine(start, nil)
	h.Mine(start, nil)
	if _, added := h.sync(); added != 1 {
		t.Errorf("%d records", added)
	}
	h.Mine(start, nil)
	if requests, _ := h.sync(); requests > 6 {
		t.Errorf("%d requests", requests)
	}
	if requests, _ := h.sync(); requests != 1 {
		t.Errorf("%d requests with nothing new", requests)
	}
}

func TestRangesAreHalvedAndGrowAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *evmtest.Server){
		"blocks":  func(s *evmtest.Server) { s.Range = 100 },
		"results": func(s *evmtest.Server) { s.Results = 10 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := begin(t, evm.Ethereum, change)
			for i := range 600 {
				var all []evmtest.Tx
				if i%9 == 0 {
					all = append(all, evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1"),
						Logs: []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 7)}})
				}
				h.Mine(start.Add(time.Duration(i-1000)*time.Minute), nil, all...)
			}
			if requests, added := h.sync(); requests > 90 || added != 1+2*67 {
				t.Errorf("%d requests and %d records", requests, added)
			}
			h.balanced()
		})
	}
}

// A page ends when it has found many blocks, and another one follows.
func TestManyTransactionsTakeSeveralPages(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		for i := range 130 {
			tx := evmtest.Tx{From: stranger, To: wallet, Value: big.NewInt(int64(i + 1))}
			if i%2 == 0 {
				tx.Logs = []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 1)}
			}
			h.tx(tx)
		}
		if _, added := h.sync(); added != 1+130+65 || len(h.read) != added {
			t.Errorf("%d records were read, %d of them once", added, len(h.read))
		}
		h.balanced()
	})
}

func TestTheBalanceIsThatOfTheLastBlockThatWasRead(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	h.sync()
	h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1")})
	got, err := h.connector.Balances(t.Context(), h.session())
	if err != nil || len(got.Balances) != 1 || got.Balances[0].Amount.String() != "10" {
		t.Errorf("%+v %v", got, err)
	}
	h.Archive = false
	for range 9 {
		h.Mine(start, nil)
	}
	got, err = h.connector.Balances(t.Context(), h.session())
	if err != nil || len(got.Balances) != 1 || got.Balances[0].Amount.String() != "11" {
		t.Errorf("without the state: %+v %v", got, err)
	}
}

// A contract that fails, or that is gone, does not say that the wallet holds none of its tokens.
func TestATokenThatDoesNotTellItsBalanceIsNotZero(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	other := evmtest.Address("another token")
	h.Token(other, "TKN", 6)
	h.tx(evmtest.Tx{From: stranger, To: evmtest.USDC, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 1_000_000),
		h.Transfer(other, stranger, wallet, 2_000_000)}})
	h.tx(evmtest.Tx{From: wallet, To: evmtest.USDC, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, wallet, stranger, 1_000_000)}})
	h.sync()
	balances := func() string {
		held, err := h.connector.Balances(t.Context(), h.session())
		if err != nil || held.Complete {
			t.Errorf("%+v %v", held, err)
		}
		var out []string
		for _, b := range held.Balances {
			if b.Currency != "ETH" {
				out = append(out, b.Amount.String()+" "+b.Currency)
			}
		}
		return strings.Join(out, ", ")
	}
	if got := balances(); got != "2 "+other+", 0 USDC" {
		t.Error(got)
	}
	h.Tokens[other] = nil // it returns nothing
	if got := balances(); got != "0 USDC" {
		t.Error(got)
	}
	h.FailAt(2, providertest.Changed(func(body []byte) []byte { // it reverts
		return []byte(strings.ReplaceAll(string(body), `"result":"0x`+evmtest.Word(big.NewInt(0))+`"`,
			`"error":{"code":3,"message":"execution reverted"}`))
	}))
	if got := balances(); got != "" {
		t.Error(got)
	}
}

func TestABalanceHasTheTimeOfItsBlock(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	h.Mine(start.Add(-time.Hour), nil)
	h.sync()
	h.Mine(start.Add(-time.Minute), nil)
	held, err := h.connector.Balances(t.Context(), h.session())
	if err != nil || !held.At.Equal(start.Add(-time.Hour)) {
		t.Errorf("%s %v", held.At, err)
	}
	h.cursor = ""
	if held, err = h.connector.Balances(t.Context(), h.session()); err != nil || !held.At.Equal(start.Add(-time.Minute)) {
		t.Errorf("before the first block is read: %s %v", held.At, err)
	}
}

func TestQuietYearsTakeFewRequests(t *testing.T) {
	t.Parallel()
	for _, filters := range []bool{true, false} {
		h := begin(t, evm.Ethereum, func(s *evmtest.Server) { s.Filters = filters })
		for range 20_000 {
			h.Mine(start, nil)
		}
		h.tx(evmtest.Tx{From: wallet, To: stranger, Value: evmtest.Wei("1")})
		if requests, added := h.sync(); requests > 60 || added != 2 {
			t.Errorf("%d requests and %d records", requests, added)
		}
		h.balanced()
	}
}

func TestReadingBeginsWithTheFirstBlock(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	h.Mine(start, nil)
	paid := h.tx(evmtest.Tx{From: wallet, To: stranger, Value: evmtest.Wei("1")})
	h.sync("first_block", "3")
	h.wants(paid, "-1.000021 ETH fee 0.000021 ETH")
	if len(h.read) != 1 {
		t.Errorf("%d records", len(h.read))
	}
}

func TestANodeThatIsBehindOrOfAnotherChain(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	h.Mine(start, nil)
	h.sync()
	before := h.cursor
	h.Drop(1)
	if requests, added := h.sync(); requests != 1 || added != 0 || h.cursor != before {
		t.Errorf("a node that is behind: %d requests and %d records", requests, added)
	}
	h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1")})
	h.Mine(start, nil)
	h.ChainID = 5
	elsewhere := h.session("rpc_url", h.URL+strings.TrimPrefix(h.Credentials()["rpc_url"], h.URL)+"?x=1")
	p, err := h.connector.Read(t.Context(), elsewhere, "transactions", h.cursor)
	if err == nil && p.More {
		_, err = h.connector.Read(t.Context(), elsewhere, "transactions", p.Cursor)
	}
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("another chain: %v", err)
	}
	other := h.session("address", stranger)
	if _, err := h.connector.Read(t.Context(), other, "transactions", h.cursor); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another wallet: %v", err)
	}
}

// What nodes return instead of an answer, as their providers document it.
func TestRefusalsAreToldApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fault.Kind{
		`{"code":-32005,"message":"daily request count exceeded, request rate limited"}`:        fault.Unavailable,
		`{"code":429,"message":"Your app has exceeded its compute units per second capacity."}`: fault.Unavailable,
		`{"code":-32000,"message":"header not found"}`:                                          fault.Unavailable,
		`{"code":-32000,"message":"invalid api key"}`:                                           fault.Unauthorized,
		`{"code":-32602,"message":"invalid argument 0: json: cannot unmarshal"}`:                fault.Conflict,
		`{"code":-32601,"message":"the method eth_getCode does not exist/is not available"}`:    fault.Conflict,
	} {
		h := begin(t, evm.Ethereum)
		h.FailAt(1, providertest.Status(200, "", "", `{"jsonrpc":"2.0","id":1,"error":`+text+`}`))
		if _, err := h.connector.Check(t.Context(), h.session()); fault.KindOf(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Coins that leave and come back in the same amount leave the balance as it was, but not the number of transactions.
func TestABalanceThatComesBackIsNoQuietRange(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum, func(s *evmtest.Server) { s.Filters = false })
	h.sync()
	paid := h.tx(evmtest.Tx{From: wallet, To: stranger, Value: evmtest.Wei("1")})
	back := h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1.000021")})
	h.sync()
	h.wants(paid, "-1.000021 ETH fee 0.000021 ETH")
	h.wants(back, "+1.000021 ETH")
}

// Blocks that are replaced at any request lead to another try or to records that are taken back, and never to wrong ones.
func TestBlocksThatAreReplacedWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	eachNode(t, func(h *history) {
		for n := range 12 {
			h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1"),
				Logs: []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 9)}})
			h.tx(evmtest.Tx{From: wallet, To: stranger, Value: evmtest.Wei("0.1")})
			h.BeforeRequest(n+1, func() {
				h.Mu.Lock()
				defer h.Mu.Unlock()
				h.Drop(1)
				h.Mine(start, nil)
				h.Mine(start, nil, evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("0.01")})
			})
			for range 100 {
				p, err := h.connector.Read(t.Context(), h.session(), "transactions", h.cursor)
				if err != nil {
					if fault.KindOf(err) != fault.Unavailable {
						t.Fatal(err)
					}
					continue
				}
				for _, id := range p.Removed {
					delete(h.read, id)
				}
				for _, r := range p.Records {
					h.read[r.ExternalID] = r
				}
				if h.cursor = p.Cursor; !p.More {
					break
				}
			}
			for range 14 { // until the blocks were replaced, if they were not yet
				h.sync()
			}
			h.Mine(start, nil)
			h.sync()
			h.balanced()
		}
	})
}

func TestContractsThatAnnounceTheCoinItselfAreNoTokens(t *testing.T) {
	t.Parallel()
	for contract, c := range map[string]evm.Connector{"0x0000000000000000000000000000000000001010": evm.Polygon,
		"0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000": evm.Optimism} {
		h := begin(t, c, func(s *evmtest.Server) { s.ChainID = map[evm.Connector]int64{evm.Polygon: 137, evm.Optimism: 10}[c] })
		paid := h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1"),
			Logs: []evmtest.Log{h.Transfer(contract, stranger, wallet, 1)}})
		h.sync()
		if got := h.of(paid); len(got) != 1 {
			t.Errorf("%v", got)
		}
	}
}

// A node that cannot tell the digits of a token now must not lead to amounts with other digits.
func TestDigitsThatCannotBeReadNowAreNotGuessed(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	got := h.tx(evmtest.Tx{From: stranger, To: evmtest.USDC, Logs: []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 1_000_000)}})
	failed := false
	for n := 1; n <= 12; n++ {
		h.FailAt(n, providertest.Changed(func(body []byte) []byte {
			if strings.Contains(string(body), evmtest.Word(big.NewInt(6))+`"`) && strings.Contains(string(body), "55534443") {
				failed = true
				return []byte(`[{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"something else"}},{"jsonrpc":"2.0","id":2,"result":"0x"}]`)
			}
			return body
		}))
	}
	p, err := h.connector.Read(t.Context(), h.session(), "transactions", "")
	if !failed || fault.KindOf(err) != fault.Conflict {
		t.Errorf("%t %v %+v", failed, err, p.Records)
	}
	h.sync()
	h.wants(got, "+1 USDC")
}
