package bitcoin

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const (
	// earliest is the time of the first block.
	earliest = 1231006505
	// satoshisMax is more than there will ever be.
	satoshisMax = 21_000_000 * 100_000_000
	// fee is the type of a transaction that moved nothing to others.
	typeFee = "FEE"
	// The categories of transactions that a person has to look at.
	collaborative = "collaborative"
	coinbase      = "coinbase"
)

// satoshi is one hundred millionth of a bitcoin.
var satoshi = money.MustParse("0.00000001")

// transaction is a transaction of a block, and the block.
type transaction struct {
	ID     string `json:"txid"`
	Status struct {
		Confirmed bool   `json:"confirmed"`
		Height    int64  `json:"block_height"`
		Hash      string `json:"block_hash"`
		Time      int64  `json:"block_time"`
	} `json:"status"`

	original json.RawMessage
}

// at returns the time of the block.
func (t transaction) at() time.Time { return time.Unix(t.Status.Time, 0).UTC() }

// coins is an output of a transaction.
type coins struct {
	Script  *string `json:"scriptpubkey"`
	Address string  `json:"scriptpubkey_address"`
	Value   *int64  `json:"value"`
}

// Why a transaction is left out.
var (
	errForm   = errors.New("it is not in the form of Esplora's transactions")
	errAmount = errors.New("it does not state the amounts and scripts of all inputs and outputs")
	errSum    = errors.New("its inputs are not its outputs and its fee")
)

// parseTransaction returns a transaction with its place in the chain.
func parseTransaction(original json.RawMessage) (t transaction, err error) {
	if err := json.Unmarshal(original, &t); err != nil {
		return t, err
	}
	if !isHash(t.ID) || !t.Status.Confirmed || t.Status.Height <= 0 || !isHash(t.Status.Hash) || t.Status.Time < earliest {
		return t, errors.New("a transaction has no id or no block")
	}
	t.original = original
	return t, nil
}

// sums is what a transaction moves, in satoshis, seen from a wallet.
type sums struct {
	in, out       int64 // of the wallet
	others        int64 // what others receive
	fee           int64
	paidIn, mined bool // others have paid in; the coins are new
	from, to      []string
	home          place           // the first place of the wallet that takes part
	found         bool            // a place takes part
	changes       map[place]int64 // by place of the wallet
}

// sum returns what a transaction moves.
func (w *wallet) sum(original json.RawMessage) (out sums, err error) {
	var body struct {
		Fee *int64 `json:"fee"`
		In  []struct {
			Coinbase bool   `json:"is_coinbase"`
			Prevout  *coins `json:"prevout"`
		} `json:"vin"`
		Out []coins `json:"vout"`
	}
	if json.Unmarshal(original, &body) != nil {
		return out, errForm
	}
	out.changes = map[place]int64{}
	var others, own, payers []string
	paid, received := int64(0), int64(0)
	for _, in := range body.In {
		switch {
		case in.Coinbase:
			out.mined = true
			continue
		case !in.Prevout.stated():
			return out, errAmount
		}
		paid += *in.Prevout.Value
		payers = append(payers, in.Prevout.Address)
		if w.takes(&out, *in.Prevout.Script, -*in.Prevout.Value) {
			out.in += *in.Prevout.Value
		} else {
			out.paidIn = true
		}
	}
	for _, c := range body.Out {
		if !c.stated() {
			return out, errAmount
		}
		received += *c.Value
		if w.takes(&out, *c.Script, *c.Value) {
			out.out += *c.Value
			own = append(own, c.Address)
		} else {
			out.others += *c.Value
			others = append(others, c.Address)
		}
	}
	out.paidIn = out.paidIn || out.mined
	out.from, out.to = payers, own
	if !out.paidIn {
		out.to = others
	}
	switch {
	case body.Fee == nil || len(body.In) == 0 || len(body.Out) == 0:
		return out, errAmount
	case !out.mined && (*body.Fee < 0 || paid-received != *body.Fee):
		return out, errSum
	}
	out.fee = *body.Fee
	return out, nil
}

// stated reports whether coins have a script and an amount.
func (c *coins) stated() bool {
	return c != nil && c.Script != nil && c.Value != nil && *c.Value >= 0 && *c.Value <= satoshisMax
}

// takes reports whether a script is one of the wallet, and remembers its place.
func (w *wallet) takes(s *sums, script string, value int64) bool {
	at, ok := w.places[script]
	if ok {
		if !s.found || at.before(s.home) {
			s.home, s.found = at, true
		}
		s.changes[at] += value
	}
	return ok
}

// record returns the record of a transaction, and nil if it moved nothing. If the wallet has paid all inputs, what others receive left it,
// together with the fee; coins that come back are not income. Otherwise the record states the difference.
func (t transaction) record(s sums) *provider.Record {
	r := intake.Record{ExternalID: t.ID, Group: t.ID, Timestamp: t.at(), Currency: symbol,
		Crypto: &intake.Crypto{Chain: chain, TransactionHash: t.ID, BlockNumber: t.Status.Height, From: only(s.from), To: only(s.to),
			AssetType: symbol}}
	change := s.out - s.in
	switch {
	case !s.found || change == 0:
		return nil
	case !s.paidIn && s.others == 0:
		r.Type = typeFee
	case !s.paidIn && s.fee > 0:
		charged := bitcoins(s.fee)
		r.Crypto.FeeQuantity, r.Crypto.FeeAssetType = &charged, symbol
	case s.mined:
		r.ProviderCategory = coinbase
	case s.paidIn && s.in > 0:
		r.ProviderCategory = collaborative
		r.Memo = "Others have paid some of the inputs of this transaction. The amount is what it changed in the wallet, fees included."
	}
	r.Inflow = change > 0
	quantity := bitcoins(max(change, -change))
	r.Quantity = &quantity
	return &provider.Record{Record: r, Original: t.original}
}

// bitcoins returns an amount in satoshis as bitcoins.
func bitcoins(satoshis int64) money.Decimal { return money.FromInt(satoshis).Mul(satoshi) }

// only returns the address that all of several are, and an empty text if there are different ones.
func only(addresses []string) string {
	if len(addresses) == 0 || slices.ContainsFunc(addresses, func(a string) bool { return a != addresses[0] }) {
		return ""
	}
	return addresses[0]
}
