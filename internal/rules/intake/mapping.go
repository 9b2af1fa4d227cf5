package intake

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Mapping states how to read a file. It is stored and sent as JSON. An empty mapping means that everything is detected,
// which works only for files of a known layout.
type Mapping struct {
	// Format is csv, json or ofx; empty means detected.
	Format Format `json:"format,omitempty"`
	// Preset names a known layout, which defines columns and directions.
	Preset string `json:"preset,omitempty"`
	// Encoding is utf-8, utf-16le, utf-16be or windows-1252, for files without a byte order mark.
	Encoding string `json:"encoding,omitempty"`
	// Delimiter is a comma, a semicolon, a tab or a bar; empty means detected.
	Delimiter string `json:"delimiter,omitempty"`
	// HeaderRow is the line of the column names: 0 means detected, -1 means that there is none.
	HeaderRow int `json:"header_row,omitempty"`
	// Columns maps fields of a record to columns: by header, or by number such as #3.
	Columns map[Field]string `json:"columns,omitempty"`
	// DateLayouts are tried in order: tokens such as DD/MM/YYYY HH:mm, or auto, unix or unix_ms. Empty means auto.
	DateLayouts []string `json:"date_layouts,omitempty"`
	// TimeZone is the IANA name of the zone of times without one; empty means UTC.
	TimeZone string `json:"time_zone,omitempty"`
	// Decimal is the decimal separator, a point or a comma; empty or auto means detected by column.
	Decimal string `json:"decimal,omitempty"`
	// Direction states how inflows are told from outflows: sign, columns (debit and credit) or words.
	Direction Direction `json:"direction,omitempty"`
	// InflowWords and OutflowWords are the words in the direction column, in addition to the usual ones.
	InflowWords  []string `json:"inflow_words,omitempty"`
	OutflowWords []string `json:"outflow_words,omitempty"`
	// FlipSign states that amounts above zero leave the source, as on many card statements.
	FlipSign bool `json:"flip_sign,omitempty"`
	// AmountIs states how the fee relates to the amount: before_fee if the fee is added to what leaves and deducted
	// from what arrives, after_fee if the amount is the change of the balance.
	AmountIs AmountIs `json:"amount_is,omitempty"`
	// FeeNegative states that charged fees are written with a minus.
	FeeNegative bool `json:"fee_negative,omitempty"`
	// Currency applies to every amount if no column states one; ValueCurrency applies to every value.
	Currency      string `json:"currency,omitempty"`
	ValueCurrency string `json:"value_currency,omitempty"`
	// Chain applies to every on-chain transaction if no column states one.
	Chain string `json:"chain,omitempty"`
	// BankName and AccountLast4 apply to every bank transaction if no column states them.
	BankName     string `json:"bank_name,omitempty"`
	AccountLast4 string `json:"account_last4,omitempty"`
	// IgnoreIDs derives ids from the content of the rows, for files whose own ids are not unique.
	IgnoreIDs bool `json:"ignore_ids,omitempty"`
}

// Direction is a way to tell inflows from outflows.
type Direction string

// The directions. Empty means sign, or columns if debit and credit are mapped, or words if direction is mapped.
const (
	BySign    Direction = "sign"
	ByColumns Direction = "columns"
	ByWords   Direction = "words"
)

// AmountIs states whether the amount is before or after the fee.
type AmountIs string

// The relations between amount and fee.
const (
	BeforeFee AmountIs = "before_fee"
	AfterFee  AmountIs = "after_fee"
)

// Field is a part of a record that a column can be mapped to.
type Field string

// The fields. Amount and Net are in Currency, and so is Fee unless FeeCurrency is mapped; the values are in a fiat
// currency.
const (
	FieldID               Field = "id"
	FieldTimestamp        Field = "timestamp"
	FieldTime             Field = "time"
	FieldDescription      Field = "description"
	FieldAmount           Field = "amount"
	FieldDebit            Field = "debit"
	FieldCredit           Field = "credit"
	FieldDirection        Field = "direction"
	FieldFee              Field = "fee"
	FieldNet              Field = "net"
	FieldBalance          Field = "balance"
	FieldCurrency         Field = "currency"
	FieldFeeCurrency      Field = "fee_currency"
	FieldValueGross       Field = "value_gross"
	FieldValueFee         Field = "value_fee"
	FieldValueNet         Field = "value_net"
	FieldValueCurrency    Field = "value_currency"
	FieldProviderCategory Field = "provider_category"
	FieldVendor           Field = "vendor"
	FieldMemo             Field = "memo"
	FieldType             Field = "type"
	FieldGroup            Field = "group"
	FieldChain            Field = "chain"
	FieldTransactionHash  Field = "transaction_hash"
	FieldBlockNumber      Field = "block_number"
	FieldFrom             Field = "from_address"
	FieldTo               Field = "to_address"
	FieldContract         Field = "contract_address"
	FieldTokenID          Field = "token_id"
	FieldBankName         Field = "bank_name"
	FieldAccount          Field = "account"
	FieldCounterparty     Field = "counterparty"
	FieldMerchant         Field = "merchant"
	FieldMerchantCategory Field = "merchant_category"
	FieldCardholder       Field = "cardholder"
	FieldCardLast4        Field = "card_last4"
)

// Fields are all fields, in the order in which to offer them.
var Fields = []Field{
	FieldID, FieldTimestamp, FieldTime, FieldDescription, FieldAmount, FieldDebit, FieldCredit, FieldDirection, FieldFee,
	FieldNet, FieldBalance, FieldCurrency, FieldFeeCurrency, FieldValueGross, FieldValueFee, FieldValueNet, FieldValueCurrency,
	FieldProviderCategory, FieldVendor, FieldMemo, FieldType, FieldGroup, FieldChain, FieldTransactionHash,
	FieldBlockNumber, FieldFrom, FieldTo, FieldContract, FieldTokenID, FieldBankName, FieldAccount, FieldCounterparty,
	FieldMerchant, FieldMerchantCategory, FieldCardholder, FieldCardLast4,
}

var encodings = map[string]encoding{
	"": utf8Text, "utf-8": utf8Text, "utf-16le": utf16Little, "utf-16be": utf16Big, "windows-1252": windows1252,
}

// Validate returns every fault of the mapping that can be found without the file.
func (m *Mapping) Validate() error {
	var faults fault.List
	if m.Format != "" && !slices.Contains(Formats, m.Format) {
		faults.Addf("mapping.format", "must be csv, json or ofx")
	}
	if m.Preset != "" && presetNamed(m.Preset) == nil {
		faults.Addf("mapping.preset", "must be one of %s", strings.Join(PresetNames(), ", "))
	}
	if _, ok := encodings[m.Encoding]; !ok {
		faults.Addf("mapping.encoding", "must be utf-8, utf-16le, utf-16be or windows-1252")
	}
	if m.Delimiter != "" && (len(m.Delimiter) != 1 || !strings.Contains(delimiters, m.Delimiter)) {
		faults.Addf("mapping.delimiter", "must be a comma, a semicolon, a tab or a bar")
	}
	if m.HeaderRow < -1 {
		faults.Addf("mapping.header_row", "must be the line of the header, 0 to find it, or -1 for none")
	}
	if m.HeaderRow == -1 && m.Preset != "" {
		faults.Addf("mapping.header_row", "must not be -1 with a preset, which finds its columns by name")
	}
	m.validateDates(&faults)
	switch m.Decimal {
	case "", "auto", ".", ",":
	default:
		faults.Addf("mapping.decimal", "must be auto, a point or a comma")
	}
	m.validateNames(&faults)
	m.validateColumns(&faults)
	return faults.Err()
}

func (m *Mapping) validateDates(faults *fault.List) {
	for i, name := range m.DateLayouts {
		if _, err := parseLayout(name); err != nil {
			faults.Addf("mapping.date_layouts["+strconv.Itoa(i)+"]", "%v", err)
		}
	}
	if _, err := m.zone(); err != nil {
		faults.Addf("mapping.time_zone", "must be the IANA name of a time zone, such as Europe/Berlin")
	}
}

func (m *Mapping) validateNames(faults *fault.List) {
	switch m.Direction {
	case "", BySign, ByColumns, ByWords:
	default:
		faults.Addf("mapping.direction", "must be sign, columns or words")
	}
	switch m.AmountIs {
	case "", BeforeFee, AfterFee:
	default:
		faults.Addf("mapping.amount_is", "must be before_fee or after_fee")
	}
	for _, c := range [][2]string{{"mapping.currency", m.Currency}, {"mapping.value_currency", m.ValueCurrency}} {
		if c[1] != "" && cleanCurrency(c[1]) != c[1] {
			faults.Addf(c[0], "must be an upper-case code or symbol such as USD or BTC")
		}
	}
	if m.AccountLast4 != "" && lastFour(m.AccountLast4) != m.AccountLast4 {
		faults.Addf("mapping.account_last4", "must be the last four characters of the account")
	}
	for _, w := range m.InflowWords {
		if slices.ContainsFunc(m.OutflowWords, func(o string) bool { return fold(o) == fold(w) }) {
			faults.Addf("mapping.outflow_words", "has %q, which is an inflow word too", shorten(w))
		}
	}
}

// validateColumns validates the columns as far as that is possible without the file.
func (m *Mapping) validateColumns(faults *fault.List) {
	if len(m.Columns) == 0 {
		return
	}
	if m.Preset != "" {
		faults.Addf("mapping.columns", "must be empty with a preset, which knows its columns")
		return
	}
	if m.Format == OFX {
		faults.Addf("mapping.columns", "must be empty for OFX, which has no columns")
		return
	}
	named := m.HeaderRow != 0 || m.Format == JSON
	for _, field := range slices.Sorted(maps.Keys(m.Columns)) {
		named = named || columnNumber(m.Columns[field]) < 0
		name, column := "mapping.columns."+string(field), m.Columns[field]
		switch {
		case !slices.Contains(Fields, field):
			faults.Addf(name, "is not a field of a record")
		case strings.TrimSpace(column) == "":
			faults.Addf(name, "must name a column")
		case m.HeaderRow == -1 && columnNumber(column) < 0:
			faults.Addf(name, "must be the number of a column, such as #3, because there is no header")
		}
	}
	if !named { // Without names a header cannot be told from the first transaction.
		faults.Addf("mapping.header_row", "must be stated, because all columns are given by number")
	}
	m.validateAmounts(faults)
}

func (m *Mapping) validateAmounts(faults *fault.List) {
	has := func(f Field) bool { return m.Columns[f] != "" }
	if !has(FieldTimestamp) {
		faults.Addf("mapping.columns.timestamp", "must be mapped")
	}
	switch direction := m.direction(); {
	case direction == ByColumns:
		if !has(FieldDebit) || !has(FieldCredit) {
			faults.Addf("mapping.columns.debit", "must be mapped together with credit")
		}
		if has(FieldAmount) {
			faults.Addf("mapping.columns.amount", "must not be mapped beside debit and credit")
		}
	case !has(FieldAmount):
		faults.Addf("mapping.columns.amount", "must be mapped, or debit and credit must be")
	case direction == ByWords && !has(FieldDirection):
		faults.Addf("mapping.columns.direction", "must be mapped, because direction is words")
	case direction == BySign && has(FieldDirection):
		faults.Addf("mapping.columns.direction", "must not be mapped, because direction is sign")
	}
	if !has(FieldCurrency) && m.Currency == "" {
		faults.Addf("mapping.currency", "must be stated, or a currency column must be mapped")
	}
	if has(FieldFee) && !has(FieldNet) && m.AmountIs == "" {
		faults.Addf("mapping.amount_is", "must say whether the amount is before_fee or after_fee, because a fee is mapped")
	}
	if has(FieldNet) && m.AmountIs == AfterFee {
		faults.Addf("mapping.amount_is", "cannot be after_fee beside net, which is the amount after the fee")
	}
	if has(FieldValueFee) && !has(FieldValueGross) && !has(FieldValueNet) {
		faults.Addf("mapping.columns.value_gross", "or value_net must be mapped, because value_fee is")
	}
	if (has(FieldValueGross) || has(FieldValueNet)) && !has(FieldValueCurrency) && m.ValueCurrency == "" {
		faults.Addf("mapping.value_currency", "must be stated, or a currency column must be mapped")
	}
}

// direction returns the stated direction, or the default for the mapped columns.
func (m *Mapping) direction() Direction {
	switch {
	case m.Direction != "":
		return m.Direction
	case m.Columns[FieldDebit] != "" || m.Columns[FieldCredit] != "":
		return ByColumns
	case m.Columns[FieldDirection] != "":
		return ByWords
	}
	return BySign
}

func (m *Mapping) zone() (*time.Location, error) {
	if m.TimeZone == "" || m.TimeZone == "UTC" {
		return time.UTC, nil
	}
	if m.TimeZone == "Local" {
		return nil, errNotDate // "Local" would be the zone of the machine.
	}
	return time.LoadLocation(m.TimeZone)
}

// clock returns the parser for dates; the mapping must be valid.
func (m *Mapping) clock(otherwise ...string) clock {
	zone, err := m.zone()
	if err != nil {
		zone = time.UTC
	}
	c := clock{zone: zone}
	names := m.DateLayouts
	if len(names) == 0 {
		names = otherwise
	}
	for _, name := range names {
		if l, err := parseLayout(name); err == nil {
			c.layouts = append(c.layouts, l)
		}
	}
	if len(c.layouts) == 1 && c.layouts[0].kind == layoutAuto {
		c.layouts = nil
	}
	return c
}

func (m *Mapping) decimal() decimalMark {
	switch m.Decimal {
	case ".":
		return markPoint
	case ",":
		return markComma
	}
	return markUnknown
}

// columnNumber returns the index of a column given by number, from 0; -1 if it is not a number.
func columnNumber(column string) int {
	digits, _ := strings.CutPrefix(column, "#")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > columnsMax {
		return -1
	}
	return n - 1
}
