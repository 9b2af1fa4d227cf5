package interchange

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

var (
	numberRe         = regexp.MustCompile(`^JE-[0-9]+$`)
	classificationRe = regexp.MustCompile(`^[A-Z][A-Z_ ]{0,63}$`)
)

// params describes an entry as a request would, and says on which line of the file each of its lines is.
func (m *importer) params(ctx context.Context, e *notation.Entry) (p journal.CreateParams, lines []int, err error) {
	own, err := m.entity(e.Line, e.Entity)
	if err != nil {
		return p, nil, err
	}
	p = journal.CreateParams{
		ID: idOf(e), PreviousID: e.Previous, LegalEntityID: own.ID, IntendedDate: e.Intended, Memo: e.Memo, Status: journal.Draft,
		OriginatedBy:   e.OriginatedBy,
		Classification: e.Classification,
	}
	if p.AccountingDate, err = m.instant(e); err != nil {
		return p, nil, err
	}
	if e.Posted {
		p.Status = journal.Posted
	}
	// Numbers are given anew. One that is not ours, such as that of an invoice, says something.
	if e.Number != "" && !numberRe.MatchString(e.Number) {
		p.Memo = strings.TrimSpace("(" + e.Number + ") " + p.Memo)
	}
	tags := e.Tags
	if e.ID != p.ID {
		tags = append(tags, notation.Tag{Kind: "id", Name: e.ID})
	}
	if e.Classification != "" && !classificationRe.MatchString(e.Classification) {
		p.Classification = ""
		tags = append(tags, notation.Tag{Kind: "classification", Name: e.Classification})
	}
	if p.TagIDs, err = m.tagIDs(ctx, e.Line, tags, &p.Memo); err != nil {
		return p, nil, err
	}
	priced := !m.balances(e)
	for i := range e.Postings {
		line, err := m.line(ctx, e, &e.Postings[i], own, priced)
		if err != nil {
			return p, nil, err
		}
		if priced && line.Amount == "0" { // it moves no money
			p.Memo = joinMemo(p.Memo, line.Memo+" at no cost")
			continue
		}
		p.Lines, lines = append(p.Lines, line), append(lines, e.Postings[i].Line)
	}
	return p, lines, m.memo(e.Line, p.Memo)
}

func joinMemo(memo, more string) string {
	if memo == "" {
		return more
	}
	return memo + "\n" + more
}

// memo refuses what is longer than the API takes.
func (m *importer) memo(line int, memo string) error {
	if n := utf8.RuneCountInString(memo); n > journal.MemoMax {
		return m.fail(line, "the text has %d characters, at most %d are kept: shorten it", n, journal.MemoMax)
	}
	return m.plain(line, memo)
}

// apart is how far the beginning of a date may be from an instant on it, whatever the zone.
const (
	eastmost = 14 * time.Hour
	westmost = 36 * time.Hour
)

// instant is when an entry counts: the instant it names, which must be one of its date somewhere on earth, so that a
// date that somebody corrected is not passed over; or its date.
func (m *importer) instant(e *notation.Entry) (string, error) {
	if e.Instant == "" {
		return e.Date, nil
	}
	at, err := time.Parse(time.RFC3339, e.Instant)
	if err != nil {
		return "", m.fail(e.Line, "the instant %q is not a time such as 2006-01-31T12:00:00Z", e.Instant)
	}
	if day, _ := time.Parse(time.DateOnly, e.Date); at.Before(day.Add(-eastmost)) || !at.Before(day.Add(westmost)) {
		return "", m.fail(e.Line,
			"the entry is dated %s, but its instant %s is not on that day: correct one of them, or take the instant off", e.Date, e.Instant)
	}
	return e.Instant, nil
}

// balances tells whether each currency balances by itself, as it does in our books. Other programs let what was paid
// for a thing stand against it.
func (m *importer) balances(e *notation.Entry) bool {
	lines := make([]book.Line, len(e.Postings))
	for i, p := range e.Postings {
		side := book.Credit
		if p.Debit {
			side = book.Debit
		}
		lines[i] = book.Line{Entity: cmp.Or(p.Entity, e.Entity), Side: side, Amount: p.Amount, Currency: p.Currency}
	}
	return len(book.Differences(lines)) == 0
}

// line describes a posting. In an entry that balances only by what things cost, a thing is booked at its cost, and
// the memo says how much of it.
func (m *importer) line(ctx context.Context, e *notation.Entry, p *notation.Posting, own entity.LegalEntity,
	priced bool) (l journal.LineParams, err error) {
	if p.Entity != "" {
		if own, err = m.entity(p.Line, p.Entity); err != nil {
			return l, err
		}
	}
	l = journal.LineParams{LegalEntityID: own.ID, Side: book.Credit, Amount: p.Amount.String(), Currency: currency(p.Currency, own),
		Memo: p.Memo}
	if p.Debit {
		l.Side = book.Debit
	}
	switch {
	case p.Base != nil && priced:
		l.Amount, l.Currency = p.Base.String(), currency(p.BaseCurrency, own)
		l.Memo = strings.TrimSuffix(p.Amount.String()+" "+p.Currency+": "+p.Memo, ": ")
	case l.Currency == own.BaseCurrency || !e.Posted:
	case p.Base != nil && currency(p.BaseCurrency, own) == own.BaseCurrency:
		l.Base = p.Base
	case !money.IsFiat(strings.ToUpper(l.Currency)):
		return l, m.fail(p.Line, "what are %s %s worth? Write what they cost, such as %[1]s %[2]s @@ 100.00 %s", p.Amount, p.Currency,
			own.BaseCurrency)
	}
	if l.LedgerAccountID, err = m.posted(ctx, p); err != nil {
		return l, err
	}
	if l.TagIDs, err = m.tagIDs(ctx, p.Line, p.Tags, &l.Memo); err != nil {
		return l, err
	}
	return l, m.memo(p.Line, l.Memo)
}

// signs are how people write currencies. A dollar is the legal entity's own, if it counts in one.
var signs = map[string]string{
	"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₪": "ILS", "₫": "VND", "₱": "PHP",
	"₦": "NGN", "₽": "RUB", "zł": "PLN",
	"US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "S$": "SGD", "HK$": "HKD", "R$": "BRL", "CN¥": "CNY",
}

var dollars = []string{"USD", "AUD", "CAD", "NZD", "SGD", "HKD", "TWD", "BSD", "BZD", "BMD", "KYD", "FJD", "JMD", "LRD", "NAD", "TTD"}

func currency(name string, own entity.LegalEntity) string {
	if name == "$" && slices.Contains(dollars, own.BaseCurrency) {
		return own.BaseCurrency
	}
	return cmp.Or(signs[name], name)
}

// entity finds a legal entity by its label or id.
func (m *importer) entity(line int, name string) (entity.LegalEntity, error) {
	name = cmp.Or(name, m.own)
	if name == "" {
		return entity.LegalEntity{}, m.fail(line, "the entry names no legal entity, and there are several: say which with --legal-entity")
	}
	e, there := m.entities[name]
	if !there {
		return e, m.fail(line, "there is no legal entity %q: make it first", name)
	}
	return e, nil
}

// tagIDs finds or makes tags. A kind that is none of ours becomes part of the name, and what is too long for a name part of the memo.
func (m *importer) tagIDs(ctx context.Context, line int, tags []notation.Tag, memo *string) (out []string, err error) {
	for _, t := range tags {
		id, there := m.tags[t]
		if !there {
			kind, name := tag.Kind(strings.ToLower(t.Kind)), strings.TrimSpace(t.Name)
			if !slices.Contains(tag.Kinds, kind) || name == "" {
				kind, name = tag.Custom, strings.TrimSuffix(t.Kind+": "+name, ": ")
			}
			if strings.TrimSpace(name) == "" {
				continue
			}
			if utf8.RuneCountInString(name) > tag.NameMax {
				*memo = joinMemo(*memo, name)
				continue
			}
			if err := m.plain(line, name); err != nil {
				return nil, err
			}
			made, err := tag.Ensure(ctx, m.tx, kind, name)
			if err != nil {
				return nil, m.fail(line, "the tag %q cannot be made: %s", name, reason(err))
			}
			id = made.ID
			m.tags[t] = id
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}
