package notation

import (
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
)

// expressionDepth bounds the nesting of brackets in an amount.
const expressionDepth = 100

// transaction reads an entry after its flag.
func (b *beancountReader) transaction(w *words, e *Entry) error {
	var texts []string
	var labels []Tag
	for !w.end() {
		switch w.peek() {
		case '"':
			text, err := w.quoted()
			if err != nil {
				return err
			}
			texts = append(texts, text)
		case '#', '^':
			labels = b.labels(w, labels)
		case '|':
			w.accept("|")
		default:
			return b.errorf(e.Line, "%q is not understood; texts belong in quotes", w.raw())
		}
	}
	if len(texts) > 2 {
		return b.errorf(e.Line, "a transaction has at most two texts, payee and narration; join the others")
	}
	e.Memo = strings.Join(texts, " | ")
	if len(texts) == 2 && (texts[0] == "" || texts[1] == "") {
		e.Memo = texts[0] + texts[1]
	}
	meta, err := b.body(&labels)
	if err != nil {
		return err
	}
	for _, tag := range b.tags {
		if own := (Tag{kindTag, tag}); !slices.Contains(labels, own) {
			labels = append(labels, own)
		}
	}
	b.setMetadata(e, append(meta, b.meta...), labels)
	postings, err := balance(b.legs)
	if err != nil {
		return b.errorf(e.Line, "%v", err)
	}
	e.Postings = postings
	b.out.emit(Item{Entry: e})
	return nil
}

// labels reads a sequence of tags and links.
func (b *beancountReader) labels(w *words, labels []Tag) []Tag {
	kind := kindTag
	if w.peek() == '^' {
		kind = kindLink
	}
	w.rest = w.rest[1:]
	return append(labels, Tag{kind, w.word()})
}

// body reads the postings and metadata of a transaction; metadata before the first posting belongs to the transaction.
func (b *beancountReader) body(labels *[]Tag) ([]Tag, error) {
	var meta []Tag
	b.legs = b.legs[:0]
	err := b.indented(func(w *words) error {
		if key, ok := w.key(); ok {
			value, err := w.value()
			if err != nil {
				return err
			}
			if len(b.legs) == 0 {
				meta = append(meta, Tag{key, value})
			} else {
				b.legs[len(b.legs)-1].setMetadata(key, value)
			}
			return nil
		}
		if c := w.peek(); c == '#' && len(w.rest) > 1 && w.rest[1] != ' ' || c == '^' {
			for !w.end() {
				*labels = b.labels(w, *labels)
			}
			return nil
		}
		if len(b.legs) == postingsMax {
			return b.errorf(b.line, "%v", errPostings)
		}
		return b.posting(w)
	})
	return meta, err
}

// setMetadata assigns metadata to the fields of an entry; unknown metadata becomes tags.
func (b *beancountReader) setMetadata(e *Entry, meta, labels []Tag) {
	var tags []Tag
	for _, m := range meta {
		switch field := e.field(m.Kind); {
		case m.Kind == keyTags:
			tags = append(tags, splitTags(m.Name)...)
		case field != nil && *field == "":
			*field = m.Name
		default:
			tags = append(tags, m)
		}
	}
	for _, label := range labels {
		if label.Kind != kindLink || !isChainLink(e, label.Name) {
			e.Tags = append(e.Tags, label)
		}
	}
	e.Tags = append(e.Tags, tags...)
}

// field returns the field for a metadata key, or nil.
func (e *Entry) field(key string) *string {
	switch key {
	case keyID:
		return &e.ID
	case keyNumber:
		return &e.Number
	case keyEntity:
		return &e.Entity
	case keyInstant:
		return &e.Instant
	case keyIntended:
		return &e.Intended
	case keyClassification:
		return &e.Classification
	case keyOriginatedBy:
		return &e.OriginatedBy
	case keyPrevious:
		return &e.Previous
	case keyNext:
		return &e.Next
	}
	return nil
}

// setMetadata assigns one piece of metadata to a posting.
func (l *leg) setMetadata(key, value string) {
	switch key {
	case keyMemo:
		l.Memo = value
	case keyEntity:
		l.Entity = value
	case keyTags:
		l.Tags = append(l.Tags, splitTags(value)...)
	default:
		l.Tags = append(l.Tags, Tag{key, value})
	}
}

func (b *beancountReader) posting(w *words) error {
	l := leg{Posting: Posting{Line: b.line}}
	name := w.word()
	if len(name) == 1 && strings.IndexByte("*!&#?%PSTCURM", name[0]) >= 0 {
		name = w.word()
	}
	root, _, ok := strings.Cut(name, ":")
	if !ok {
		return b.errorf(b.line, "%q is not an account; write one such as Assets:Cash", name)
	}
	if strings.Count(name, ":") >= depthMax {
		return b.errorf(b.line, "the account has more than %d levels; use fewer", depthMax)
	}
	if b.roots[root] == "" {
		return b.errorf(b.line, "%q is none of the five roots of beancount; set its name with an option", root)
	}
	if path, ok := b.paths[name]; ok {
		l.Account = path
	} else {
		l.Account = strings.Split(name, ":")
		b.paths[name] = l.Account
	}
	if w.end() {
		l.elided = true
		b.legs = append(b.legs, l)
		return nil
	}
	a, err := b.amount(w)
	if err != nil {
		return err
	}
	if a.currency == "" {
		return b.errorf(b.line, "the amount has no currency; write one, or %s", expandBeancount)
	}
	l.Debit, l.Amount, l.Currency, l.places = a.number.Sign() > 0, a.number.Abs(), a.currency, a.places
	l.zero = a.number.IsZero()
	if err := b.readCost(w, &l); err != nil {
		return err
	}
	if !w.end() {
		return b.errorf(b.line, "%q after the amount is not understood; put a semicolon before it if it is a comment", w.raw())
	}
	b.legs = append(b.legs, l)
	return nil
}

// readCost reads the cost of a posting in braces, or its price. If it has both, beancount balances by cost.
func (b *beancountReader) readCost(w *words, l *leg) error {
	lot := ""
	if w.peek() == '{' {
		lot, _, _ = strings.Cut(w.rest, ";")
		if err := b.lotCost(w, l); err != nil {
			return err
		}
		l.Tags = append(l.Tags, Tag{"lot", strings.TrimSpace(lot)})
	}
	if w.peek() != '@' {
		return nil
	}
	w.accept("@")
	total := w.accept("@")
	price, err := b.amount(w)
	if err != nil {
		return err
	}
	if lot != "" {
		return nil
	}
	if price.currency == "" {
		return b.errorf(b.line, "the price has no currency; write one")
	}
	if err := l.setCost(price, total); err != nil {
		return b.errorf(b.line, "%v", err)
	}
	if l.Base != nil && !total && significant(price.number) >= quotientDigits {
		base := l.Base.Round(int32(max(0, recoveredDigits-wholeDigits(*l.Base))))
		l.Base = &base
	}
	return nil
}

// beancount prints a total cost as a unit price divided to 28 digits. A price with about that many digits is such a
// quotient, and rounding the product to somewhat fewer digits restores the total.
const (
	quotientDigits  = 26
	recoveredDigits = 24
)

// significant counts the digits of a number from the first that is not zero.
func significant(d money.Decimal) int {
	return len(strings.TrimLeft(strings.ReplaceAll(d.Abs().String(), ".", ""), "0"))
}

// wholeDigits counts the digits before the decimal point.
func wholeDigits(d money.Decimal) int {
	whole, _, _ := strings.Cut(d.Abs().String(), ".")
	return len(strings.TrimLeft(whole, "0"))
}

// lotCost reads {500 USD}, {{5000 USD}} or {500 # 9.95 USD}, with an optional date and label.
func (b *beancountReader) lotCost(w *words, l *leg) error {
	w.accept("{")
	total := w.accept("{")
	var unit, fee amount
	for first := true; !w.accept("}"); first = false {
		if !first && !w.accept(",") {
			return b.errorf(b.line, "the cost in braces is not understood; write it like {500.00 USD}")
		}
		switch c := w.peek(); {
		case c == '"':
			if _, err := w.quoted(); err != nil {
				return err
			}
		case c == '*' || isDated(w.rest):
			w.word()
		case c != 0 && c != '}':
			var err error
			if unit, fee, err = b.compound(w); err != nil {
				return err
			}
		default:
			return b.errorf(b.line, "the braces have no end; add one")
		}
	}
	if total && !w.accept("}") {
		return b.errorf(b.line, "the braces have no end; add one")
	}
	if unit.currency == "" {
		return b.errorf(b.line, "the braces do not say the cost, and lots are not looked up; %s", expandBeancount)
	}
	if err := l.setCost(unit, total); err != nil {
		return b.errorf(b.line, "%v", err)
	}
	if l.Base != nil && !fee.number.IsZero() {
		base := l.Base.Add(fee.number)
		l.Base = &base
	}
	return nil
}

// compound reads a unit cost and, after a #, a total cost.
func (b *beancountReader) compound(w *words) (unit, fee amount, err error) {
	if w.peek() != '#' {
		if unit, err = b.amount(w); err != nil {
			return unit, fee, err
		}
	}
	if w.accept("#") {
		if fee, err = b.amount(w); err != nil {
			return unit, fee, err
		}
		unit.currency = fee.currency
	}
	return unit, fee, nil
}

// isDated reports whether a text is a date rather than a number.
func isDated(s string) bool {
	return len(s) >= 8 && isDigit(s[0]) && isDigit(s[3]) && (s[4] == '-' || s[4] == '/') && isDigit(s[5])
}

// amount reads a number, which may be an arithmetic expression, and a currency.
func (b *beancountReader) amount(w *words) (amount, error) {
	c := w.peek()
	if !isDigit(c) && c != '-' && c != '+' && c != '(' {
		return amount{}, b.errorf(b.line, "%q is not an amount; write one such as 1200.50 USD, or %s", w.raw(), expandBeancount)
	}
	number, places, err := b.sum(w, 0)
	if err != nil {
		return amount{}, err
	}
	a := amount{number: number, places: places}
	if c := w.peek(); c >= 'A' && c <= 'Z' {
		name := w.word()
		a.currency = b.exactCurrency(name)
	}
	return a, nil
}

func (b *beancountReader) sum(w *words, depth int) (money.Decimal, int, error) {
	total, places, err := b.product(w, depth)
	for err == nil && (w.peek() == '+' || w.peek() == '-') {
		minus := w.peek() == '-'
		w.rest = w.rest[1:]
		var next money.Decimal
		var digits int
		if next, digits, err = b.product(w, depth); err != nil {
			break
		}
		if minus {
			next = next.Neg()
		}
		total, places = total.Add(next), max(places, digits)
		err = b.validateSize(total)
	}
	return total, places, err
}

func (b *beancountReader) product(w *words, depth int) (money.Decimal, int, error) {
	total, places, err := b.factor(w, depth)
	for err == nil && (w.peek() == '*' || w.peek() == '/') {
		divide := w.peek() == '/'
		w.rest = w.rest[1:]
		var next money.Decimal
		var digits int
		if next, digits, err = b.factor(w, depth); err != nil {
			break
		}
		places = max(places, digits)
		switch {
		case !divide:
			total = total.Mul(next)
		case next.IsZero():
			return total, 0, b.errorf(b.line, "nothing can be divided by zero; correct the amount")
		default:
			quotient := total.Quo(next, money.DigitsAfterMax)
			if !quotient.Mul(next).Equal(total) {
				return total, 0, b.errorf(b.line, "the division has no end; write its result, rounded as you mean it")
			}
			total = quotient
		}
		err = b.validateSize(total)
	}
	return total, places, err
}

func (b *beancountReader) factor(w *words, depth int) (money.Decimal, int, error) {
	if depth > expressionDepth {
		return money.Decimal{}, 0, b.errorf(b.line, "the amount has too many brackets and signs; write its result")
	}
	switch {
	case w.accept("-"):
		d, places, err := b.factor(w, depth+1)
		return d.Neg(), places, err
	case w.accept("+"):
		return b.factor(w, depth+1)
	case w.accept("("):
		d, places, err := b.sum(w, depth+1)
		if err == nil && !w.accept(")") {
			err = b.errorf(b.line, "a bracket in the amount has no end; add one")
		}
		return d, places, err
	}
	d, places, err := parseNumber(w.number(), '.', 0)
	if err != nil {
		err = b.errorf(b.line, "%v", err)
	}
	return d, places, err
}

// validateSize rejects results that no amount can hold, before they grow without bound.
func (b *beancountReader) validateSize(d money.Decimal) error {
	if err := validateDigits(d); err != nil {
		return b.errorf(b.line, "%v", err)
	}
	return nil
}
