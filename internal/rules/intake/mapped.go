package intake

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// mapped interprets the rows of a file by a mapping.
type mapped struct {
	m       *Mapping
	sheet   *sheet
	indexes map[Field]int
	clock   clock
	numbers map[Field]numeric

	// Needed for every row, so kept outside the maps, which are slow.
	timestamp, timeOfDay, id, currency, direction int
	texts                                         []textColumn
	amount, debit, credit, fee, net               numeric
	inflow, outflow                               map[string]bool
	values                                        bool
}

// textColumn is a column whose text is copied into a record.
type textColumn struct {
	index int
	set   func(r *Record, text string)
}

// moneyFields are the fields that hold numbers; fields in one group share a decimal separator.
var moneyFields = [][]Field{
	{FieldAmount}, {FieldDebit, FieldCredit}, {FieldFee}, {FieldNet}, {FieldBalance}, {FieldValueGross}, {FieldValueFee}, {FieldValueNet},
}

// newMapped resolves the columns of a mapping, and infers from the samples what the mapping leaves open.
func newMapped(m *Mapping, s *sheet, samples []sheetRow) (*mapped, error) {
	p := &mapped{m: m, sheet: s, indexes: map[Field]int{}, numbers: map[Field]numeric{}, clock: m.clock()}
	var faults fault.List
	for _, field := range slices.Sorted(maps.Keys(m.Columns)) {
		index, err := s.resolve(field, m.Columns[field])
		if rest := faults.Merge(err); rest != nil {
			return nil, rest
		}
		p.indexes[field] = index
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	for _, fields := range moneyFields {
		p.resolveDecimalMark(fields, samples)
	}
	p.timestamp, p.timeOfDay, p.id = p.indexOf(FieldTimestamp), p.indexOf(FieldTime), p.indexOf(FieldID)
	p.currency, p.direction = p.indexOf(FieldCurrency), p.indexOf(FieldDirection)
	p.amount, p.debit, p.credit = p.numbers[FieldAmount], p.numbers[FieldDebit], p.numbers[FieldCredit]
	p.fee, p.net = p.numbers[FieldFee], p.numbers[FieldNet]
	p.values = p.indexOf(FieldValueGross) >= 0 || p.indexOf(FieldValueNet) >= 0
	var dates dateEvidence
	for i := range samples {
		dates.observe(cellOf(&samples[i], p.timestamp))
	}
	p.clock.order = dates.order()
	p.inflow, p.outflow = wordSet(usualInflow, m.InflowWords, m.OutflowWords), wordSet(usualOutflow, m.OutflowWords, m.InflowWords)
	p.resolveTextColumns()
	return p, nil
}

func cellOf(row *sheetRow, index int) string {
	if index < 0 || index >= len(row.cells) {
		return ""
	}
	return row.cells[index]
}

func (p *mapped) indexOf(f Field) int {
	if index, ok := p.indexes[f]; ok {
		return index
	}
	return -1
}

// resolveDecimalMark decides the decimal separator of fields that share one.
func (p *mapped) resolveDecimalMark(fields []Field, samples []sheetRow) {
	var shared numberEvidence
	for _, f := range fields {
		var own numberEvidence
		index := p.indexOf(f)
		for i := range samples {
			if row := &samples[i]; row.numbers == nil || index < 0 || !row.numbers[index] {
				own.observe(cellOf(row, index))
				shared.observe(cellOf(row, index))
			}
		}
		p.numbers[f] = numeric{index: index, positive: own.positive > 0, negative: own.negative > 0}
	}
	mark := p.m.decimal()
	if mark == markUnknown {
		mark = shared.mark()
	}
	for _, f := range fields {
		n := p.numbers[f]
		n.mark = mark
		p.numbers[f] = n
	}
}

// usualInflow and usualOutflow are the words for directions on statements in English, German, French and Spanish,
// before folding.
var (
	usualInflow = strings.Fields("credit cr c in inflow incoming deposit received receive + haben h gutschrift eingang crédit entrée " +
		"abono ingreso haber entrada")
	usualOutflow = strings.Fields("debit dr d out outflow outgoing withdrawal sent send payment - soll s lastschrift ausgang débit sortie " +
		"cargo gasto debe salida")
)

func wordSet(usual, stated, otherwise []string) map[string]bool {
	set := map[string]bool{}
	for _, w := range usual {
		set[fold(w)] = true
	}
	for _, w := range otherwise {
		delete(set, fold(strings.TrimSpace(w)))
	}
	for _, w := range stated {
		set[fold(strings.TrimSpace(w))] = true
	}
	return set
}

// interpret returns the records of a row.
func (p *mapped) interpret(e *entry) ([]Record, string) {
	r := Record{Line: e.row.line, Currency: p.m.Currency}
	stamp := e.text(p.timestamp)
	if p.timeOfDay >= 0 && stamp != "" {
		if day := e.text(p.timeOfDay); day != "" {
			stamp += " " + day
		}
	}
	r.Timestamp = e.instant(&p.clock, p.timestamp, stamp)
	if p.currency >= 0 && (r.Currency == "" || e.text(p.currency) != "") {
		r.Currency = e.currency(p.currency)
	}
	amount := p.readAmount(e, r.Currency)
	fee := p.readFee(e, &r)
	r.ExternalID = e.id(p.id, p.m.IgnoreIDs)
	for i := range p.texts {
		if text := e.text(p.texts[i].index); text != "" {
			p.texts[i].set(&r, text)
		}
	}
	p.setDetails(e, &r)
	value := p.readValue(e)
	if r.Crypto != nil && r.Crypto.ContractAddress != "" {
		own := notFiat(r.Currency, r.Crypto.ContractAddress)
		if fee.currency == r.Currency {
			fee.currency = own
		}
		r.Currency = own
	}
	if balance := p.numbers[FieldBalance]; balance.index >= 0 {
		e.stateBalance(balance, e.text(p.indexOf(FieldAccount)), r.Currency)
	}
	if amount == nil && len(e.faults) == 0 {
		e.faultf(p.amountIndex(), "is empty; every row needs an amount")
	}
	if len(e.faults) > 0 {
		return nil, ""
	}
	return p.Movement(e, r, *amount, fee, value)
}

func (p *mapped) amountIndex() int {
	if p.amount.index >= 0 {
		return p.amount.index
	}
	return p.debit.index
}

// fee is a fee and its currency.
type fee struct {
	amount   money.Decimal
	currency string
	stated   bool
}

// readFee reads the fee of a row, above zero if one was charged.
func (p *mapped) readFee(e *entry, r *Record) fee {
	f := fee{currency: r.Currency}
	if p.fee.index < 0 {
		return f
	}
	if index := p.indexOf(FieldFeeCurrency); index >= 0 && e.text(index) != "" {
		f.currency = e.currency(index)
	}
	if n := e.number(p.fee, f.currency); n != nil {
		f.amount, f.stated = *n, true
		if p.m.FeeNegative {
			f.amount = f.amount.Neg()
		}
	}
	return f
}

// buildRecords combines amount, fee and net into the records of a row.
func (p *mapped) Movement(e *entry, r Record, amount money.Decimal, f fee, value *Value) ([]Record, string) {
	same := f.currency == r.Currency
	if p.net.index >= 0 {
		amount, f = p.reconcile(e, r.Currency, amount, f)
	} else if p.m.AmountIs == AfterFee && same {
		amount = amount.Add(f.amount)
	}
	if amount.IsZero() && f.amount.IsZero() && len(e.faults) == 0 {
		return nil, "nothing moved: the amount is zero"
	}
	if p.m.AmountIs == AfterFee && same && f.amount.Sign() > 0 && amount.Sign() > 0 && amount.Cmp(f.amount) < 0 {
		e.faultf(p.fee.index, "the fee of %s is more than the %s that left with it", f.amount, amount.Sub(f.amount).Abs())
	}
	if len(e.faults) > 0 {
		return nil, ""
	}
	if !same && !f.amount.IsZero() {
		return p.foreignFee(r, amount, f, value), ""
	}
	l := splitLegs(r, amount, f.amount)
	if value != nil && !isFiat(r.Currency) {
		l.main.Value = value
	}
	return l.records(), ""
}

// reconcile validates a row that states amount, fee and net. The sign of the fee follows from the three.
func (p *mapped) reconcile(e *entry, currency string, amount money.Decimal, f fee) (money.Decimal, fee) {
	net := e.number(p.net, currency)
	if net == nil {
		return amount, f
	}
	if p.m.FlipSign {
		flipped := net.Neg()
		net = &flipped
	}
	if p.m.direction() != BySign && amount.Sign() < 0 && net.Sign() > 0 {
		flipped := net.Neg()
		net = &flipped
	}
	charged := amount.Sub(*net)
	if f.stated && !charged.Equal(f.amount) && !charged.Equal(f.amount.Neg()) {
		e.faultf(p.net.index, "the amount %s and the fee %s do not yield the net %s", amount, f.amount, net)
	}
	return amount, fee{amount: charged, currency: currency, stated: true}
}

// foreignFee puts a fee in another asset into a record of its own, because paying a fee with an asset disposes of it.
func (p *mapped) foreignFee(r Record, amount money.Decimal, f fee, value *Value) []Record {
	l := splitLegs(r, amount, money.Decimal{})
	if value != nil && !isFiat(r.Currency) {
		l.main.Value = value
	}
	paid := r
	paid.ExternalID, paid.Currency, paid.Type, paid.Value = r.ExternalID+":fee", f.currency, typeFee, nil
	if isFiat(paid.Currency) {
		paid.Crypto = nil
	}
	paid.setAmounts(f.amount.Abs(), money.Decimal{}, f.amount.Sign() < 0)
	if paid.Inflow {
		paid.Type = typeRefund
	}
	l.extra = &paid
	return l.records()
}

// readAmount reads the amount of a row, above zero for an inflow; nil if it is missing or faulty.
func (p *mapped) readAmount(e *entry, currency string) *money.Decimal {
	switch p.m.direction() {
	case ByColumns:
		return p.readDebitCredit(e, currency)
	case ByWords:
		return p.readByDirectionWord(e, currency)
	}
	n := e.number(p.amount, currency)
	if n != nil && p.m.FlipSign {
		flipped := n.Neg()
		return &flipped
	}
	return n
}

func (p *mapped) readByDirectionWord(e *entry, currency string) *money.Decimal {
	n := e.number(p.amount, currency)
	word := e.text(p.direction)
	in, out := p.inflow[fold(word)], p.outflow[fold(word)]
	switch {
	case in == out:
		e.faultf(p.direction, "%q is not a known direction; add it to inflow_words or outflow_words", shorten(word))
		return nil
	case n == nil:
		return nil
	case in && n.Sign() < 0:
		e.faultf(p.amount.index, "%s is below zero, but %q is an inflow", n, shorten(word))
		return nil
	case out && !n.IsZero() && (n.Sign() < 0) != p.amount.negative: // In a column with signs, the sign has a meaning.
		e.faultf(p.amount.index, "%s has another sign than the other outflows, but %q is an outflow", n, shorten(word))
		return nil
	}
	absolute := n.Abs()
	if out {
		absolute = absolute.Neg()
	}
	return &absolute
}

// readDebitCredit reads debit and credit, of which exactly one must be filled in.
func (p *mapped) readDebitCredit(e *entry, currency string) *money.Decimal {
	debit, credit := p.readSide(e, p.debit, currency), p.readSide(e, p.credit, currency)
	switch {
	case debit != nil && !debit.IsZero() && credit != nil && !credit.IsZero():
		e.faultf(p.debit.index, "debit and credit are both filled in")
		return nil
	case debit != nil && !debit.IsZero() || credit == nil && debit != nil:
		flipped := debit.Neg()
		return &flipped
	}
	return credit
}

// readSide reads one of the two columns. Minus signs are fine if the whole column has them; if only some values have
// one, they are reversals whose direction is ambiguous.
func (p *mapped) readSide(e *entry, c numeric, currency string) *money.Decimal {
	n := e.number(c, currency)
	if n == nil || n.Sign() >= 0 {
		return n
	}
	if c.positive || !c.negative {
		e.faultf(c.index, "%s is below zero, unlike the rest of its column", n)
		return nil
	}
	absolute := n.Abs()
	return &absolute
}

// readValue reads the fiat value of a row.
func (p *mapped) readValue(e *entry) *Value {
	if !p.values {
		return nil
	}
	currency := p.m.ValueCurrency
	if index := p.indexOf(FieldValueCurrency); index >= 0 && (currency == "" || e.text(index) != "") {
		currency = e.currency(index)
	}
	if currency != "" && !isFiat(currency) {
		e.faultf(p.indexOf(FieldValueCurrency), "%q is not a fiat currency; values must be in a fiat currency", shorten(currency))
		return nil
	}
	var t triple
	for _, part := range []struct {
		field Field
		into  **money.Decimal
	}{{FieldValueGross, &t.gross}, {FieldValueFee, &t.fee}, {FieldValueNet, &t.net}} {
		if c := p.numbers[part.field]; c.index >= 0 {
			if n := e.number(c, currency); n != nil {
				absolute := n.Abs()
				*part.into = &absolute
			}
		}
	}
	v, err := t.value(currency, 0)
	if err != nil {
		e.faultf(p.indexOf(FieldValueGross), "%v", err)
	}
	return v
}

// resolveTextColumns lists the mapped columns that are copied into records.
func (p *mapped) resolveTextColumns() {
	for _, c := range []struct {
		field Field
		set   func(r *Record, text string)
	}{
		{FieldDescription, func(r *Record, s string) { r.Description = s }},
		{FieldProviderCategory, func(r *Record, s string) { r.ProviderCategory = s }},
		{FieldVendor, func(r *Record, s string) { r.Vendor = s }},
		{FieldMemo, func(r *Record, s string) { r.Memo = s }},
		{FieldGroup, func(r *Record, s string) { r.Group = s }},
		{FieldTransactionHash, func(r *Record, s string) { r.crypto().TransactionHash = s }},
		{FieldChain, func(r *Record, s string) { r.crypto().Chain = s }},
		{FieldFrom, func(r *Record, s string) { r.crypto().From = s }},
		{FieldTo, func(r *Record, s string) { r.crypto().To = s }},
		{FieldContract, func(r *Record, s string) { r.crypto().ContractAddress = s }},
		{FieldTokenID, func(r *Record, s string) { r.crypto().TokenID = s }},
		{FieldBankName, func(r *Record, s string) { r.bank().BankName = s }},
		{FieldAccount, func(r *Record, s string) { r.bank().AccountLast4 = lastFour(s) }},
		{FieldCounterparty, func(r *Record, s string) { r.bank().CounterpartyName = s }},
		{FieldMerchant, func(r *Record, s string) { r.card().MerchantName = s }},
		{FieldMerchantCategory, func(r *Record, s string) { r.card().MerchantCategory = s }},
		{FieldCardholder, func(r *Record, s string) { r.card().CardholderName = s }},
		{FieldCardLast4, func(r *Record, s string) { r.card().Last4 = lastFour(s) }},
	} {
		if index := p.indexOf(c.field); index >= 0 {
			p.texts = append(p.texts, textColumn{index, c.set})
		}
	}
}

// setDetails sets the fields that need validation, and those that the mapping states for every row.
func (p *mapped) setDetails(e *entry, r *Record) {
	if index := p.indexOf(FieldType); index >= 0 {
		if r.Type = strings.ToUpper(e.text(index)); r.Type != "" && !isType(r.Type) {
			e.faultf(index, "%q is not a transaction type", shorten(r.Type))
		}
	}
	if index := p.indexOf(FieldBlockNumber); index >= 0 && e.text(index) != "" {
		n, err := strconv.ParseInt(e.text(index), 10, 64)
		if err != nil || n < 0 {
			e.faultf(index, "%q is not a block number", shorten(e.text(index)))
		}
		r.crypto().BlockNumber = n
	}
	if p.m.Chain != "" && (r.Crypto == nil || r.Crypto.Chain == "") && !isFiat(r.Currency) {
		r.crypto().Chain = p.m.Chain
	}
	if p.m.BankName != "" && (r.Bank == nil || r.Bank.BankName == "") {
		r.bank().BankName = p.m.BankName
	}
	if p.m.AccountLast4 != "" && (r.Bank == nil || r.Bank.AccountLast4 == "") {
		r.bank().AccountLast4 = p.m.AccountLast4
	}
}

func (r *Record) crypto() *Crypto {
	if r.Crypto == nil {
		r.Crypto = &Crypto{}
	}
	return r.Crypto
}

func (r *Record) bank() *Bank {
	if r.Bank == nil {
		r.Bank = &Bank{}
	}
	return r.Bank
}

func (r *Record) card() *Card {
	if r.Card == nil {
		r.Card = &Card{}
	}
	return r.Card
}
