package coinbase

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// row is a movement of a wallet. Its amount is the change of the balance, below zero for an outflow.
type row struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Status    string `json:"status"`
	Amount    amount `json:"amount"`
	CreatedAt string `json:"created_at"`

	Network *network `json:"network"`
	To      *party   `json:"to"`
	From    *party   `json:"from"`

	Fill  *fill  `json:"advanced_trade_fill"`
	Trade *trade `json:"trade"`
	Buy   *trade `json:"buy"`
	Sell  *trade `json:"sell"`

	original json.RawMessage
	at       time.Time
	err      error // why it cannot be read
}

// network is what a row says about the chain.
type network struct {
	Hash string  `json:"hash"`
	Name string  `json:"network_name"`
	Fee  *amount `json:"transaction_fee"` // contained in the amount
}

// party is the other side of a row.
type party struct {
	Address string `json:"address"`
}

// fill is what a row says about the execution of an order. Its commission is not contained in the amounts.
type fill struct {
	OrderID    string            `json:"order_id"`
	ProductID  string            `json:"product_id"`
	Commission *provider.Decimal `json:"commission"`
}

// trade is what a row says about a purchase, a sale or a conversion. Its fee is contained in the amounts.
type trade struct {
	ID       string  `json:"id"`
	Subtotal *amount `json:"subtotal"`
	Total    *amount `json:"total"`
}

var errCurrency = errors.New("it has no currency")

// parseRow reads a row. If it cannot be read, the row has an error, and an id and a time as far as it states them.
func parseRow(original json.RawMessage) row {
	r := row{}
	if err := json.Unmarshal(original, &r); err != nil { // the id and the time may be in order
		var rest struct {
			ID        json.RawMessage `json:"id"`
			CreatedAt json.RawMessage `json:"created_at"`
		}
		_ = json.Unmarshal(original, &rest)
		_ = json.Unmarshal(rest.ID, &r.ID)
		_ = json.Unmarshal(rest.CreatedAt, &r.CreatedAt)
		r.err = fmt.Errorf("it cannot be understood: %w", err)
	}
	r.original = original
	at, err := time.Parse(time.RFC3339, r.CreatedAt)
	switch {
	case r.ID == "":
		r.err = cmp.Or(r.err, errNoID)
	case err != nil:
		r.err = cmp.Or(r.err, fmt.Errorf("%q is no time", provider.Clean(r.CreatedAt)))
	case provider.Symbol(r.Amount.Currency) == "":
		r.err = cmp.Or(r.err, errCurrency)
	}
	r.at = at.UTC()
	return r
}

// The statuses that do not change any more. Coinbase may add others to those that do.
const (
	statusCompleted = "completed"
	statusFailed    = "failed"
	statusExpired   = "expired"
	statusCanceled  = "canceled"
)

// open reports whether a movement may still take place.
func (r row) open() bool {
	return r.err == nil && !slices.Contains([]string{statusCompleted, statusFailed, statusExpired, statusCanceled}, r.Status)
}

// detail returns what a row says about a purchase, a sale or a conversion, perhaps nothing.
func (r row) detail() trade {
	for _, t := range []*trade{r.Trade, r.Buy, r.Sell} {
		if t != nil {
			return *t
		}
	}
	return trade{}
}

// records returns the records of a completed movement, none if nothing moved.
func (r row) records() []intake.Record {
	out := intake.Record{ExternalID: r.ID, Timestamp: r.at, Currency: provider.Symbol(r.Amount.Currency), ProviderCategory: r.Type,
		Description: strings.ReplaceAll(r.Type, "_", " "), Type: r.kind(), Group: r.detail().ID, Crypto: r.chain()}
	if r.Fill != nil {
		out.Group = r.Fill.OrderID
	}
	moved, fee := r.Amount.Amount.Decimal, money.Decimal{}
	if n := r.Network; n != nil && n.Fee != nil && provider.Symbol(n.Fee.Currency) == out.Currency && moved.Sign() < 0 &&
		n.Fee.Amount.Sign() > 0 && n.Fee.Amount.Cmp(moved.Abs()) <= 0 {
		fee = n.Fee.Amount.Decimal
		moved = moved.Add(fee) // the amount contains the fee
	}
	all, _ := intake.Movement(out, moved, fee)
	for i := range all {
		all[i].Value = cmp.Or(all[i].Value, r.value())
	}
	return append(all, r.commission()...)
}

// commission returns the record of the commission of a fill, in the quote currency. Both parts of a fill state it; it is taken from the
// part in the base currency, which always has it.
func (r row) commission() []intake.Record {
	base, quote := r.product()
	if r.Fill == nil || r.Fill.Commission == nil || base == quote || provider.Symbol(r.Amount.Currency) != base {
		return nil
	}
	all, _ := intake.Movement(intake.Record{ExternalID: r.ID + ":fee", Timestamp: r.at, Currency: quote, ProviderCategory: r.Type,
		Description: "commission", Type: "FEE", Group: r.Fill.OrderID}, r.Fill.Commission.Neg(), money.Decimal{})
	return all
}

// product returns the assets of the product of a fill, such as BTC and USD, or two empty texts.
func (r row) product() (base, quote string) {
	if r.Fill == nil {
		return "", ""
	}
	base, quote, found := strings.Cut(r.Fill.ProductID, "-")
	if base, quote = provider.Symbol(base), provider.Symbol(quote); !found || base == "" || quote == "" || strings.Contains(quote, "-") {
		return "", ""
	}
	return base, quote
}

// value returns what a purchase or sale was worth with its fee, if the row states it in fiat money. That is the only place where it is
// stated if the money has not moved through a wallet, such as with a card.
func (r row) value() *intake.Value {
	t := r.detail()
	if t.Subtotal == nil || t.Total == nil || t.Subtotal.Currency != t.Total.Currency || !money.IsFiat(t.Total.Currency) ||
		t.Total.Currency == r.Amount.Currency {
		return nil
	}
	v := intake.Value{Gross: t.Total.Amount.Decimal, Net: t.Subtotal.Amount.Decimal, Currency: t.Total.Currency}
	if r.Amount.Amount.Sign() < 0 { // the fee of a sale is taken from what it brings
		v.Gross, v.Net = v.Net, v.Gross
	}
	v.Fee = v.Gross.Sub(v.Net)
	if v.Fee.Sign() < 0 || v.Net.Sign() <= 0 {
		return nil
	}
	return &v
}

// chain returns what a row says about the chain, nil if nothing.
func (r row) chain() *intake.Crypto {
	c := intake.Crypto{}
	if r.Network != nil {
		c.Chain, c.TransactionHash = r.Network.Name, r.Network.Hash
	}
	if r.To != nil {
		c.To = r.To.Address
	}
	if r.From != nil {
		c.From = r.From.Address
	}
	if c == (intake.Crypto{}) {
		return nil
	}
	return &c
}

// kinds are the types of movements that are certain. Others are for a person to decide.
var kinds = map[string]string{
	"buy": "SWAP", "sell": "SWAP", "trade": "SWAP",
	"receive": "DEPOSIT", "fiat_deposit": "DEPOSIT", "fiat_withdrawal": "WITHDRAWAL",
	"staking_reward": "STAKING_REWARD", "inflation_reward": "STAKING_REWARD",
	"staking_transfer": "INTERNAL TRANSFER", "unstaking_transfer": "INTERNAL TRANSFER", "transfer": "INTERNAL TRANSFER",
	"vault_withdrawal": "INTERNAL TRANSFER", "exchange_deposit": "INTERNAL TRANSFER", "exchange_withdrawal": "INTERNAL TRANSFER",
	"pro_deposit": "INTERNAL TRANSFER", "pro_withdrawal": "INTERNAL TRANSFER", "intx_deposit": "INTERNAL TRANSFER",
	"intx_withdrawal": "INTERNAL TRANSFER",
}

// kind returns the type of a movement, and an empty text if it is not certain.
func (r row) kind() string {
	in := r.Amount.Amount.Sign() > 0
	onChain := r.Network != nil && r.Network.Hash != ""
	switch {
	case r.Type == "advanced_trade_fill":
		if base, quote := r.product(); base != quote {
			return "SWAP"
		}
		return ""
	case r.Type == "send" && in && onChain: // until 2024, all that arrived was called send, rewards too
		return "DEPOSIT"
	case r.Type == "send" && !in && (onChain || r.To != nil): // without a recipient, it stays within the account
		return "WITHDRAWAL"
	}
	kind := kinds[r.Type]
	if kind == "DEPOSIT" && !in || kind == "WITHDRAWAL" && in {
		return "" // such as one that came back
	}
	return kind
}
