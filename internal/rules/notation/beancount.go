package notation

import (
	"strconv"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// An entry in the beancount format:
//
//	1000-01-01 open Assets:Bank-EUR
//	  exact-name: "Assets:Bank%3A EUR"
//
//	2024-01-31 * "January rent"
//	  number: "JE-12"
//	  entity: "Acme Inc"
//	  tags: "Department:Research"
//	  Expenses:Rent  1100.00 USD
//	    memo: "office"
//	  Assets:Bank-EUR  -1000.00 EUR @@ 1100.00 USD
//
// beancount allows few characters in the names of accounts and currencies, so each name is converted to a unique valid
// one, and the open or commodity directive before its first use has the exact name. All accounts are opened on
// 1000-01-01. Other properties are written as metadata. Tags of the kinds "tag" and "link" become native beancount tags
// and links if their names allow it, and entries that reverse each other are linked.
//
// beancount computes with 28 digits; bean-check may report a false difference in entries with more digits.

const (
	keyExact  = "exact-name"
	keyNumber = "number"
	keyTags   = "tags"

	kindTag  = "tag"
	kindLink = "link"

	// nativeMax bounds the tags of an entry written as native beancount tags, which are compared with each other.
	nativeMax = 100
)

type beancountForm struct {
	accounts   names
	currencies names
}

// names maps names to unique names that beancount allows.
type names struct {
	fitted map[string]string
	taken  map[string]bool
	last   map[string]int // The last number appended to a candidate.
}

func newNames() names { return names{map[string]string{}, map[string]bool{}, map[string]int{}} }

// fit assigns the candidate to a name, or the candidate with the first free number appended.
func (n *names) fit(name, candidate string) string {
	fitted := candidate
	for i := max(2, n.last[candidate]+1); n.taken[fitted]; i++ {
		fitted = candidate + "-" + strconv.Itoa(i)
		n.last[candidate] = i
	}
	n.taken[fitted], n.fitted[name] = true, fitted
	return fitted
}

func newBeancountForm() *beancountForm {
	return &beancountForm{accounts: newNames(), currencies: newNames()}
}

// head sets a tolerance for the rounding of beancount's division of total costs, for currencies without an amount that
// shows the precision.
func (b *beancountForm) head(buf []byte) []byte {
	return append(buf, "option \"inferred_tolerance_default\" \"*:0.000001\"\n\n"...)
}

func (b *beancountForm) foot(buf []byte) []byte { return buf }

func (b *beancountForm) account(buf []byte, a *Account) ([]byte, error) {
	path := joinPath(a.Path)
	if b.accounts.fitted[path] != "" {
		return nil, fault.Conflictf("account %s was used before it was declared; declare it first", path)
	}
	kind := a.Type
	if kind == "" {
		kind = TypeOfRoot(a.Path[0])
	}
	if kind == "" {
		return nil, noType(path)
	}
	buf = b.open(buf, a.Path, path, kind)
	buf = appendMeta(buf, "  ", keyCode, a.Code)
	buf = appendMeta(buf, "  ", keyID, a.ID)
	return appendMeta(buf, "  ", keyTags, joinTags(a.Tags)), nil
}

func noType(path string) error {
	return fault.Malformedf("beancount needs the type of account %s; declare it before it is used", path)
}

func (b *beancountForm) open(buf []byte, names []string, path, kind string) []byte {
	fitted := b.accounts.fit(path, fitAccount(names, kind))
	buf = append(buf, beginningOfTime+" open "...)
	buf = append(buf, fitted...)
	buf = append(buf, '\n')
	if fitted != path {
		buf = appendMeta(buf, "  ", keyExact, path)
	}
	return buf
}

// declareNew declares the accounts and currencies that an entry uses for the first time.
func (b *beancountForm) declareNew(buf []byte, e *Entry) ([]byte, error) {
	for i := range e.Postings {
		path := joinPath(e.Postings[i].Account)
		if b.accounts.fitted[path] == "" && TypeOfRoot(e.Postings[i].Account[0]) == "" {
			return nil, noType(path)
		}
	}
	for i := range e.Postings {
		p := &e.Postings[i]
		if path := joinPath(p.Account); b.accounts.fitted[path] == "" {
			buf = b.open(buf, p.Account, path, TypeOfRoot(p.Account[0]))
		}
		buf = b.currency(buf, p.Currency)
		if p.Base != nil {
			buf = b.currency(buf, p.BaseCurrency)
		}
	}
	return buf, nil
}

// currency declares a currency whose name beancount does not accept.
func (b *beancountForm) currency(buf []byte, name string) []byte {
	if b.currencies.fitted[name] != "" {
		return buf
	}
	fitted := b.currencies.fit(name, fitCurrency(name))
	if fitted == name {
		return buf
	}
	buf = append(buf, beginningOfTime+" commodity "...)
	buf = append(buf, fitted...)
	buf = append(buf, '\n')
	return appendMeta(buf, "  ", keyExact, name)
}

func (b *beancountForm) price(buf []byte, p *Price) ([]byte, error) {
	buf = b.currency(b.currency(buf, p.Base), p.Quote)
	buf = append(buf, p.Date...)
	buf = append(buf, " price "...)
	buf = append(buf, b.currencies.fitted[p.Base]...)
	buf = append(buf, ' ')
	buf = append(buf, p.Rate.String()...)
	buf = append(buf, ' ')
	buf = append(buf, b.currencies.fitted[p.Quote]...)
	buf = append(buf, '\n')
	return appendMeta(buf, "  ", keySource, p.Source), nil
}

func (b *beancountForm) entry(buf []byte, e *Entry) ([]byte, error) {
	if err := validateBalance(e); err != nil {
		return nil, err
	}
	buf, err := b.declareNew(buf, e)
	if err != nil {
		return nil, err
	}
	buf = append(buf, '\n')
	buf = append(buf, e.Date...)
	if e.Posted {
		buf = append(buf, " * "...)
	} else {
		buf = append(buf, " ! "...)
	}
	buf = appendQuoted(buf, e.Memo)
	native := nativeTags(e)
	buf = appendNative(buf, e, native)
	buf = append(buf, '\n')
	buf = appendMeta(buf, "  ", keyID, e.ID)
	buf = appendMeta(buf, "  ", keyNumber, e.Number)
	buf = appendMeta(buf, "  ", keyEntity, e.Entity)
	buf = appendMeta(buf, "  ", keyInstant, e.Instant)
	buf = appendMeta(buf, "  ", keyIntended, e.Intended)
	buf = appendMeta(buf, "  ", keyClassification, e.Classification)
	buf = appendMeta(buf, "  ", keyOriginatedBy, e.OriginatedBy)
	buf = appendMeta(buf, "  ", keyPrevious, e.Previous)
	buf = appendMeta(buf, "  ", keyNext, e.Next)
	buf = appendMeta(buf, "  ", keyTags, joinTags(e.Tags[native:]))
	for i := range e.Postings {
		buf = b.posting(buf, &e.Postings[i])
	}
	return buf, nil
}

func (b *beancountForm) posting(buf []byte, p *Posting) []byte {
	buf = append(buf, "  "...)
	buf = append(buf, b.accounts.fitted[joinPath(p.Account)]...)
	buf = append(buf, "  "...)
	if !p.Debit {
		buf = append(buf, '-')
	}
	buf = append(buf, p.Amount.Fixed(p.Currency)...)
	buf = append(buf, ' ')
	buf = append(buf, b.currencies.fitted[p.Currency]...)
	if p.Base != nil {
		buf = append(buf, " @@ "...)
		buf = append(buf, p.Base.Fixed(p.BaseCurrency)...)
		buf = append(buf, ' ')
		buf = append(buf, b.currencies.fitted[p.BaseCurrency]...)
	}
	buf = append(buf, '\n')
	buf = appendMeta(buf, "    ", keyMemo, p.Memo)
	buf = appendMeta(buf, "    ", keyEntity, p.Entity)
	return appendMeta(buf, "    ", keyTags, joinTags(p.Tags))
}

// nativeTags counts the leading tags that beancount can represent natively: tags, then links, each once.
func nativeTags(e *Entry) int {
	links := false
	for i, tag := range e.Tags {
		fits := i < nativeMax && linkable(tag.Name) && (tag.Kind == kindTag && !links || tag.Kind == kindLink && !isChainLink(e, tag.Name))
		for _, before := range e.Tags[:i] {
			fits = fits && before != tag
		}
		if !fits {
			return i
		}
		links = links || tag.Kind == kindLink
	}
	return len(e.Tags)
}

// isChainLink reports whether a link represents the chain of corrections rather than a tag of the user.
func isChainLink(e *Entry, name string) bool {
	return (e.Previous != "" || e.Next != "") && (name == e.Number || name == e.Previous || name == e.Next)
}

func appendNative(buf []byte, e *Entry, native int) []byte {
	for _, tag := range e.Tags[:native] {
		if tag.Kind == kindTag {
			buf = append(buf, " #"...)
		} else {
			buf = append(buf, " ^"...)
		}
		buf = append(buf, tag.Name...)
	}
	if e.Previous == "" && e.Next == "" {
		return buf
	}
	for _, name := range []string{e.Number, e.Previous, e.Next} {
		if linkable(name) {
			buf = append(buf, " ^"...)
			buf = append(buf, name...)
		}
	}
	return buf
}

// linkable reports whether beancount accepts a name as a tag or link.
func linkable(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && strings.IndexByte("-_/.", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

func appendMeta(buf []byte, indent, key, value string) []byte {
	if value == "" {
		return buf
	}
	buf = append(buf, indent...)
	buf = append(buf, key...)
	buf = append(buf, ": "...)
	buf = appendQuoted(buf, value)
	return append(buf, '\n')
}

func appendQuoted(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for i := range len(s) {
		switch s[i] {
		case '"', '\\':
			buf = append(buf, '\\', s[i])
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\r':
			buf = append(buf, '\\', 'r')
		case '\t':
			buf = append(buf, '\\', 't')
		case '\f':
			buf = append(buf, '\\', 'f')
		case '\b':
			buf = append(buf, '\\', 'b')
		default:
			buf = append(buf, s[i])
		}
	}
	return append(buf, '"')
}
