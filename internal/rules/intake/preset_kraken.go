package intake

import (
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
)

// kraken is ledgers.csv of History, Export: one row for each change of a balance. Older exports have neither wallet nor
// subclass, newer ones add the value in USD and the currency of the fee. The amount is before the fee, whatever the
// sign: the balance changes by amount less fee. Unsettled entries have no txid and no balance, and appear again with
// both once settled. The layout is the one that Kraken's support pages describe and importers of ledgers.csv test
// against.
var kraken = &preset{
	name:    "kraken",
	title:   "Kraken ledgers",
	columns: []string{"txid", "refid", "time", "type", "aclass", "asset", "amount", "fee", "balance"},
	open: func(s *sheet, o *Options) interpreter {
		k := &krakenRow{clock: o.Mapping.clock(), id: s.find("txid"), ref: s.find("refid"), time: s.find("time"), kind: s.find("type"),
			subtype: s.find("subtype"), asset: s.find("asset"), wallet: s.find("wallet"), amount: pointColumn(s.find("amount")),
			fee: pointColumn(s.find("fee")), feeCurrency: s.find("feecurrency"), usd: pointColumn(s.find("amountusd")),
			feeUSD: pointColumn(s.find("feeusd")), balance: pointColumn(s.find("balance"))}
		return k.interpret
	},
}

type krakenRow struct {
	clock                    clock
	id, ref, time, kind      int
	subtype, asset, wallet   int
	feeCurrency              int
	amount, fee, usd, feeUSD numeric
	balance                  numeric
}

func (k *krakenRow) interpret(e *entry) ([]Record, string) {
	id := e.text(k.id)
	e.idColumn = k.id
	if id == "" {
		return nil, "Kraken had not settled it yet: it has no txid, and appears again with one"
	}
	entry := KrakenEntry{ID: id, RefID: e.text(k.ref), At: e.instant(&k.clock, k.time, e.text(k.time)), Type: e.text(k.kind),
		Subtype: e.text(k.subtype), Asset: e.text(k.asset)}
	r := entry.record()
	r.Line, r.Memo = e.row.line, e.text(k.wallet)
	if r.Currency == "" {
		e.faultf(k.asset, "%q is not an asset", shorten(e.text(k.asset)))
	}
	amount := e.number(k.amount, "")
	fee := deref(e.number(k.fee, ""))
	if amount == nil && len(e.faults) == 0 {
		e.faultf(k.amount.index, "is empty")
	}
	if len(e.faults) > 0 {
		return nil, ""
	}
	r.Type = krakenType(fold(entry.Type), fold(entry.Subtype), amount.Sign())
	e.stateBalance(k.balance, e.text(k.wallet)+" "+e.text(k.asset), r.Currency)
	if paidIn := KrakenAsset(e.text(k.feeCurrency)); paidIn != "" && paidIn != r.Currency && !fee.IsZero() {
		return k.foreignFee(r, *amount, fee, paidIn), ""
	}
	records, skipped := Movement(r, *amount, fee)
	if len(records) == 1 {
		k.value(e, &records[0])
	}
	return records, skipped
}

// KrakenEntry is an entry of the ledger of Kraken, as its API states it.
type KrakenEntry struct {
	ID, RefID            string
	At                   time.Time
	Type, Subtype, Asset string
	Amount, Fee          money.Decimal
}

// record returns what does not depend on the amount.
func (k KrakenEntry) record() Record {
	r := Record{ExternalID: k.ID, Timestamp: k.At, Currency: KrakenAsset(k.Asset), ProviderCategory: k.Type, Description: k.Type,
		Group: k.RefID}
	if k.Subtype != "" {
		r.ProviderCategory, r.Description = k.Type+"/"+k.Subtype, k.Type+" "+k.Subtype
	}
	return r
}

// Records returns the records of an entry, with the ids that a file has for them. If nothing moved, it returns the reason to skip it.
func (k KrakenEntry) Records() ([]Record, string) {
	r := k.record()
	r.Type = krakenType(fold(k.Type), fold(k.Subtype), k.Amount.Sign())
	return Movement(r, k.Amount, k.Fee)
}

// value sets the value in USD, if the export has it, for assets that are not fiat.
func (k *krakenRow) value(e *entry, r *Record) {
	amount, charged := e.number(k.usd, "USD"), e.number(k.feeUSD, "USD")
	if amount == nil || r.Value != nil || len(e.faults) > 0 || charged == nil && !r.feeQuantity().IsZero() {
		return // The value of a fee that is not stated is not zero.
	}
	gross, fee := amount.Abs(), deref(charged).Abs()
	if !r.Inflow {
		gross = gross.Add(fee)
	}
	if r.Inflow && fee.Cmp(gross) > 0 || gross.IsZero() {
		return
	}
	r.Value = &Value{Gross: gross, Fee: fee, Net: gross.Sub(fee), Currency: "USD"}
}

// foreignFee puts a fee in another asset into a record of its own.
func (k *krakenRow) foreignFee(r Record, amount, fee money.Decimal, currency string) []Record {
	l := splitLegs(r, amount, money.Decimal{})
	paid := r
	paid.ExternalID, paid.Currency, paid.Type = r.ExternalID+":fee", currency, typeFee
	paid.setAmounts(fee.Abs(), money.Decimal{}, fee.Sign() < 0)
	l.extra = &paid
	return l.records()
}

// krakenMoves are transfers between the wallets of one account.
var krakenMoves = nameSet("spottostaking|stakingfromspot|stakingtospot|spotfromstaking|spottofutures|spotfromfutures|" +
	"allocation|deallocation|autoallocation|migration")

func krakenType(kind, subtype string, sign int) string {
	switch kind {
	case "trade", "spend", "receive", "sale", "conversion":
		return typeSwap
	case "deposit":
		return typeDeposit
	case "withdrawal":
		return typeWithdrawal
	case "staking":
		return typeStaking
	case "earn":
		if subtype == "reward" {
			return typeStaking
		}
	case "rollover":
		return typeFee
	case "margin", "margin trade":
		if sign == 0 {
			return typeFee
		}
		return typePNL
	}
	if krakenMoves[subtype] {
		return typeInternal
	}
	return ""
}

// krakenNames maps Kraken's own asset names to the usual symbols.
var krakenNames = map[string]string{
	"XXBT": "BTC", "XBT": "BTC", "XETH": "ETH", "ETH2": "ETH", "XLTC": "LTC", "XXRP": "XRP", "XXLM": "XLM", "XXMR": "XMR", "XZEC": "ZEC",
	"XETC": "ETC", "XREP": "REP", "XMLN": "MLN", "XXDG": "DOGE", "XDG": "DOGE", "XICN": "ICN", "XDAO": "DAO", "XNMC": "NMC", "XXVN": "XVN",
}

// KrakenAsset returns the usual symbol of an asset that Kraken calls by a name: without the letter for its class and without the suffix of
// the wallet that holds it, such as .S for staked, which may follow the number of bonding days. It is empty for what is no asset.
func KrakenAsset(name string) string {
	name = cleanCurrency(name)
	base, _, held := strings.Cut(name, ".")
	if held && base != "" {
		name = base
		if n := len(base); n > 4 && isDigit(base[n-1]) && isDigit(base[n-2]) && !isDigit(base[n-3]) {
			name = base[:n-2]
		}
	}
	if usual, ok := krakenNames[name]; ok {
		return usual
	}
	if len(name) == 4 && name[0] == 'Z' && isFiat(name[1:]) {
		return name[1:]
	}
	return name
}
