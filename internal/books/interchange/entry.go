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
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

var (
	numberRe         = regexp.MustCompile(`^JE-[0-9]+$`)
	classificationRe = regexp.MustCompile(`^[A-Z][A-Z_ ]{0,63}$`)
)

// entryParams converts an entry into the parameters for creating it, and returns the line of the file for each of its
// lines.
func (m *importer) entryParams(ctx context.Context, e *notation.Entry) (p journal.CreateParams, lines []int, err error) {
	own, err := m.resolveEntity(e.Line, e.Entity)
	if err != nil {
		return p, nil, err
	}
	p = journal.CreateParams{
		ID: e.ID, PreviousID: e.Previous, LegalEntityID: own.ID, IntendedDate: e.Intended, Memo: e.Memo, Status: journal.Draft,
		OriginatedBy: e.OriginatedBy, Classification: e.Classification,
	}
	if p.AccountingDate, err = m.accountingInstant(e); err != nil {
		return p, nil, err
	}
	if at, err := time.Parse(time.RFC3339, p.AccountingDate); err == nil {
		p.Opening = period.IsOpening(at)
	}
	if e.Posted {
		p.Status = journal.Posted
	}
	// Numbers are assigned anew. A foreign number, such as that of an invoice, is kept in the memo.
	if e.Number != "" && !numberRe.MatchString(e.Number) {
		p.Memo = strings.TrimSpace("(" + e.Number + ") " + p.Memo)
	}
	tags := e.Tags
	if e.Classification != "" && !classificationRe.MatchString(e.Classification) {
		p.Classification = ""
		tags = append(tags, notation.Tag{Kind: "classification", Name: e.Classification})
	}
	if p.TagIDs, err = m.ensureTags(ctx, e.Line, tags, &p.Memo); err != nil {
		return p, nil, err
	}
	priced := !m.balancesByCurrency(e)
	for i := range e.Postings {
		line, err := m.lineParams(ctx, e, &e.Postings[i], own, priced)
		if err != nil {
			return p, nil, err
		}
		if priced && line.Amount == "0" { // it moves no money
			p.Memo = joinMemo(p.Memo, line.Memo+" at no cost")
			continue
		}
		p.Lines, lines = append(p.Lines, line), append(lines, e.Postings[i].Line)
	}
	return p, lines, m.validateMemo(e.Line, p.Memo)
}

func joinMemo(memo, more string) string {
	if memo == "" {
		return more
	}
	return memo + "\n" + more
}

// validateMemo rejects a memo longer than the API allows.
func (m *importer) validateMemo(line int, memo string) error {
	if n := utf8.RuneCountInString(memo); n > journal.MemoMax {
		return m.fail(line, "the memo has %d characters: shorten it to at most %d", n, journal.MemoMax)
	}
	return m.rejectNUL(line, memo)
}

// eastmost and westmost bound the distance of an instant from the start of its date in UTC, over all time zones.
const (
	eastmost = 14 * time.Hour
	westmost = 36 * time.Hour
)

// accountingInstant returns the instant of an entry if it has one, and otherwise its date. The instant must lie on that
// date in some time zone, so that a date corrected by hand is not ignored.
func (m *importer) accountingInstant(e *notation.Entry) (string, error) {
	if e.Instant == "" {
		return e.Date, nil
	}
	at, err := time.Parse(time.RFC3339, e.Instant)
	if err != nil {
		return "", m.fail(e.Line, "the instant %q is not a time such as 2006-01-31T12:00:00Z", e.Instant)
	}
	if day, _ := time.Parse(time.DateOnly, e.Date); at.Before(day.Add(-eastmost)) || !at.Before(day.Add(westmost)) {
		return "", m.fail(e.Line,
			"the entry is dated %s, but its instant %s is not on that day: correct one of them, or remove the instant", e.Date, e.Instant)
	}
	return e.Instant, nil
}

// balancesByCurrency reports whether each currency balances by itself, as our books require. Other programs balance an
// asset against what was paid for it.
func (m *importer) balancesByCurrency(e *notation.Entry) bool {
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

// lineParams converts a posting. In an entry that balances only at cost, an asset is booked at its cost, and the memo
// states the quantity.
func (m *importer) lineParams(ctx context.Context, e *notation.Entry, p *notation.Posting, own entity.LegalEntity,
	priced bool) (l journal.LineParams, err error) {
	if p.Entity != "" {
		if own, err = m.resolveEntity(p.Line, p.Entity); err != nil {
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
		return l, m.fail(p.Line, "the value of %s %s is missing: state what they cost, such as %[1]s %[2]s @@ 100.00 %s", p.Amount, p.Currency,
			own.BaseCurrency)
	}
	if l.LedgerAccountID, err = m.postingAccount(ctx, p); err != nil {
		return l, err
	}
	if l.TagIDs, err = m.ensureTags(ctx, p.Line, p.Tags, &l.Memo); err != nil {
		return l, err
	}
	return l, m.validateMemo(p.Line, l.Memo)
}

// signs are currency symbols. A dollar sign means the base currency of the legal entity if that is a dollar.
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

// resolveEntity returns a legal entity by its label or id.
func (m *importer) resolveEntity(line int, name string) (entity.LegalEntity, error) {
	name = cmp.Or(name, m.defaultEntityID)
	if name == "" {
		return entity.LegalEntity{}, m.fail(line, "the entry names no legal entity, and there are several: choose one with --legal-entity")
	}
	e, exists := m.entities[name]
	if !exists {
		return e, m.fail(line, "there is no legal entity %q: create it first", name)
	}
	return e, nil
}

// ensureTags returns the ids of tags and creates missing ones. An unknown kind becomes part of the name, and a name
// that is too long becomes part of the memo.
func (m *importer) ensureTags(ctx context.Context, line int, tags []notation.Tag, memo *string) (out []string, err error) {
	for _, t := range tags {
		id, exists := m.tags[t]
		if !exists {
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
			if err := m.rejectNUL(line, name); err != nil {
				return nil, err
			}
			made, err := tag.Ensure(ctx, m.tx, kind, name)
			if err != nil {
				return nil, m.fail(line, "the tag %q cannot be created: %s", name, reason(err))
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
