package notation

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bursarhq/bursar/internal/base/money"
)

// An entry in the hledger format:
//
//	2024-01-31 * (JE-12) January rent
//	    ; id:je_1, entity:Acme Inc, instant:2024-01-31T12:00:00Z
//	    ; Department:Research
//	    Expenses:Rent  1100.00 USD  ; office, Project:Move
//	    Assets:Bank  -1000.00 EUR @@ 1100.00 USD
//
// In an entry of several legal entities every posting has the tag entity, and the entry names its own legal entity in
// another tag, because a posting inherits the tags of its transaction in hledger: so tag:entity=Acme finds exactly the
// postings of Acme. The name of that other tag must not contain "entity", because hledger queries match any part of a
// tag name.
//
// Properties that hledger does not have are written as tags. Texts that hledger would cut, trim or misread contain
// percent escapes, and an entry with escapes has the tag escaped:percent; in all others a percent sign is literal. The
// journal begins with a decimal mark and ends with one commodity directive for each currency, with as many digits as
// that currency needs: hledger accepts these directives anywhere, and the digits are known only at the end.

// Tag names reserved for this program. A user's kind of tag with such a name has its first letter escaped.
const (
	keyID             = "id"
	keyEntity         = "entity"
	keyEntryOf        = "entry-of"
	keyInstant        = "instant"
	keyIntended       = "intended"
	keyClassification = "classification"
	keyOriginatedBy   = "originated-by"
	keyPrevious       = "previous"
	keyNext           = "next"
	keyMemo           = "memo"
	keyBase           = "base"
	keyType           = "type"
	keyCode           = "code"
	keySource         = "source"
	keyEscaped        = "escaped"

	escapedPercent = "percent"
)

// reserved are those names, and the two that hledger reads as dates of a posting.
var reserved = map[string]bool{
	keyID: true, keyEntity: true, keyEntryOf: true, keyInstant: true, keyIntended: true, keyClassification: true,
	keyOriginatedBy: true, keyPrevious: true, keyNext: true, keyMemo: true, keyBase: true, keyType: true, keyCode: true,
	keySource: true, keyEscaped: true, "date": true, "date2": true,
}

var hledgerTypes = map[string]string{Asset: "A", Liability: "L", Equity: "E", Revenue: "R", Expense: "X"}

type hledgerForm struct {
	places  map[string]int // The maximum number of decimal places, by currency.
	order   []string       // The currencies in order of first appearance.
	escaped bool           // The current item contains an escape.
	body    []byte         // Postings of the current entry.
	comment []byte
}

func newHledgerForm() *hledgerForm { return &hledgerForm{places: map[string]int{}} }

func (h *hledgerForm) head(buf []byte) []byte { return append(buf, "decimal-mark .\n\n"...) }

func (h *hledgerForm) account(buf []byte, a *Account) ([]byte, error) {
	h.escaped = false
	buf = append(buf, "account "...)
	buf = h.path(buf, a.Path)
	comment := h.field(h.comment[:0], keyType, hledgerTypes[a.Type])
	comment = h.field(comment, keyCode, a.Code)
	comment = h.field(comment, keyID, a.ID)
	comment = h.tags(comment, a.Tags)
	h.comment = h.mark(comment)
	return appendComment(buf, h.comment), nil
}

func (h *hledgerForm) price(buf []byte, p *Price) ([]byte, error) {
	h.escaped = false
	buf = append(buf, "P "...)
	buf = append(buf, p.Date...)
	buf = append(buf, ' ')
	buf = h.symbol(buf, p.Base)
	buf = append(buf, ' ')
	buf = append(buf, p.Rate.String()...)
	buf = append(buf, ' ')
	buf = h.symbol(buf, p.Quote)
	h.comment = h.mark(h.field(h.comment[:0], keySource, p.Source))
	return appendComment(buf, h.comment), nil
}

func (h *hledgerForm) entry(buf []byte, e *Entry) ([]byte, error) {
	if err := validateBalance(e); err != nil {
		return nil, err
	}
	h.escaped = false
	buf = append(buf, '\n')
	buf = append(buf, e.Date...)
	if e.Posted {
		buf = append(buf, " *"...)
	} else {
		buf = append(buf, " !"...)
	}
	if e.Number != "" {
		buf = append(buf, " ("...)
		buf = h.text(buf, e.Number, func(s string, i int) bool { return s[i] == ')' || edge(s, i) })
		buf = append(buf, ')')
	}
	if e.Memo != "" {
		buf = append(buf, ' ')
		buf = h.text(buf, e.Memo, markDescription)
	}
	buf = append(buf, '\n')

	// The tag about escapes precedes the escaped texts, so those are written to a separate buffer first.
	h.body = h.body[:0]
	if len(e.Tags) > 0 {
		h.body = append(h.body, "    ; "...)
		h.body = append(h.body, h.tags(h.comment[:0], e.Tags)...)
		h.body = append(h.body, '\n')
	}
	shared := e.Entity != "" && slices.ContainsFunc(e.Postings, func(p Posting) bool { return p.Entity != "" && p.Entity != e.Entity })
	for i := range e.Postings {
		entity := e.Postings[i].Entity
		if shared {
			entity = cmp.Or(entity, e.Entity)
		} else if entity == e.Entity {
			entity = ""
		}
		h.body = h.posting(h.body, &e.Postings[i], entity)
	}
	comment := h.field(h.comment[:0], keyID, e.ID)
	if shared {
		comment = h.field(comment, keyEntryOf, e.Entity)
	} else {
		comment = h.field(comment, keyEntity, e.Entity)
	}
	comment = h.field(comment, keyInstant, e.Instant)
	comment = h.field(comment, keyIntended, e.Intended)
	comment = h.field(comment, keyClassification, e.Classification)
	comment = h.field(comment, keyOriginatedBy, e.OriginatedBy)
	comment = h.field(comment, keyPrevious, e.Previous)
	comment = h.field(comment, keyNext, e.Next)
	h.comment = h.mark(comment)
	if len(h.comment) > 0 {
		buf = append(buf, "    ; "...)
		buf = append(buf, h.comment...)
		buf = append(buf, '\n')
	}
	return append(buf, h.body...), nil
}

func (h *hledgerForm) posting(buf []byte, p *Posting, entity string) []byte {
	buf = append(buf, "    "...)
	buf = h.path(buf, p.Account)
	buf = append(buf, "  "...)
	if !p.Debit {
		buf = append(buf, '-')
	}
	buf = h.amount(buf, p.Amount, p.Currency)
	comment := h.comment[:0]
	if strings.IndexByte(p.Memo, ':') < 0 {
		comment = h.text(comment, p.Memo, markRemark)
	} else {
		comment = h.field(comment, keyMemo, p.Memo)
	}
	comment = h.field(comment, keyEntity, entity)
	if p.Base != nil {
		buf = append(buf, " @@ "...)
		buf = h.amount(buf, *p.Base, p.BaseCurrency)
		if p.Base.IsZero() {
			// hledger prints zero without its currency.
			comment = h.field(comment, keyBase, p.BaseCurrency)
		}
	}
	h.comment = h.tags(comment, p.Tags)
	return appendComment(buf, h.comment)
}

func (h *hledgerForm) amount(buf []byte, amount money.Decimal, currency string) []byte {
	number := amount.Fixed(currency)
	if places, known := h.places[currency]; !known || decimals(number) > places {
		if !known {
			h.order = append(h.order, currency)
		}
		h.places[currency] = decimals(number)
	}
	buf = append(buf, number...)
	buf = append(buf, ' ')
	return h.symbol(buf, currency)
}

func (h *hledgerForm) foot(buf []byte) []byte {
	if len(h.order) > 0 {
		buf = append(buf, '\n')
	}
	for _, currency := range h.order {
		buf = append(buf, "commodity 1000."...)
		for range h.places[currency] {
			buf = append(buf, '0')
		}
		buf = append(buf, ' ')
		h.escaped = false
		buf = h.symbol(buf, currency)
		h.comment = h.mark(h.comment[:0])
		buf = appendComment(buf, h.comment)
	}
	return buf
}

func (h *hledgerForm) path(buf []byte, path []string) []byte {
	for i, name := range path {
		if i > 0 {
			buf = append(buf, ':')
		}
		if name == "" {
			h.escaped = true
			buf = append(buf, emptyName...)
			continue
		}
		buf = h.text(buf, name, func(s string, at int) bool {
			return i == 0 && at == 0 && asciiMark(s[0]) || markName(s, at)
		})
	}
	return buf
}

// symbol writes a currency, in quotes unless it is all letters.
func (h *hledgerForm) symbol(buf []byte, currency string) []byte {
	if strings.IndexFunc(currency, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) }) < 0 {
		return append(buf, currency...)
	}
	buf = append(buf, '"')
	buf = h.text(buf, currency, func(s string, i int) bool { return s[i] == '"' || s[i] == ';' || edge(s, i) })
	return append(buf, '"')
}

// field appends one of the reserved tags, unless its value is empty.
func (h *hledgerForm) field(comment []byte, key, value string) []byte {
	if value == "" {
		return comment
	}
	return h.pair(comment, key, value)
}

func (h *hledgerForm) pair(comment []byte, key, value string) []byte {
	if len(comment) > 0 {
		comment = append(comment, ", "...)
	}
	comment = append(comment, key...)
	comment = append(comment, ':')
	return h.text(comment, value, markValue)
}

func (h *hledgerForm) tags(comment []byte, tags []Tag) []byte {
	for _, tag := range tags {
		key := tag.Kind
		if key == "" {
			h.escaped = true
			key = emptyName
		} else {
			hidden := reserved[key] || !tagLike(key)
			key = string(h.text(nil, key, func(s string, i int) bool {
				return hidden && i == 0 || strings.IndexByte(" :,", s[i]) >= 0 || dateBracket(s, i)
			}))
		}
		comment = h.pair(comment, key, tag.Name)
	}
	return comment
}

func (h *hledgerForm) mark(comment []byte) []byte {
	if !h.escaped {
		return comment
	}
	return h.pair(comment, keyEscaped, escapedPercent)
}

func (h *hledgerForm) text(buf []byte, s string, mark func(s string, i int) bool) []byte {
	buf, changed := appendEscaped(buf, s, mark)
	h.escaped = h.escaped || changed
	return buf
}

// appendComment ends a line with a comment, if there is one.
func appendComment(buf, comment []byte) []byte {
	if len(comment) > 0 {
		buf = append(buf, "  ; "...)
		buf = append(buf, comment...)
	}
	return append(buf, '\n')
}

// asciiMark reports whether a character may have a meaning at the start of a line or name, like brackets and stars.
func asciiMark(b byte) bool { return b > ' ' && b < 0x7f && !isLetter(b) && !isDigit(b) }

func markDescription(s string, i int) bool {
	return s[i] == ';' || edge(s, i) || i == 0 && strings.IndexByte("(*!=", s[0]) >= 0
}

func markName(s string, i int) bool {
	return s[i] == ':' || s[i] == ';' || edge(s, i) || i > 0 && s[i] == ' ' && s[i-1] == ' '
}

// markRemark is for a remark before the tags: it marks commas, which would be taken for separators of tags, and dates
// in brackets.
func markRemark(s string, i int) bool {
	return dateBracket(s, i) || edge(s, i) || s[i] == ',' && i == len(s)-1
}

// markValue is for the value of a tag, which ends at a comma. Two slashes would make a tag look like a URL.
func markValue(s string, i int) bool {
	return s[i] == ',' || dateBracket(s, i) || edge(s, i) || i == 0 && strings.HasPrefix(s, "//")
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// dateBracket reports whether hledger would read the bracket at i as the start of a posting date.
func dateBracket(s string, i int) bool {
	return s[i] == '[' && i+1 < len(s) && strings.IndexByte("0123456789/-.=", s[i+1]) >= 0
}

// tagLike reports whether a name contains a letter; otherwise the colon belongs to a time of day or a score, not to a
// tag.
func tagLike(s string) bool { return strings.IndexFunc(s, tagRune) >= 0 }

func tagRune(r rune) bool { return unicode.IsLetter(r) || r == '%' }
