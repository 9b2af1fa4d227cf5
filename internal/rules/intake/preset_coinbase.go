package intake

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// coinbase is the transaction history report: three lines about the user, then the columns below. Reports from before
// 2024 have no ID and call the price "Spot Price"; those since 2026 add the addresses of sender and recipient. The
// layout and its quirks (signs of quantities and totals that vary by type and year, conversions on one row or on two)
// were taken from reports that users published with importers of Coinbase files.
var coinbase = &preset{
	name:  "coinbase",
	title: "Coinbase transaction history",
	columns: []string{"Timestamp", "Transaction Type", "Asset", "Quantity Transacted", "Price Currency|Spot Price Currency", "Subtotal",
		"Total (inclusive of fees and/or spread)|Total (inclusive of fees)", "Fees and/or Spread|Fees", "Notes"},
	open: func(s *sheet, o *Options) interpreter {
		c := &coinbaseRow{clock: o.Mapping.clock(), ignore: o.Mapping.IgnoreIDs,
			id: s.find("ID"), time: s.find("Timestamp"), kind: s.find("Transaction Type"), asset: s.find("Asset"),
			quantity: pointColumn(s.find("Quantity Transacted")), currency: s.find("Price Currency", "Spot Price Currency"),
			subtotal: pointColumn(s.find("Subtotal")),
			total:    pointColumn(s.find("Total (inclusive of fees and/or spread)", "Total (inclusive of fees)")),
			fees:     pointColumn(s.find("Fees and/or Spread", "Fees")), notes: s.find("Notes"),
			from: s.find("Sender Address"), to: s.find("Recipient Address"),
		}
		return c.interpret
	},
}

type coinbaseRow struct {
	clock                     clock
	ignore                    bool
	id, time, kind, asset     int
	currency, notes, from, to int
	quantity, subtotal        numeric
	total, fees               numeric
}

// coinbaseSlack is the number of cents by which subtotal, fee and total may differ, because Coinbase rounds each
// separately.
const coinbaseSlack = 1

// The type names that Coinbase uses for movements in and out; for other types only a minus before the quantity
// indicates the direction.
var (
	coinbaseIn = nameSet("Receive|Deposit|Staking Income|Reward Income|Rewards Income|Inflation Reward|Learning Reward|Coinbase Earn|" +
		"Interest payout|Subscription Rebate|Subscription Rebates (24 Hours)|Incentives Rewards Payout|Airdrop|" +
		"Exchange Withdrawal|Pro Withdrawal")
	coinbaseOut   = nameSet("Send|Withdrawal|Card Spend|Admin Debit|Donation|Exchange Deposit|Pro Deposit|Subscription")
	coinbaseTypes = map[string]string{
		"deposit": typeDeposit, "withdrawal": typeWithdrawal, "staking income": typeStaking, "inflation reward": typeStaking,
		"exchange deposit": typeInternal, "pro deposit": typeInternal, "exchange withdrawal": typeInternal, "pro withdrawal": typeInternal,
	}
)

func (c *coinbaseRow) interpret(e *entry) ([]Record, string) {
	kind := e.text(c.kind)
	r := Record{Line: e.row.line, ExternalID: e.id(c.id, c.ignore), Timestamp: e.instant(&c.clock, c.time, e.text(c.time)),
		Description: e.text(c.notes), Currency: e.currency(c.asset), ProviderCategory: kind, Type: coinbaseTypes[fold(kind)]}
	if r.Description == "" {
		r.Description = kind
	}
	if from, to := e.text(c.from), e.text(c.to); from+to != "" {
		r.Crypto = &Crypto{From: from, To: to}
	}
	quantity := e.number(c.quantity, r.Currency)
	if quantity == nil && len(e.faults) == 0 {
		e.faultf(c.quantity.index, "is empty")
	}
	price := e.currency(c.currency)
	sums := triple{gross: c.sum(e, c.subtotal, price), fee: e.number(c.fees, price), net: c.sum(e, c.total, price)}
	if len(e.faults) > 0 {
		return nil, ""
	}
	if quantity.IsZero() {
		return nil, "nothing moved: the quantity is zero"
	}
	switch word := fold(kind); {
	case strings.HasSuffix(word, "trade buy"), word == "buy":
		return c.trade(e, r, *quantity, sums, price, true), ""
	case strings.HasSuffix(word, "trade sell"), word == "sell":
		return c.trade(e, r, *quantity, sums, price, false), ""
	case word == "convert":
		return c.convert(e, r, *quantity, sums, price), ""
	case quantity.Sign() < 0 && !coinbaseIn[word], coinbaseOut[word]:
		return c.single(e, r, *quantity, sums, price, false), ""
	case coinbaseIn[word] && quantity.Sign() > 0:
		return c.single(e, r, *quantity, sums, price, true), ""
	}
	e.faultf(c.kind, "%q with a quantity of %s does not tell the direction; enter this transaction by hand", shorten(kind), quantity)
	return nil, ""
}

// sum reads an amount without its sign, which follows no rule.
func (c *coinbaseRow) sum(e *entry, column numeric, currency string) *money.Decimal {
	n := e.number(column, currency)
	if n == nil {
		return nil
	}
	absolute := n.Abs()
	return &absolute
}

// noteRoundedFee adds a memo if the separately rounded sums imply a fee other than the stated one.
func noteRoundedFee(r *Record, stated *money.Decimal) {
	if r.Value != nil && stated != nil && !r.Value.Fee.Equal(*stated) {
		r.Memo = fmt.Sprintf("Coinbase states a fee of %s %s; its sums make it %s.", stated, r.Value.Currency, r.Value.Fee)
	}
}

// value returns the value of a leg, or adds a fault to the row.
func (c *coinbaseRow) value(e *entry, t triple, currency string) *Value {
	if !isFiat(currency) {
		return nil
	}
	v, err := t.value(currency, coinbaseSlack)
	if err != nil {
		e.faultf(c.total.index, "%v", err)
	}
	return v
}

// single returns the record for a movement of one asset. The total of an outflow includes the fee, that of a reward the
// commission.
func (c *coinbaseRow) single(e *entry, r Record, quantity money.Decimal, sums triple, price string, in bool) []Record {
	v := c.value(e, triple{gross: sums.net, fee: sums.fee, net: sums.gross}, price)
	if isFiat(r.Currency) {
		return c.fiat(e, r, quantity.Abs(), deref(sums.fee), price, in)
	}
	r.setAmounts(quantity.Abs(), money.Decimal{}, in)
	r.Value = v
	noteRoundedFee(&r, sums.fee)
	return []Record{r}
}

// fiat returns the records of a deposit or withdrawal of money, whose quantity is the change of the balance.
func (c *coinbaseRow) fiat(e *entry, r Record, quantity, fee money.Decimal, price string, in bool) []Record {
	switch {
	case fee.Sign() < 0, !in && fee.Cmp(quantity) > 0:
		e.faultf(c.fees.index, "the fee %s does not fit the quantity %s", fee, quantity)
		return nil
	case !fee.IsZero() && price != r.Currency:
		e.faultf(c.fees.index, "the fee is in %s and the quantity in %s", price, r.Currency)
		return nil
	}
	if in {
		return splitLegs(r, quantity.Add(fee), fee).records()
	}
	return splitLegs(r, quantity.Sub(fee).Neg(), fee).records()
}

// trade returns the legs of a purchase or sale of the asset against the price currency or the asset named in the notes.
func (c *coinbaseRow) trade(e *entry, r Record, quantity money.Decimal, sums triple, price string, buy bool) []Record {
	quote, paid := price, (*money.Decimal)(nil)
	if n, ok := parseNotes(r.Description); ok && n.quote != price {
		quote, paid = n.quote, n.quoteQuantity(sums.fee)
		if paid == nil {
			e.faultf(c.notes, "does not say how much %s the fee was; enter this trade by hand", n.quote)
			return nil
		}
	}
	if sums.gross == nil || sums.net == nil {
		e.faultf(c.total.index, "a trade needs a subtotal and a total")
		return nil
	}
	r.Type, r.Group = typeSwap, r.ExternalID
	asset, other := r, r
	other.Currency, other.Crypto = quote, nil
	asset.setAmounts(quantity.Abs(), money.Decimal{}, buy)
	asset.Value = c.value(e, triple{gross: sums.gross}, price)
	// The fee is taken from the money: added when buying, deducted from the proceeds when selling.
	whole := triple{gross: sums.gross, fee: sums.fee, net: sums.net}
	if buy {
		whole.gross, whole.net = sums.net, sums.gross
	}
	v := c.value(e, whole, price)
	if v == nil && len(e.faults) == 0 {
		e.faultf(c.currency, "%q is not a fiat currency", price)
	}
	if len(e.faults) > 0 {
		return nil
	}
	if paid == nil {
		paid = &v.Gross
	}
	other.setAmounts(*paid, money.Decimal{}, !buy)
	other.Value = v
	noteRoundedFee(&other, sums.fee)
	return orderLegs(asset, other)
}

// orderLegs returns the outgoing leg first and gives the legs different ids.
func orderLegs(a, b Record) []Record {
	if a.Inflow {
		a, b = b, a
	}
	a.ExternalID += legSuffix(false)
	b.ExternalID += legSuffix(true)
	return []Record{a, b}
}

// convert returns the legs of a swap, which is either one row with the other leg in the notes, or two rows with the
// same id.
func (c *coinbaseRow) convert(e *entry, r Record, quantity money.Decimal, sums triple, price string) []Record {
	r.Type, r.Group = typeSwap, r.ExternalID
	given := triple{gross: sums.net, fee: sums.fee, net: sums.gross}
	if sums.fee == nil && sums.gross != nil && sums.net != nil && sums.net.Cmp(*sums.gross) < 0 {
		given.net = nil // Worth more after than before, so there was no fee.
	}
	n, ok := parseConvert(r.Description)
	if !ok {
		if strings.HasPrefix(r.Description, "Converted") && quantity.Sign() > 0 {
			e.faultf(c.notes, "%q does not say what it was converted to", shorten(r.Description))
		}
		r.setAmounts(quantity.Abs(), money.Decimal{}, quantity.Sign() > 0)
		r.Value = c.value(e, given, price)
		noteRoundedFee(&r, sums.fee)
		r.ExternalID += legSuffix(r.Inflow)
		return []Record{r}
	}
	from, to := n.base == r.Currency && n.quantity.Equal(quantity.Abs()), n.quote == r.Currency && n.amount.Equal(quantity.Abs())
	if !from && !to {
		e.faultf(c.notes, "%q does not describe a conversion of %s %s", shorten(r.Description), quantity.Abs(), r.Currency)
	}
	out, in := r, r
	out.Currency, in.Currency = n.base, n.quote
	out.setAmounts(n.quantity, money.Decimal{}, false)
	in.setAmounts(n.amount, money.Decimal{}, true)
	out.Value = c.value(e, given, price)
	noteRoundedFee(&out, sums.fee)
	in.Value = c.value(e, triple{gross: sums.gross}, price)
	return orderLegs(out, in)
}

// coinbaseNotes is a trade as described in the notes.
type coinbaseNotes struct {
	quantity money.Decimal
	base     string
	amount   money.Decimal
	quote    string
	rate     *money.Decimal
}

var (
	boughtNotes    = regexp.MustCompile(`^(?:Bought|Sold) ([\d.,]+) (\S+) for [^\d]?([\d.,]+) (\S+)(?: on \S+ at ([\d.,]+) \S+)?\s*$`)
	convertedNotes = regexp.MustCompile(`^Converted ([\d.,]+) (\S+) to ([\d.,]+) (\S+)\s*$`)
)

func parseNotes(text string) (coinbaseNotes, bool) { return matchNotes(boughtNotes, text) }

func parseConvert(text string) (coinbaseNotes, bool) { return matchNotes(convertedNotes, text) }

func matchNotes(pattern *regexp.Regexp, text string) (coinbaseNotes, bool) {
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return coinbaseNotes{}, false
	}
	n := coinbaseNotes{base: cleanCurrency(found[2]), quote: cleanCurrency(found[4])}
	for i, into := range []*money.Decimal{1: &n.quantity, 3: &n.amount} {
		if into == nil {
			continue
		}
		parsed, err := parseNumber(found[i], markPoint)
		if err != nil || parsed.value.IsZero() {
			return coinbaseNotes{}, false
		}
		*into = parsed.value
	}
	if len(found) > 5 && found[5] != "" {
		if parsed, err := parseNumber(found[5], markPoint); err == nil {
			n.rate = &parsed.value
		}
	}
	return n, true
}

// quoteQuantity returns how much of the other asset moved, including the fee; nil if the notes do not determine it. The
// amount in the notes includes the fee unless it equals quantity times rate.
func (n coinbaseNotes) quoteQuantity(fee *money.Decimal) *money.Decimal {
	if fee == nil || fee.IsZero() {
		return &n.amount
	}
	if n.rate == nil || n.quantity.Mul(*n.rate).Equal(n.amount) {
		return nil
	}
	return &n.amount
}
