package intake

import (
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// etherscan is the export of an address's transactions or internal transactions by Etherscan and explorers built on it:
// Value_IN and Value_OUT are seen from the address, the column names contain the coin, Status is set only for failed
// transactions, and "CurrentValue @ $…" is of no use for accounting. Older exports have Txhash and DateTime. The layout
// is the one that importers of these files test against.
var etherscan = &preset{
	name:    "etherscan",
	title:   "Etherscan transactions",
	columns: []string{"Transaction Hash|Txhash", "Blockno", "UnixTimestamp", "From", "To|TxTo", "Value_IN(*", "Value_OUT(*", "Status"},
	open: func(s *sheet, o *Options) interpreter {
		in := s.findPrefix("Value_IN(")
		coin := strings.TrimSuffix(s.name(in)[len("Value_IN("):], ")")
		x := newExplorer(s, o)
		x.coin = cleanCurrency(coin)
		x.in, x.out = pointColumn(in), pointColumn(s.findPrefix("Value_OUT("))
		x.fee, x.price = pointColumn(s.find("TxnFee("+coin+")")), pointColumn(s.findPrefix("Historical $Price/"))
		x.internal = s.find("ParentTxFrom") >= 0
		if x.chain == "" {
			x.chain = chainOf(x.coin)
		}
		return x.transaction
	},
}

// etherscanTokens is the export of an address's ERC-20 transfers. Amounts have commas between thousands, the value of
// the day may be N/A, and only the address determines the direction.
var etherscanTokens = &preset{
	name:  "etherscan_tokens",
	title: "Etherscan token transfers",
	columns: []string{"Transaction Hash|Txhash", "UnixTimestamp", "From", "To", "TokenValue|Value", "ContractAddress", "TokenName",
		"TokenSymbol"},
	open: func(s *sheet, o *Options) interpreter {
		x := newExplorer(s, o)
		x.in, x.price = pointColumn(s.find("TokenValue", "Value")), pointColumn(s.find("USDValueDayOfTx"))
		if x.chain == "" {
			x.chain = "ethereum"
		}
		return x.token
	},
}

// etherscanNFTs is the export of an address's ERC-721 transfers, one token each.
var etherscanNFTs = &preset{
	name:  "etherscan_nfts",
	title: "Etherscan NFT transfers",
	columns: []string{"Transaction Hash|Txhash", "UnixTimestamp", "From", "To", "ContractAddress", "TokenId|Token ID", "TokenName",
		"TokenSymbol"},
	open: func(s *sheet, o *Options) interpreter {
		x := newExplorer(s, o)
		x.in, x.price = numeric{index: -1}, numeric{index: -1}
		if x.chain == "" {
			x.chain = "ethereum"
		}
		return x.token
	},
}

// explorer holds the columns that the exports have in common.
type explorer struct {
	clock                       clock
	own                         map[string]bool
	chain, coin                 string
	internal                    bool
	hash, block, time, from, to int
	contract, tokenID           int
	tokenName, symbol           int
	status, errCode, method     int
	in, out, fee, price         numeric
}

func newExplorer(s *sheet, o *Options) *explorer {
	x := &explorer{clock: clock{layouts: []layout{{name: "unix", kind: layoutUnix}}}, chain: o.Mapping.Chain, own: map[string]bool{},
		hash: s.find("Transaction Hash", "Txhash"), block: s.find("Blockno"), time: s.find("UnixTimestamp"),
		from: s.find("From"), to: s.find("To", "TxTo"), contract: s.find("ContractAddress"), tokenID: s.find("TokenId", "Token ID"),
		tokenName: s.find("TokenName"), symbol: s.find("TokenSymbol"),
		status: s.find("Status"), errCode: s.find("ErrCode"), method: s.find("Method"),
	}
	for _, address := range o.OwnAddresses {
		x.own[strings.ToLower(strings.TrimSpace(address))] = true
	}
	return x
}

// chainOf returns the chain of a coin. ETH is the coin of several chains; the mapping can state another.
func chainOf(coin string) string {
	switch coin {
	case "BNB":
		return "bsc"
	case "POL", "MATIC":
		return "polygon"
	case "AVAX":
		return "avalanche"
	case "FTM":
		return "fantom"
	}
	return "ethereum"
}

// record reads what every row of an explorer export has.
func (x *explorer) record(e *entry) Record {
	r := Record{Line: e.row.line, Timestamp: e.instant(&x.clock, x.time, e.text(x.time)), Group: e.text(x.hash)}
	r.Crypto = &Crypto{Chain: x.chain, TransactionHash: r.Group, From: e.text(x.from), To: e.text(x.to), ContractAddress: e.text(x.contract)}
	if r.Group == "" {
		e.faultf(x.hash, "is empty")
	}
	if block := e.text(x.block); block != "" {
		n, err := strconv.ParseInt(block, 10, 64)
		if err != nil || n < 0 {
			e.faultf(x.block, "%q is not a block number", shorten(block))
		}
		r.Crypto.BlockNumber = n
	}
	return r
}

// transaction interprets a row of the transactions export. The sender pays the fee, also of a failed transaction.
func (x *explorer) transaction(e *entry) ([]Record, string) {
	r := x.record(e)
	r.Currency, r.ProviderCategory, r.Description = x.coin, e.text(x.method), e.text(x.method)
	in, out, fee := deref(e.number(x.in, x.coin)), deref(e.number(x.out, x.coin)), deref(e.number(x.fee, x.coin))
	failed := x.failed(e)
	if len(e.faults) > 0 {
		return nil, ""
	}
	if failed {
		r.Memo = strings.TrimSpace("failed: " + e.text(x.status) + " " + e.text(x.errCode))
	}
	sender, known := x.sender(e, in, out)
	if strings.EqualFold(r.Crypto.From, r.Crypto.To) { // Sent to itself: nothing moved, but the fee was paid.
		in, out, sender, known = money.Decimal{}, money.Decimal{}, true, true
	}
	switch {
	case in.Sign() < 0 || out.Sign() < 0 || fee.Sign() < 0:
		e.faultf(x.in.index, "a value is below zero")
		return nil, ""
	case !known:
		e.faultf(x.from, "moves nothing, so only the sender shows whether you paid the fee; state the address of the wallet")
		return nil, ""
	case failed && !sender:
		return nil, "it failed, so nothing arrived"
	case failed:
		in, out = money.Decimal{}, money.Decimal{}
	case !sender || x.internal: // Another address paid the fee.
		fee = money.Decimal{}
	}
	amount := in.Sub(out)
	r.ExternalID, e.idColumn = r.Group, x.hash
	if x.internal { // A transaction may have several internal ones.
		r.ExternalID = r.Group + ":" + e.contentID()
	}
	if amount.IsZero() && fee.IsZero() {
		return nil, "nothing moved: neither value nor fee"
	}
	records := splitLegs(r, amount, fee).records()
	x.setValues(e, records)
	return records, ""
}

// failed reports whether a transaction was reverted. Of the numeric codes only 0 in internal transactions (no error) is
// unambiguous.
func (x *explorer) failed(e *entry) bool {
	status := strings.ToLower(e.text(x.status))
	switch {
	case status == "", status == "success", status == "ok", status == "0" && x.internal:
		return false
	case strings.HasPrefix(status, "error"), strings.HasPrefix(status, "fail"), strings.HasPrefix(status, "revert"):
		return true
	}
	e.faultf(x.status, "%q does not show whether the transaction failed", shorten(status))
	return false
}

// sender reports whether the wallet sent the transaction, judged by its address or by the side that the value is on.
func (x *explorer) sender(e *entry, in, out money.Decimal) (sent, known bool) {
	switch {
	case out.Sign() > 0:
		return true, true
	case in.Sign() > 0:
		return false, true
	case len(x.own) > 0:
		return x.own[strings.ToLower(e.text(x.from))], true
	}
	return false, false
}

// setValues sets the value of records at the price of the day, rounded to the cent.
func (x *explorer) setValues(e *entry, records []Record) {
	price := x.dollars(e)
	if price == nil || price.Sign() <= 0 {
		return
	}
	for i := range records {
		r := &records[i]
		v := &Value{Gross: r.Quantity.Mul(*price).Round(2), Currency: "USD"}
		if r.Crypto.FeeQuantity != nil {
			v.Fee = r.Crypto.FeeQuantity.Mul(*price).Round(2)
		}
		v.Net = v.Gross.Sub(v.Fee)
		r.Value = v
	}
}

// dollars reads a price or value in dollars, which may be missing or N/A.
func (x *explorer) dollars(e *entry) *money.Decimal {
	if strings.EqualFold(e.text(x.price.index), "N/A") {
		return nil
	}
	return e.number(x.price, "USD")
}

// token interprets a row of the token transfers export.
func (x *explorer) token(e *entry) ([]Record, string) {
	r := x.record(e)
	symbol := cleanCurrency(e.text(x.symbol))
	if r.Currency = notFiat(symbol, e.text(x.contract)); r.Currency == "" {
		e.faultf(x.symbol, "neither symbol nor contract identifies the token")
	}
	r.Description, r.Crypto.TokenID = e.text(x.tokenName), e.text(x.tokenID)
	quantity := money.FromInt(1)
	if x.in.index >= 0 {
		quantity = deref(e.number(x.in, symbol))
	}
	value := x.dollars(e)
	from, to := strings.ToLower(r.Crypto.From), strings.ToLower(r.Crypto.To)
	switch in, out := x.own[to], x.own[from]; {
	case len(x.own) == 0:
		e.faultf(x.from, "the token export does not show the direction; state the address of the wallet")
	case from == to:
		return nil, "sender and recipient are the same address"
	case in && out:
		e.faultf(x.from, "both addresses are yours; state only the one this file was exported for")
	case !in && !out:
		e.faultf(x.from, "neither address belongs to the wallet; state the address this file was exported for")
	case quantity.Sign() < 0:
		e.faultf(x.in.index, "%s is below zero", quantity)
	}
	if len(e.faults) > 0 {
		return nil, ""
	}
	if quantity.IsZero() {
		return nil, "nothing moved: the quantity is zero"
	}
	r.ExternalID = r.Group + ":" + e.contentID()
	r.setAmounts(quantity, money.Decimal{}, x.own[to])
	if value != nil && value.Sign() > 0 {
		r.Value = &Value{Gross: *value, Net: *value, Currency: "USD"}
	}
	return []Record{r}, ""
}
