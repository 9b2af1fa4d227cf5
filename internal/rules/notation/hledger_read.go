package notation

import (
	"cmp"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// expand is the advice for what hledger can expand and this package cannot.
const expand = "run \"hledger -f FILE print -x\" and import what it prints"

// hledgerReader reads a journal as hledger prints it and as people write it.
//
// Balance assertions are parsed but not verified: they are about balances, and an import may begin in the middle of a
// history. Postings of zero move nothing and are dropped. Additional dates of a posting or transaction become tags
// named date and date2. A comment of a transaction that is not a tag is appended to its description in the memo.
type hledgerReader struct {
	*source
	out *output

	year    string          // The default year, if set.
	decimal byte            // The decimal mark of the file, if set.
	marks   map[string]byte // Decimal marks by currency.
	unnamed string          // The currency of amounts without one.
	types   map[string]string
	legs    []leg
}

func readHledger(src *source, out *output) error {
	h := &hledgerReader{source: src, out: out, marks: map[string]byte{}, types: map[string]string{}}
	for !out.stopped {
		src.begin()
		line, err := src.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = h.item(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// item reads the transaction or directive that begins with a line.
func (h *hledgerReader) item(line string) error {
	trimmed := strings.TrimLeft(line, " \t")
	switch {
	case trimmed == "" || strings.IndexByte(";#*", trimmed[0]) >= 0:
		return nil
	case len(trimmed) < len(line):
		return h.errorf(h.line, "this line is indented but belongs to no transaction; join it to the one above or remove it")
	case isDigit(line[0]):
		return h.transaction(line)
	case line[0] == '~':
		return h.errorf(h.line, "periodic transactions cannot be imported; %s", expand)
	case line[0] == '=':
		return h.errorf(h.line, "automated postings cannot be imported; run \"hledger -f FILE print -x --auto\" and import "+
			"what it prints")
	}
	return h.directive(strings.TrimPrefix(line, "!"))
}

// transaction reads a transaction, starting with its first line.
func (h *hledgerReader) transaction(line string) error {
	e := &Entry{Line: h.line, Posted: true}
	number, rest, second, err := h.header(e, line)
	if err != nil {
		return err
	}
	description, comment, commented := strings.Cut(rest, ";")
	description = strings.TrimSpace(description)
	var own remarks
	if commented {
		own.add(comment)
	}
	if err := h.comments(&own); err != nil {
		return err
	}
	escaped := own.popEscaped()
	fact := func(name string) string { return decoded(own.pop(name), escaped) }
	e.ID, e.Entity, e.Instant, e.Intended = fact(keyID), cmp.Or(fact(keyEntity), fact(keyEntryOf)), fact(keyInstant), fact(keyIntended)
	e.Classification, e.OriginatedBy = fact(keyClassification), fact(keyOriginatedBy)
	e.Previous, e.Next = fact(keyPrevious), fact(keyNext)
	own.decode(escaped)
	e.Number, e.Memo, e.Tags = decoded(number, escaped), own.appendTo(decoded(description, escaped)), own.tags
	if second != "" {
		e.Tags = append(e.Tags, Tag{"date2", second})
	}
	if err := h.postings(e, escaped); err != nil {
		return err
	}
	h.out.emit(Item{Entry: e})
	return nil
}

// header reads date, status and code, and returns the rest of the line.
func (h *hledgerReader) header(e *Entry, line string) (number, rest, second string, err error) {
	date, rest, _ := cutSpace(line)
	date, second, two := strings.Cut(date, "=")
	if e.Date, err = h.date(date, h.year); err != nil {
		return "", "", "", err
	}
	if two {
		if second, err = h.date(second, e.Date[:4]); err != nil {
			return "", "", "", err
		}
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "!") {
		e.Posted = rest[0] == '*'
		rest = strings.TrimSpace(rest[1:])
	}
	if strings.HasPrefix(rest, "(") {
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return "", "", "", h.errorf(h.line, "the code of the transaction has no closing bracket; add one")
		}
		number, rest = rest[1:end], strings.TrimSpace(rest[end+1:])
	}
	return number, rest, second, nil
}

// comments adds the comment lines that follow.
func (h *hledgerReader) comments(r *remarks) error {
	for {
		line, err := h.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		trimmed := strings.TrimLeft(line, " \t")
		if len(trimmed) == len(line) || !strings.HasPrefix(trimmed, ";") {
			h.unread()
			return nil
		}
		r.add(trimmed[1:])
	}
}

// postings reads the indented lines of a transaction.
func (h *hledgerReader) postings(e *Entry, escaped bool) error {
	h.legs = h.legs[:0]
	for {
		line, err := h.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || line[0] != ' ' && line[0] != '\t' {
			h.unread()
			break
		}
		if len(h.legs) == postingsMax {
			return h.errorf(h.line, "%v", errPostings)
		}
		if err := h.posting(trimmed, escaped); err != nil {
			return err
		}
	}
	postings, err := balance(h.legs)
	if err != nil {
		return h.errorf(e.Line, "%v", err)
	}
	for i := range postings {
		if postings[i].Entity == e.Entity {
			postings[i].Entity = ""
		}
	}
	e.Postings = postings
	return nil
}

// posting reads one posting and the comments below it.
func (h *hledgerReader) posting(text string, escaped bool) error {
	l := leg{Posting: Posting{Line: h.line}}
	if text[0] == '*' || text[0] == '!' {
		text = strings.TrimLeft(text[1:], " \t")
	}
	account, rest := cutAccount(text)
	rest, comment, commented := strings.Cut(rest, ";")
	switch {
	case account == "" || strings.HasPrefix(account, ";"):
		return h.errorf(h.line, "the posting names no account; write one")
	case strings.Contains(account, ";"):
		return h.errorf(h.line, "put two spaces before the semicolon, so that it begins a comment and does not belong to the account")
	case strings.Count(account, ":") >= depthMax:
		return h.errorf(h.line, "the account has more than %d levels; use fewer", depthMax)
	case virtual(account):
		return h.errorf(h.line, "virtual postings are no part of double entry; take the brackets off, or remove the line")
	}
	var own remarks
	line := h.line
	if commented {
		own.add(comment)
	}
	if err := h.comments(&own); err != nil {
		return err
	}
	l.Account = hledgerPath(account, escaped)
	if err := h.amounts(&l, strings.TrimSpace(rest), escaped); err != nil {
		return h.errorf(line, "%v", err)
	}
	l.Entity = decoded(own.pop(keyEntity), escaped)
	if base := own.pop(keyBase); l.costFree && base != "" {
		l.costFree, l.BaseCurrency = false, decoded(base, escaped)
	}
	memo := decoded(own.pop(keyMemo), escaped)
	own.decode(escaped)
	l.Memo, l.Tags = own.appendTo(memo), own.tags
	h.legs = append(h.legs, l)
	return nil
}

// hledgerPath splits the name of an account.
func hledgerPath(account string, escaped bool) []string {
	path := strings.Split(account, ":")
	if escaped {
		for i, name := range path {
			path[i] = unescape(name)
		}
	}
	return path
}

func decoded(s string, escaped bool) string {
	if escaped {
		return unescape(s)
	}
	return s
}

// cutAccount splits an account off: it ends at two spaces or a tab.
func cutAccount(s string) (account, rest string) {
	end := len(s)
	if at := strings.Index(s, "  "); at >= 0 {
		end = at
	}
	if at := strings.IndexByte(s[:end], '\t'); at >= 0 {
		end = at
	}
	return strings.TrimSpace(s[:end]), s[end:]
}

// virtual reports whether an account is in brackets, which means that its posting need not balance.
func virtual(account string) bool {
	return account[0] == '(' && account[len(account)-1] == ')' || account[0] == '[' && account[len(account)-1] == ']'
}

// cutSpace splits a text at the first white space.
func cutSpace(s string) (before, after string, found bool) {
	at := strings.IndexAny(s, " \t")
	if at < 0 {
		return s, "", false
	}
	return s[:at], strings.TrimLeft(s[at:], " \t"), true
}

// date reads a date with any of hledger's separators; the year may be missing if a default is set.
func (h *hledgerReader) date(s, year string) (string, error) {
	if len(s) == len(time.DateOnly) && s[4] == '-' && s[7] == '-' {
		if _, err := time.Parse(time.DateOnly, s); err == nil && s >= beginningOfTime {
			return s, nil
		}
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(parts) == 2 {
		if year == "" {
			return "", h.errorf(h.line, "the date %q has no year; write it, or put a line such as \"Y2024\" above", s)
		}
		parts = append([]string{year}, parts...)
	}
	if len(parts) == 3 && len(parts[0]) == 4 && len(parts[1]) <= 2 && len(parts[2]) <= 2 {
		date := parts[0] + "-" + pad(parts[1]) + "-" + pad(parts[2])
		if validateDate(date) == nil {
			return date, nil
		}
	}
	return "", h.errorf(h.line, "%q is not a date; write it like 2006-01-31", s)
}

func pad(s string) string {
	if n, err := strconv.Atoi(s); err == nil && n < 10 && len(s) == 1 {
		return "0" + s
	}
	return s
}
