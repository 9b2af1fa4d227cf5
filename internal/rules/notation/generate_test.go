package notation_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// nasty are texts that some format would cut, trim, normalize or misread.
var nasty = []string{
	"", " ", "  ", " a", "a ", "a  b", "a   b", "\t", "a\nb", "\n", "a\r\nb", "\r", "\x00", "\x7f", "\u0085", "\u00a0", "\u2028",
	"\u3000x", "\ufeff", "x\ufeffy", ":", "a:b", "a: b", "::", "Bank: EUR; main", ";", "a ; b", "; x", ",", "a,", "a, b", "a,b:c",
	"%", "%%", "10%", "%41", "%2541", "%FF", "%ff", "100%%3A", "%4:", `"`, `a "b" c`, `""`, `\`, `\n`, `a\"b`, "'", "*", "! x", "* x",
	"(x)", "(x) y", "[x]", "[2024-01-01]", "[2024/13]", "[1]", "=", "= 5", "=2024", "~", "#x", "# x", "|", "a | b", "@", "@@ 5 USD",
	"{1 USD}", "date:2024-99-99", "date", "date2", "id", "id:je_9", "entity", "memo", "base", "escaped", "escaped:percent", "type",
	"code", "tag", "link", "tags", "10:30", "at 10:30", "https://example.com/a?b=c%20d", "//x", "2024", "1", "-5 USD", "+", "end comment",
	"comment", "Straße", "Ünal", "銀行", "🏦", "e\u0301", "cafe\u0301", "ﬁ", "\u202e", "a-b", "JE-12", "je_1", "TRUE", "NULL", "account",
	"include x", "&", "<b>", "=1+1", "R&D", "a/b.c", "x--y", "Assets", "Assets:Cash", "exact-name", "\U0010ffff", "ß", "ǆ", "٣",
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(nasty),
		rapid.StringMatching(`[A-Z][a-z]{1,8}( [a-z]{1,8}){0,3}`),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(nasty), 1, 4), func(parts []string) string { return strings.Join(parts, "") }),
		rapid.StringN(0, 12, -1),
	)
}

// drawText draws a text that is often empty, as most fields are.
func drawText(t *rapid.T, label string) string {
	if rapid.IntRange(0, 2).Draw(t, label+"?") > 0 {
		return ""
	}
	return text().Draw(t, label)
}

var currencies = []string{"USD", "EUR", "JPY", "ETH", "BTC", "1INCH", "usd", "stETH", "a b", "€", `st"ETH;x`, "E5", "A-B", ",x", "%41",
	"(x)", "=", "@", "U", "Ä", "A.B'C_D", "VERYLONGCURRENCYNAMEINDEED", "VERYLONGCURRENCYNAMEINDEEE", "-", "\n", " "}

// digits bounds the amounts a generator draws.
type digits struct{ before, after int }

var (
	exact  = digits{36, 30}
	python = digits{9, 8} // beancount computes with 28 digits.
)

func (d digits) amount(t *rapid.T) money.Decimal {
	short := digits{min(d.before, 5), min(d.after, 3)}
	if rapid.Bool().Draw(t, "short") {
		d = short
	}
	pattern := fmt.Sprintf(`[0-9]{1,%d}(\.[0-9]{1,%d})?`, d.before, d.after)
	amount := money.MustParse(rapid.StringMatching(pattern).Draw(t, "amount"))
	if amount.IsZero() {
		return money.FromInt(1)
	}
	return amount
}

// journal is what a test writes and expects to read.
type journal struct {
	accounts []notation.Account
	prices   []notation.Price
	entries  []notation.Entry
}

func drawJournal(t *rapid.T, d digits) journal {
	var j journal
	seen := map[string]bool{}
	types := []string{notation.Asset, notation.Liability, notation.Equity, notation.Revenue, notation.Expense}
	for i := range rapid.IntRange(2, 6).Draw(t, "accounts") {
		path := rapid.SliceOfN(text(), 1, 4).Draw(t, "path")
		if rapid.Bool().Draw(t, "usual") {
			path = append([]string{rapid.SampledFrom([]string{"Assets", "Liabilities", "Equity", "Revenue", "Expenses"}).Draw(t, "root")}, path...)
		}
		if key := fmt.Sprintf("%q", path); !seen[key] {
			seen[key] = true
			j.accounts = append(j.accounts, notation.Account{Path: path, Type: types[i%len(types)], Code: drawText(t, "code"), ID: drawText(t, "id"),
				Tags: drawTags(t)})
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "prices") {
		j.prices = append(j.prices, notation.Price{Date: date(t), Base: currency(t), Quote: currency(t), Rate: d.amount(t),
			Source: drawText(t, "source")})
	}
	for range rapid.IntRange(1, 4).Draw(t, "entries") {
		j.entries = append(j.entries, drawEntry(t, d, j.accounts))
	}
	return j
}

func date(t *rapid.T) string {
	return fmt.Sprintf("%d-%02d-%02d", rapid.IntRange(1000, 9999).Draw(t, "year"), rapid.IntRange(1, 12).Draw(t, "month"),
		rapid.IntRange(1, 28).Draw(t, "day"))
}

func currency(t *rapid.T) string {
	if c := text().Draw(t, "odd currency"); c != "" && rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		return c
	}
	return rapid.SampledFrom(currencies).Draw(t, "currency")
}

func drawEntry(t *rapid.T, d digits, accounts []notation.Account) notation.Entry {
	e := notation.Entry{
		ID: drawText(t, "id"), Number: drawText(t, "number"), Date: date(t), Posted: rapid.Bool().Draw(t, "posted"),
		Memo: drawText(t, "memo"), Entity: drawText(t, "entity"), Tags: drawTags(t), Classification: drawText(t, "classification"),
		OriginatedBy: drawText(t, "origin"), Previous: drawText(t, "previous"), Next: drawText(t, "next"),
	}
	if rapid.Bool().Draw(t, "instant?") {
		e.Instant = "2024-01-31T12:00:00.123456Z"
	}
	if rapid.Bool().Draw(t, "intended?") {
		e.Intended = "2023-12-31T12:00:00Z"
	}
	for range rapid.IntRange(0, 3).Draw(t, "moves") {
		unit := currency(t)
		one, two := d.amount(t), d.amount(t)
		if rapid.IntRange(0, 9).Draw(t, "worthless") == 0 {
			// Something without value: its cost is zero, on both sides.
			zero := money.Decimal{}
			e.Postings = append(e.Postings, drawForeignPosting(t, d, accounts, true, zero, unit),
				drawForeignPosting(t, d, accounts, false, zero, unit))
			continue
		}
		e.Postings = append(e.Postings, drawPosting(t, d, accounts, true, one, unit), drawPosting(t, d, accounts, true, two, unit),
			drawPosting(t, d, accounts, false, one.Add(two), unit))
	}
	for i := range e.Postings {
		if e.Postings[i].Entity == e.Entity {
			e.Postings[i].Entity = "" // It says nothing, and hledger's form does not keep it.
		}
	}
	if len(e.Postings) > 0 {
		e.Postings = rapid.Permutation(e.Postings).Draw(t, "order")
	}
	return e
}

func drawPosting(t *rapid.T, d digits, accounts []notation.Account, debit bool, weight money.Decimal, unit string) notation.Posting {
	if rapid.IntRange(0, 2).Draw(t, "foreign") == 0 {
		return drawForeignPosting(t, d, accounts, debit, weight, unit)
	}
	return notation.Posting{Account: rapid.SampledFrom(accounts).Draw(t, "account").Path, Debit: debit, Amount: weight, Currency: unit,
		Memo: drawText(t, "line memo"), Entity: drawText(t, "line entity"), Tags: drawTags(t)}
}

func drawForeignPosting(t *rapid.T, d digits, accounts []notation.Account, debit bool, weight money.Decimal, unit string) notation.Posting {
	p := drawAccount(t, accounts, debit)
	p.Amount, p.Currency, p.Base, p.BaseCurrency = d.amount(t), currency(t), &weight, unit
	if p.Currency == unit {
		p.Currency = unit + "X"
	}
	return p
}

func drawAccount(t *rapid.T, accounts []notation.Account, debit bool) notation.Posting {
	return notation.Posting{Account: rapid.SampledFrom(accounts).Draw(t, "account").Path, Debit: debit,
		Memo: drawText(t, "line memo"), Entity: drawText(t, "line entity"), Tags: drawTags(t)}
}

func drawTags(t *rapid.T) []notation.Tag {
	var tags []notation.Tag
	for range max(0, rapid.IntRange(-3, 3).Draw(t, "tags")) {
		kind := rapid.OneOf(text(), rapid.SampledFrom([]string{"tag", "link", "Department"})).Draw(t, "kind")
		tags = append(tags, notation.Tag{Kind: kind, Name: text().Draw(t, "name")})
	}
	return tags
}

// show formats everything about an entry, so that two entries can be compared.
func show(e *notation.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"%s posted=%t number=%q id=%q memo=%q entity=%q instant=%q intended=%q class=%q origin=%q previous=%q next=%q tags=%q\n", e.Date,
		e.Posted, e.Number, e.ID, e.Memo, e.Entity, e.Instant, e.Intended, e.Classification, e.OriginatedBy, e.Previous, e.Next, e.Tags)
	for _, p := range e.Postings {
		side := "credit"
		if p.Debit {
			side = "debit"
		}
		fmt.Fprintf(&b, "  %q %s %s %q", p.Account, side, p.Amount, p.Currency)
		if p.Base != nil {
			fmt.Fprintf(&b, " @@ %s %q", p.Base, p.BaseCurrency)
		}
		fmt.Fprintf(&b, " memo=%q entity=%q tags=%q\n", p.Memo, p.Entity, p.Tags)
	}
	return b.String()
}

func showAll(entries []notation.Entry) string {
	var b strings.Builder
	for i := range entries {
		b.WriteString(show(&entries[i]))
	}
	return b.String()
}
