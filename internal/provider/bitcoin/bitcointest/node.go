package bitcointest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Node shows the chain of a node of btcd, which it asks through JSON-RPC, as Esplora does.
type Node struct {
	URL, User, Password string
	// AddressOf returns the address of the main network for a script in hexadecimal digits.
	AddressOf func(script string) string

	cache map[string]nodeBlock
}

// nodeBlock is a block as btcd states it.
type nodeBlock struct {
	Hash     string   `json:"hash"`
	Height   int      `json:"height"`
	Time     int64    `json:"time"`
	Previous string   `json:"previousblockhash"`
	Txs      []nodeTx `json:"tx"`
	Raw      []nodeTx `json:"rawtx"`
}

// nodeTx is a transaction as btcd states it.
type nodeTx struct {
	ID string `json:"txid"`
	In []struct {
		Coinbase string `json:"coinbase"`
		ID       string `json:"txid"`
		N        int    `json:"vout"`
	} `json:"vin"`
	Out []struct {
		Value  json.Number `json:"value"`
		Script struct {
			Hex string `json:"hex"`
		} `json:"scriptPubKey"`
	} `json:"vout"`
}

// Call asks the node.
func (n *Node) Call(into any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(row{"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, n.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.SetBasicAuth(n.User, n.Password)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return fmt.Errorf("%s: %s", response.Status, content)
	}
	if answer.Error != nil {
		return errors.New(answer.Error.Message)
	}
	return json.Unmarshal(answer.Result, into)
}

// chain returns the blocks of the best chain, the first one first.
func (n *Node) chain() (out []nodeBlock, err error) {
	if n.cache == nil {
		n.cache = map[string]nodeBlock{}
	}
	var hash string
	if err := n.Call(&hash, "getbestblockhash"); err != nil {
		return nil, err
	}
	for hash != "" && strings.Trim(hash, "0") != "" {
		b, ok := n.cache[hash]
		if !ok {
			if err := n.Call(&b, "getblock", hash, 2); err != nil {
				return nil, err
			}
			b.Txs = append(b.Txs, b.Raw...)
			n.cache[hash] = b
		}
		out = append(out, b)
		hash = b.Previous
	}
	slices.Reverse(out)
	return out, nil
}

// ServeHTTP answers a request as Esplora does. It shows the chain of the node as that of a fake.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	blocks, err := n.chain()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	shown := New()
	shown.blocks = nil
	for _, b := range blocks {
		made := block{id: b.Hash, at: time.Unix(b.Time, 0)}
		if b.Height == 0 {
			made.id, b.Txs = Genesis, nil
		}
		for _, t := range b.Txs {
			made.txs = append(made.txs, n.show(shown, t))
		}
		shown.blocks = append(shown.blocks, made)
	}
	shown.Answer(w, r, nil)
}

// show returns a transaction of the node as one of the fake, and remembers its outputs.
func (n *Node) show(shown *Server, t nodeTx) Tx {
	out := Tx{id: t.ID}
	for _, in := range t.In {
		if in.Coinbase != "" {
			out.Coinbase = true
			continue
		}
		out.Spends = append(out.Spends, Point{in.ID, in.N})
	}
	for i, o := range t.Out {
		if _, err := hex.DecodeString(o.Script.Hex); err != nil {
			panic(err)
		}
		value, err := o.Value.Float64() // btcd states amounts as floating-point numbers, also very small ones as 5e-05
		if err != nil {
			panic(err)
		}
		amount := money.MustParse(fmt.Sprintf("%.8f", value))
		coin := Coin{Address: n.AddressOf(o.Script.Hex), Script: o.Script.Hex, Value: satoshis(amount.String())}
		out.Out = append(out.Out, coin)
		shown.coins[Point{t.ID, i}] = coin
	}
	return out
}
