package booking_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/intake"
	"github.com/bursarhq/bursar/internal/treasury/imports"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// importFile imports a file into a source, links the legs of its trades and returns its transactions, inflows first, by date.
func (w *world) importFile(name, content, into string, m *intake.Mapping) []transaction.Transaction {
	w.Helper()
	s, file := imports.NewService(w.db), strings.NewReader(content)
	d, err := s.Prepare(w.ctx, imports.Params{SourceID: w.source(into).ID, FileName: name, Mapping: m}, file, false)
	if err != nil {
		w.Fatal(name, ": ", err)
	}
	id, err := s.Upload(w.ctx, d, file)
	if err != nil {
		w.Fatal(err)
	}
	if _, err = s.Create(w.ctx, id); err != nil {
		w.Fatal(err)
	}
	done, err := s.Run(w.ctx, actor.From(w.ctx).OrganizationID, id, nil)
	if err != nil || done.Status != imports.Completed || done.Counts.Faulty > 0 || done.Counts.Warnings > 0 {
		w.Fatalf("%s: %+v %v\n%s", name, done, err, content)
	}
	if _, err := w.links.Match(w.ctx, w.at("2025-01-01"), w.at("2025-12-15"), false); err != nil {
		w.Fatal(err)
	}
	var all []transaction.Transaction
	for p := (page.Request{Limit: 100}); ; {
		got, err := w.txns.List(w.ctx, transaction.ListParams{Filter: transaction.Filter{SourceID: w.source(into).ID}, Request: p})
		if err != nil {
			w.Fatal(err)
		}
		if all = append(all, got.Items...); !got.HasMore {
			break
		}
		p.Cursor = got.NextCursor
	}
	slices.SortFunc(all, func(a, b transaction.Transaction) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Direction, b.Direction)) // credit comes before debit
	})
	return all
}

// importTargets are the accounts on the other side, by type. Types that say so themselves are not among them.
var importTargets = map[transaction.Type]string{
	"DEPOSIT": "Paid-in capital", "WITHDRAWAL": "Distributions", "STAKING_REWARD": "Staking income", "REALIZED_PNL": "Trading profit and loss",
	"REFUND": "Sales refunds", "CHARGEBACK": "Chargebacks", "RESERVES CHANGE": "Reserves held by processors", "INCOME": "Other income",
	"EXPENSE": "Contractors",
}

// bookImported books transactions as their types say; those without a type are income or an expense.
func (w *world) bookImported(all []transaction.Transaction) {
	w.Helper()
	for _, t := range all {
		w.quote(t)
	}
	for _, t := range all {
		if t = w.reload(t); t.JournalEntryID != "" {
			continue // with its other leg
		}
		kind := t.Type
		switch {
		case kind != "" && kind != "UNKNOWN":
		case t.Direction == transaction.Credit:
			kind = "INCOME"
		default:
			kind = "EXPENSE"
		}
		w.book(t, string(kind), importTargets[kind])
	}
}

// quote stores a price, or a rate, where a transaction does not say what it was worth.
func (w *world) quote(t transaction.Transaction) {
	w.Helper()
	day := t.At.Format("2006-01-02")
	assets := []string{t.Currency}
	if t.Crypto != nil && t.Crypto.FeeAssetType != "" {
		assets = append(assets, t.Crypto.FeeAssetType)
	}
	for _, a := range assets {
		if money.IsFiat(a) {
			if a != "USD" {
				w.rate(a, "USD", day, "1.1")
			}
			continue
		}
		_, err := w.prices.Create(w.ctx, price.Params{AssetType: a, Currency: "USD", Timestamp: day + "T00:00:00Z", Price: "7.31"})
		if err != nil && fault.KindOf(err) != fault.Conflict {
			w.Fatal(err)
		}
	}
}

// units returns what a source holds in the books, in the form "0.81 USDT; 894.25 USD". The lots must say the same.
func (w *world) units(name string) string {
	w.Helper()
	source, request := w.source(name), page.Request{Limit: 100}
	held, err := holdings.NewService(w.db).TreasuryBalances(w.ctx,
		holdings.TreasuryParams{Filter: holdings.Filter{SourceIDs: []string{source.ID}}}, request)
	if err != nil {
		w.Fatal(err)
	}
	sums := map[string]money.Decimal{}
	for _, b := range held.Items {
		sums[b.AssetType] = sums[b.AssetType].Add(b.Quantity)
	}
	open := true
	all, err := w.picks.List(w.ctx, lots.Filter{SourceIDs: []string{source.ID}, Open: &open}, request)
	if err != nil {
		w.Fatal(err)
	}
	if held.HasMore || all.HasMore {
		w.Fatalf("%s holds more than a page", name)
	}
	inLots := map[string]money.Decimal{}
	for _, l := range all.Items {
		inLots[l.AssetType] = inLots[l.AssetType].Add(l.RemainingQuantity)
	}
	for asset, sum := range sums {
		if !money.IsFiat(asset) && !inLots[asset].Equal(sum) {
			w.Errorf("%s holds %s %s, and its lots %s", name, sum, asset, inLots[asset])
		}
	}
	return unitsText(sums)
}

// unitsText formats quantities by asset; nothing is left out but zero.
func unitsText(sums map[string]money.Decimal) string {
	var out []string
	for _, asset := range slices.Sorted(maps.Keys(sums)) {
		if !sums[asset].IsZero() {
			out = append(out, sums[asset].String()+" "+asset)
		}
	}
	return strings.Join(out, "; ")
}

// statement is a file in the layout of an importer and what it says is held at its end.
type statement struct {
	file, into string
	mapping    *intake.Mapping
	closing    string
}

// columnsWithFee maps the columns of the files that fit no preset.
func columnsWithFee(amount intake.AmountIs, more map[intake.Field]string) *intake.Mapping {
	m := &intake.Mapping{AmountIs: amount, Decimal: ".", Columns: map[intake.Field]string{intake.FieldTimestamp: "Date",
		intake.FieldType: "Type", intake.FieldAmount: "Amount", intake.FieldFee: "Fee", intake.FieldCurrency: "Coin", intake.FieldID: "Id"}}
	maps.Copy(m.Columns, more)
	return m
}

var withBalance = map[intake.Field]string{intake.FieldBalance: "Balance"}

// The closing balances are those of the column of balances where a layout has one, and otherwise the sums of what moved.
var statements = []statement{
	// With the fee of the deposit left out, 11.68 USDT would be held instead of 0.81.
	{file: "kraken.csv", into: "Kraken", closing: "0.0010751 BTC; 0.04448 ETH; 894.25 USD; 0.81 USDT"},
	{file: "binance.csv", into: "Kraken", closing: "0.00214143 BNB; 600.399 DOGE; 300 EUR; 0.01 SOL; 349.11542021 USDT"},
	{file: "coinbase.csv", into: "Kraken", closing: "0.00351958 BTC; 0.291237835729 ETH; 4240.41 USD; 67.010671 USDC"},
	{file: "etherscan.csv", into: "A", closing: "0.745229999999999999 ETH"},
	{file: "etherscan_tokens.csv", into: "A", closing: "3.000000000000000007 UNI; 749.876544 USDC"},
	{file: "mercury.csv", into: "Bank", closing: "12450.76 USD"},
	{file: "stripe.csv", into: "Stripe", closing: "1019.55 EUR; 837.7 USD"},
	{file: "bank.ofx", into: "Bank", closing: "11236.23 USD"},
	{file: "before_fee.csv", into: "Kraken", mapping: columnsWithFee(intake.BeforeFee, withBalance),
		closing: "0.510000000000000001 ETH; 400 USD"},
	{file: "after_fee.csv", into: "Kraken", mapping: columnsWithFee(intake.AfterFee, withBalance),
		closing: "0.645000000000000001 ETH; 400 USD"},
	{file: "fee_in_another_asset.csv", into: "Kraken", mapping: columnsWithFee(intake.BeforeFee,
		map[intake.Field]string{intake.FieldFeeCurrency: "Fee coin"}), closing: "0.0065 BNB; 67.5 USDC"},
	// The last row has a fee of which only the value is known: it takes nothing from the 0.1 ETH.
	{file: "transactions.json", into: "Kraken", closing: "2.476543210987654321 ETH; 1174.9 USD"},
}

// What was imported and booked is what the file says is held, on every account and to the last digit.
func TestAnImportedAndBookedFileLeavesTheBalancesThatItStates(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, x := range statements {
			content, err := os.ReadFile(filepath.Join("testdata", "imports", x.file))
			if err != nil {
				t.Fatal(err)
			}
			w := world.newEntities(t)
			text := string(content)
			if address := w.source(x.into).Address; address != "" {
				text = strings.ReplaceAll(text, "0xWALLET", address)
			}
			w.bookImported(w.importFile(x.file, text, x.into, x.mapping))
			if got := w.units(x.into); got != x.closing {
				t.Errorf("%s: the books hold\n%s, and the file says\n%s", x.file, got, x.closing)
			}
			w.verifyBooks()
		}
	})
}

// Kraken writes a movement from spot to staking as two rows of one account, often at the same second, and the way back in the same way.
func TestAssetsThatAreStakedAndUnstakedAtOneInstantKeepTheirLots(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for _, asListed := range []bool{false, true} { // or inflows first
			w := world.newEntities(t)
			all := w.importFile("ledgers.csv", krakenColumns+`L1,R1,2025-03-01 08:00:00,deposit,,currency,ETH,spot / main,3,0,3
L2,R2,2025-03-05 09:00:00,transfer,spottostaking,currency,ETH,spot / main,-2,0,1
L3,R3,2025-03-05 09:00:00,transfer,stakingfromspot,currency,ETH2.S,earn / bonded,2,0,2
L4,R4,2025-03-05 09:00:00,transfer,stakingtospot,currency,ETH2.S,earn / bonded,-1.5,0,0.5
L5,R5,2025-03-05 09:00:00,transfer,spotfromstaking,currency,ETH,spot / main,1.5,0,2.5
L6,R6,2025-03-07 09:00:00,withdrawal,,currency,ETH,spot / main,-1,0,1.5
`, "Kraken", nil)
			if asListed {
				slices.SortFunc(all, func(a, b transaction.Transaction) int { return cmp.Compare(a.Number, b.Number) })
			}
			w.bookImported(all)
			if got := w.units("Kraken"); got != "2 ETH" {
				t.Errorf("the books hold %s", got)
			}
			total := money.Decimal{}
			for _, l := range strings.Split(w.lots(), "; ") { // "Kraken 1.5 ETH 10.97 2025-03-01"
				f := strings.Fields(l)
				if total = total.Add(money.MustParse(f[3])); f[0] != "Kraken" || f[4] != "2025-03-01" || len(f) != 5 {
					t.Errorf("the lot %q does not keep its date", l)
				}
			}
			if total.Fixed("USD") != "14.62" { // 7.31 for each
				t.Errorf("2 ETH cost %s", total)
			}
			w.verifyBooks()
		}
	})
}

// randomLedger is a file of an exchange that states the balance after each row, and what is held at its end. Nothing is ever short.
type randomLedger struct {
	text string
	held map[string]money.Decimal
	rows int
}

// krakenColumns are the columns of Kraken's ledgers.
const krakenColumns = "txid,refid,time,type,subtype,aclass,asset,wallet,amount,fee,balance\n"

// add adds a row; the balance changes by the amount less the fee. Rows of one event have the same reference.
func (l *randomLedger) add(event int, kind, asset string, amount, fee money.Decimal) {
	l.rows++
	l.held[asset] = l.held[asset].Add(amount).Sub(fee)
	l.text += fmt.Sprintf("L%d,R%d,2025-%02d-%02d 08:00:%02d,%s,,currency,%s,spot / main,%s,%s,%s\n", l.rows, event, event/28+1, event%28+1,
		l.rows%60, kind, asset, amount, fee, l.held[asset])
}

// amountOf draws an amount: cents of money, and up to 18 decimals of an asset.
func amountOf(r *rapid.T, asset, label string) money.Decimal {
	digits := `[1-9][0-9]{0,3}(\.[0-9]{0,17}[1-9])?`
	if asset == "USD" {
		digits = `[1-9][0-9]{0,3}\.[0-9][0-9]`
	}
	return money.MustParse(rapid.StringMatching(digits).Draw(r, label))
}

// feeOf draws a fee of up to a tenth of an amount, a rebate now and then, or none.
func feeOf(r *rapid.T, asset string, amount money.Decimal) money.Decimal {
	places := int32(18)
	if asset == "USD" {
		places = 2
	}
	fee := amount.Abs().Mul(money.FromInt(rapid.Int64Range(0, 99).Draw(r, "fee"))).Quo(money.FromInt(1000), places)
	switch rapid.IntRange(0, 5).Draw(r, "kind of fee") {
	case 0:
		return fee.Neg()
	case 1, 2:
		return money.Decimal{}
	}
	return fee
}

// drawLedger draws deposits, withdrawals, rewards, fees and trades, with fees on either side.
func drawLedger(r *rapid.T) *randomLedger {
	l := &randomLedger{text: krakenColumns, held: map[string]money.Decimal{}}
	assets := []string{"USDT", "ETH", "BTC", "USD"}
	for event := range rapid.IntRange(1, 12).Draw(r, "events") {
		asset := rapid.SampledFrom(assets).Draw(r, "asset")
		amount := amountOf(r, asset, "amount")
		fee := feeOf(r, asset, amount)
		enough := l.held[asset].Cmp(amount.Add(fee.Abs())) >= 0
		switch kind := rapid.SampledFrom([]string{"deposit", "staking", "withdrawal", "trade", "rollover"}).Draw(r, "kind"); {
		case kind == "withdrawal" && enough:
			l.add(event, kind, asset, amount.Neg(), fee)
		case kind == "rollover" && enough && fee.Sign() > 0:
			l.add(event, kind, asset, money.Decimal{}, fee)
		case kind == "trade" && enough:
			l.add(event, kind, asset, amount.Neg(), fee)
			other := assets[(slices.Index(assets, asset)+1)%len(assets)]
			got := amountOf(r, other, "got")
			received := feeOf(r, other, got)
			if other != "USD" { // the amounts of a trade are unrelated, and its fee must not be worth more than what was given
				received = received.Quo(money.FromInt(1_000_000_000_000), 18)
			}
			l.add(event, kind, other, got, received)
		case kind == "staking" && asset != "USD":
			l.add(event, kind, asset, amount, fee)
		default:
			l.add(event, "deposit", asset, amount, fee)
		}
	}
	return l
}

func TestSoakAnyImportedAndBookedLedgerLeavesTheBalancesThatItStates(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		now := clock.NewManual(today)
		c.Clock = now
		d := dbtest.Open(t, c)
		rapid.Check(t, func(r *rapid.T) {
			l := drawLedger(r)
			w := newWorld(t.Context(), r, d, now).newEntities(r)
			w.bookImported(w.importFile("ledgers.csv", l.text, "Kraken", nil))
			if got, want := w.units("Kraken"), unitsText(l.held); got != want {
				r.Fatalf("the books hold\n%s, and the file says\n%s\n%s", got, want, l.text)
			}
			w.verifyBooks()
		})
	})
}
