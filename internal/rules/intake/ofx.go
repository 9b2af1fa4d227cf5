package intake

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// ofxRows reads the transactions of bank and card statements.
type ofxRows struct {
	*tags
	m      *Mapping
	ids    *ids
	zone   *time.Location
	amount decimalMark

	begun, ended bool
	statement    ofxStatement
	current      *ofxTransaction
}

// ofxStatement holds what applies to all transactions of a statement.
type ofxStatement struct {
	organization string
	currency     string
	account      string
	card         bool
}

// ofxTransaction is a transaction being read.
type ofxTransaction struct {
	line    int
	size    int
	pending bool
	within  []string          // The aggregates open inside it.
	values  map[string]string // By name; values inside an aggregate have its name and a dot as a prefix.
	faults  []Fault
}

// ofxAggregates are the aggregates that a transaction may contain.
var ofxAggregates = words("PAYEE EXTDPAYEE CURRENCY ORIGCURRENCY BANKACCTTO CCACCTTO IMAGEDATA")

func (in *Reader) openOFX(o *Options) error {
	if o.Mapping.Preset != "" {
		return fault.Invalidf("mapping.preset", "must be empty for OFX; presets are layouts of CSV")
	}
	head, _ := in.text.head()
	if !bytes.Contains(bytes.ToUpper(head), []byte("<OFX>")) {
		return in.text.errorf(1, "the file is not OFX: it has no <OFX> tag")
	}
	zone, err := in.mapping.zone()
	if err != nil {
		return err
	}
	rows := &ofxRows{tags: newTags(in.text), m: &in.mapping, ids: in.ids, zone: zone, amount: in.mapping.decimal()}
	if rows.amount == markUnknown {
		rows.amount = ofxMark(head)
	}
	in.read = rows.row
	return nil
}

// ofxMark infers the decimal separator from the amounts in the head.
func ofxMark(head []byte) decimalMark {
	var e numberEvidence
	lex := newTags(textOf("", head))
	for range headRows * 20 {
		t, ok, err := lex.next()
		if err != nil || !ok {
			break
		}
		if t.name == "TRNAMT" && !t.close {
			e.observe(t.value)
		}
	}
	return e.mark()
}

// row reads up to the end of the next transaction.
func (o *ofxRows) row() (Row, error) {
	for {
		t, ok, err := o.next()
		if err != nil {
			return Row{}, err
		}
		if !ok {
			if o.begun && !o.ended {
				return Row{}, o.errorf(o.at, "the file ends before </OFX>; a part of it is missing")
			}
			return Row{}, io.EOF
		}
		if done := o.handleTag(t); done != nil {
			return o.interpret(done), nil
		}
		if o.current != nil && o.current.size > rowMax {
			return Row{}, o.errorf(o.current.line, "the transaction that begins here is longer than %d KiB", rowMax>>10)
		}
	}
}

// handleTag processes one tag and returns the transaction that it ends, if any.
func (o *ofxRows) handleTag(t tag) *ofxTransaction {
	switch t.name {
	case "OFX":
		o.begun, o.ended = o.begun || !t.close, t.close
	case "STMTTRN", "STMTTRNP":
		done := o.current
		o.current = nil
		if !t.close {
			o.current = &ofxTransaction{line: t.line, pending: t.name == "STMTTRNP", values: map[string]string{}}
		}
		return done
	case "STMTRS", "CCSTMTRS", "INVSTMTRS", "BANKTRANLIST", "BANKTRANLISTP":
		done := o.current
		o.current = nil
		if !t.close && strings.HasSuffix(t.name, "STMTRS") {
			o.statement = ofxStatement{organization: o.statement.organization, card: t.name == "CCSTMTRS"}
		}
		return done
	}
	switch {
	case o.current != nil:
		o.current.addTag(t)
	case t.name == "ORG" && t.value != "":
		o.statement.organization = t.value
	case t.name == "CURDEF" && t.value != "":
		o.statement.currency = cleanCurrency(t.value)
	case t.name == "ACCTID" && t.value != "":
		o.statement.account = t.value
	}
	return nil
}

func (x *ofxTransaction) addTag(t tag) {
	if n := len(x.within); t.close && n > 0 && x.within[n-1] == t.name {
		x.within = x.within[:n-1]
		return
	}
	if t.close {
		return
	}
	if ofxAggregates[t.name] && t.value == "" {
		x.within = append(x.within, t.name)
		return
	}
	name := t.name
	if n := len(x.within); n > 0 {
		name = x.within[n-1] + "." + name
	}
	x.size += len(t.value) + len(name)
	if !utf8.ValidString(t.value) {
		x.faultf(t.name, "is not valid UTF-8")
		return
	}
	if before, twice := x.values[name]; twice && before != t.value {
		x.faultf(t.name, "occurs twice, as %q and as %q", shorten(before), shorten(t.value))
	}
	x.values[name] = t.value
}

func (x *ofxTransaction) faultf(column, format string, args ...any) {
	x.faults = append(x.faults, Fault{Line: x.line, Column: column, Message: fmt.Sprintf(format, args...)})
}

// interpret converts a transaction into a row.
func (o *ofxRows) interpret(x *ofxTransaction) Row {
	out := Row{Line: x.line}
	kind := strings.ToUpper(x.values["TRNTYPE"])
	if x.pending || kind == "HOLD" {
		out.Skipped = "the bank has not posted it yet; it appears again once posted"
		return out
	}
	r := o.record(x, kind)
	var amount number
	if text := x.values["TRNAMT"]; text == "" {
		x.faultf("TRNAMT", "is missing")
	} else if n, err := parseNumber(text, o.amount); err != nil || n.code != "" {
		if err == nil {
			err = errNotNumber
		}
		x.faultf("TRNAMT", "%q %v", shorten(text), err)
	} else {
		amount = n
	}
	if len(x.faults) == 0 && amount.value.IsZero() {
		out.Skipped = "nothing moved: the amount is zero"
		return out
	}
	if o.m.FlipSign {
		amount.value = amount.value.Neg()
	}
	switch {
	case (kind == "FEE" || kind == "SRVCHG") && amount.value.Sign() < 0:
		r.Type = typeFee
	case kind == "INT" && amount.value.Sign() > 0:
		r.Type = typeIncome
	}
	if len(x.faults) == 0 {
		r.ExternalID = o.id(x)
	}
	if len(x.faults) > 0 {
		out.Faults = x.faults
		return out
	}
	out.Records = splitLegs(r, amount.value, money.Decimal{}).records()
	return out
}

// record returns a record with everything that does not depend on the amount.
func (o *ofxRows) record(x *ofxTransaction, kind string) Record {
	name := firstOf(x.values["NAME"], x.values["PAYEE.NAME"], x.values["EXTDPAYEE.NAME"])
	r := Record{Line: x.line, Description: firstOf(name, x.values["MEMO"]), ProviderCategory: kind, Memo: x.values["MEMO"],
		Currency: firstOf(cleanCurrency(x.values["CURRENCY.CURSYM"]), o.statement.currency, o.m.Currency)}
	if r.Currency == "" {
		x.faultf("CURDEF", "is missing; state the currency in the mapping")
	}
	if check := x.values["CHECKNUM"]; check != "" && r.Memo == "" {
		r.Memo = "Check " + check
	}
	var err error
	if r.Timestamp, err = ofxTime(x.values["DTPOSTED"], o.zone); err != nil {
		x.faultf("DTPOSTED", "%q %v", shorten(x.values["DTPOSTED"]), err)
	}
	last := firstOf(lastFour(o.statement.account), o.m.AccountLast4)
	r.Bank = &Bank{BankName: firstOf(o.m.BankName, o.statement.organization), AccountLast4: last, CounterpartyName: name}
	if o.statement.card {
		r.Card = &Card{MerchantName: name, MerchantCategory: x.values["SIC"], Last4: last}
	}
	return r
}

// id returns the id that the bank assigned, which must be unique, or derives one.
func (o *ofxRows) id(x *ofxTransaction) string {
	id := x.values["FITID"]
	if id == "" || o.m.IgnoreIDs {
		return o.ids.derive(o.statement.account, x.values["DTPOSTED"], x.values["TRNAMT"], x.values["TRNTYPE"], x.values["NAME"],
			x.values["PAYEE.NAME"], x.values["MEMO"], x.values["CHECKNUM"])
	}
	if o.ids.isDuplicate(id) {
		x.faultf("FITID", "%q occurs earlier in the file; if the two are different transactions, set ignore_ids in the mapping", shorten(id))
	}
	return id
}

// ofxTime reads 20060102, 20060102150405 and 20060102150405.123, each with an optional zone such as [-5:EST].
func ofxTime(text string, zone *time.Location) (time.Time, error) {
	stamp, bracket, zoned := strings.Cut(text, "[")
	stamp = strings.TrimSpace(stamp)
	digits := countDigits(stamp)
	var m moment
	var err error
	switch digits {
	case 8, 14:
		m, err = parseDigits(stamp[:digits], digits)
	case 12:
		m, err = parseDigits(stamp[:digits]+"00", 14)
	default:
		return time.Time{}, errNotDate
	}
	if err != nil {
		return time.Time{}, err
	}
	rest := ""
	if m.nanosecond, rest, err = cutFraction(stamp[digits:]); err != nil || rest != "" {
		return time.Time{}, errNotDate
	}
	if zoned && m.timed {
		offset, err := ofxOffset(bracket)
		if err != nil {
			return time.Time{}, err
		}
		m.zoned, m.offset = true, offset
	}
	return m.instantIn(zone)
}

// ofxOffset reads -5:EST] or +5.30:IST].
func ofxOffset(bracket string) (int, error) {
	inner, _, closed := strings.Cut(bracket, "]")
	hours, _, _ := strings.Cut(inner, ":")
	whole, part, _ := strings.Cut(strings.TrimSpace(hours), ".")
	h, err := strconv.Atoi(strings.TrimPrefix(whole, "+"))
	minute, known := ofxMinutes[part]
	if !closed || err != nil || h < -14 || h > 14 || !known {
		return 0, fmt.Errorf("has the time zone %q, which does not exist", shorten(bracket))
	}
	if strings.HasPrefix(whole, "-") {
		minute = -minute
	}
	return h*3600 + minute*60, nil
}

// ofxMinutes are the fractions of an hour in zone offsets. Banks write them as minutes or as decimals; no entry is
// ambiguous between the two.
var ofxMinutes = map[string]int{
	"": 0, "0": 0, "00": 0, "15": 15, "25": 15, "3": 30, "30": 30, "5": 30, "50": 30, "45": 45, "75": 45,
}
