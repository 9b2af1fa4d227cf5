package evm_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/provider/evm"
	"github.com/bursarhq/bursar/internal/provider/evm/evmtest"
	"github.com/bursarhq/bursar/internal/provider/providertest"
)

func TestRangesBecomeLongerAgainIfTheNodeAllowsIt(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum, func(s *evmtest.Server) { s.Range = 3 })
	for range 30 {
		h.Mine(start, nil)
	}
	h.sync()
	h.Range = 0
	for range 20_000 {
		h.Mine(start, nil)
	}
	if requests, _ := h.sync(); requests > 400 {
		t.Errorf("%d requests", requests)
	}
}

func TestANodeThatLearnsWhatIsFinalIsAskedAgain(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum, func(s *evmtest.Server) { s.Final = false })
	for range 70 {
		h.Mine(start, nil)
	}
	h.sync()
	h.Final = true
	pay := func() { h.tx(evmtest.Tx{From: stranger, To: wallet, Value: evmtest.Wei("1")}) }
	pay()
	if _, added := h.sync(); added != 0 {
		t.Errorf("%d records of a block that is not deep enough", added)
	}
	before := h.cursor
	h.now.Advance(24 * time.Hour)
	if _, added := h.sync(); added != 1 {
		t.Errorf("%d records after a day", added)
	}
	h.cursor = before
	h.now.Advance(-24 * time.Hour)
	other := h.URL + strings.TrimPrefix(h.Credentials()["rpc_url"], h.URL) + "?x=1"
	if _, added := h.sync("rpc_url", other); added != 1 {
		t.Errorf("%d records of another node", added)
	}
}

// padded answers with more than is read if the answer contains a text and is long.
func (h *history) padded(requests int, text string, longest int) {
	for n := range requests {
		h.FailAt(n+1, providertest.Changed(func(body []byte) []byte {
			if bytes.Contains(body, []byte(text)) && len(body) > longest {
				return append(bytes.Repeat([]byte(" "), 16<<20+1), body...)
			}
			return body
		}))
	}
}

func TestABlockWhoseTracesAreTooLargeIsAGap(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(h *history){
		"an answer that is too large": func(h *history) { h.padded(40, "txHash", 0) },
		"a node that says so": func(h *history) {
			for n := range 40 {
				h.FailAt(n+1, providertest.Changed(func(body []byte) []byte {
					if bytes.Contains(body, []byte("txHash")) {
						return []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32008,"message":"Response is too big: response size exceeded"}}`)
					}
					return body
				}))
			}
		},
	} {
		h := begin(t, evm.Ethereum, func(s *evmtest.Server) { s.Filters = false })
		h.sync()
		paid := h.tx(evmtest.Tx{From: wallet, To: exchange, Value: evmtest.Wei("2"), Calls: []evmtest.Call{
			{From: exchange, To: wallet, Value: evmtest.Wei("0.5")}}})
		refuse(h)
		if _, added := h.sync(); added != 1 || len(h.gaps) != 1 || !h.gaps[0].From.Equal(start.Add(-100*time.Hour)) ||
			!h.gaps[0].Through.Equal(h.gaps[0].From) || !strings.Contains(h.gaps[0].Reason, "too large") {
			t.Errorf("%s: %d records, %+v", name, added, h.gaps)
		}
		h.wants(paid, "-2.000021 ETH fee 0.000021 ETH")
		h.Mine(start, nil)
		if h.sync(); len(h.gaps) != 1 {
			t.Errorf("%s: %+v", name, h.gaps)
		}
	}
}

func TestARangeWithTooLargeAnAnswerIsDivided(t *testing.T) {
	t.Parallel()
	h := begin(t, evm.Ethereum)
	for range 60 {
		h.tx(evmtest.Tx{From: stranger, To: wallet, Value: big.NewInt(1), Logs: []evmtest.Log{h.Transfer(evmtest.USDC, stranger, wallet, 1)}})
	}
	h.padded(300, "logIndex", 20_000)
	if _, added := h.sync(); added != 1+2*60 {
		t.Errorf("%d records", added)
	}
	h.balanced()
}
