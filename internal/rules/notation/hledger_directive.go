package notation

import (
	"errors"
	"io"
	"strings"
)

// directive reads a line that is not a transaction.
func (h *hledgerReader) directive(line string) error {
	word, rest, _ := cutSpace(line)
	switch word {
	case "account":
		return h.accountDirective(rest)
	case "commodity":
		return h.commodityDirective(rest)
	case "decimal-mark":
		if rest != "." && rest != "," {
			return h.errorf(h.line, "the decimal mark must be a point or a comma")
		}
		h.decimal = rest[0]
		return nil
	case "D":
		return h.defaultCommodity(rest)
	case "P":
		return h.priceDirective(rest)
	case "comment":
		return h.skipTo("end comment")
	case "test":
		return h.skipTo("end test")
	case "payee", "tag", "N":
		return h.skipIndented()
	case "year":
		return h.setYear(rest)
	case "include":
		return h.errorf(h.line, "other files are not read from here; run \"hledger -f FILE print -x\", which puts them all "+
			"into one journal, and import that")
	}
	if strings.HasPrefix(word, "Y") {
		return h.setYear(strings.TrimSpace(line[1:]))
	}
	return h.errorf(h.line, "%q is not understood here; remove the line if nothing depends on it, or %s", word, expand)
}

func (h *hledgerReader) setYear(year string) error {
	if len(year) != 4 || strings.Trim(year, "0123456789") != "" {
		return h.errorf(h.line, "the year %q must have four digits", year)
	}
	h.year = year
	return nil
}

func (h *hledgerReader) skipTo(end string) error {
	for {
		h.begin()
		line, err := h.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == end {
			return nil
		}
	}
}

// skipIndented skips the lines below a directive.
func (h *hledgerReader) skipIndented() error {
	return h.indented(func(string) error { return nil })
}

// indented calls each for the indented lines that follow.
func (h *hledgerReader) indented(each func(trimmed string) error) error {
	for {
		line, err := h.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || line[0] != ' ' && line[0] != '\t' {
			h.unread()
			return nil
		}
		if err := each(trimmed); err != nil {
			return err
		}
	}
}

func (h *hledgerReader) accountDirective(rest string) error {
	a := &Account{Line: h.line}
	name, rest := cutAccount(rest)
	if name == "" || strings.HasPrefix(name, ";") {
		return h.errorf(h.line, "the account has no name; write one")
	}
	if strings.Count(name, ":") >= depthMax {
		return h.errorf(h.line, "the account has more than %d levels; use fewer", depthMax)
	}
	var own remarks
	if _, comment, ok := strings.Cut(rest, ";"); ok {
		own.add(comment)
	}
	if err := h.comments(&own); err != nil {
		return err
	}
	if err := h.skipIndented(); err != nil {
		return err
	}
	escaped := own.popEscaped()
	a.Path = hledgerPath(name, escaped)
	kind := decoded(own.pop(keyType), escaped)
	a.Code, a.ID = decoded(own.pop(keyCode), escaped), decoded(own.pop(keyID), escaped)
	own.decode(escaped)
	a.Tags = own.tags
	if kind != "" {
		if a.Type = accountType(kind); a.Type == "" {
			return h.errorf(a.Line, "there is no account type %q; use one of A, L, E, R, X", kind)
		}
		h.types[name] = a.Type
	} else {
		a.Type = h.inherited(name)
	}
	h.out.emit(Item{Account: a})
	return nil
}

// inherited returns the type of the nearest ancestor, or the type implied by the name of the root.
func (h *hledgerReader) inherited(name string) string {
	for {
		if kind, ok := h.types[name]; ok {
			return kind
		}
		at := strings.LastIndexByte(name, ':')
		if at < 0 {
			return TypeOfRoot(name)
		}
		name = name[:at]
	}
}

// accountType maps hledger's type letters and words to types; cash is an asset and conversion is equity.
func accountType(kind string) string {
	switch strings.ToLower(kind) {
	case "a", "asset", "c", "cash":
		return Asset
	case "l", "liability":
		return Liability
	case "e", "equity", "v", "conversion":
		return Equity
	case "r", "revenue":
		return Revenue
	case "x", "expense":
		return Expense
	}
	return ""
}

// commodityDirective learns the decimal mark of a currency.
func (h *hledgerReader) commodityDirective(rest string) error {
	text, comment, _ := strings.Cut(rest, ";")
	var own remarks
	own.add(comment)
	escaped := own.popEscaped()
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "0123456789") && text[0] != '"' || strings.HasPrefix(text, `"`) && !strings.HasSuffix(text, `"`) {
		if err := h.learnMark(text, escaped); err != nil {
			return err
		}
	}
	return h.indented(func(line string) error {
		format, ok := strings.CutPrefix(line, "format ")
		if !ok {
			return nil
		}
		format, _, _ = strings.Cut(format, ";")
		return h.learnMark(strings.TrimSpace(format), escaped)
	})
}

// learnMark takes the decimal mark from an example, such as 1.000,00 EUR. In an example a single mark before three
// digits is decimal, because hledger requires the decimal mark to be present.
func (h *hledgerReader) learnMark(example string, escaped bool) error {
	symbol, number, err := cutExample(example)
	if err != nil {
		return h.errorf(h.line, "the example %q cannot be read: %v", example, err)
	}
	if at := strings.LastIndexAny(number, ".,"); at >= 0 && strings.Count(number, number[at:at+1]) == 1 {
		h.marks[decoded(symbol, escaped)] = number[at]
	}
	return nil
}

// cutExample splits an amount into symbol and number without parsing the number.
func cutExample(s string) (symbol, number string, err error) {
	_, s = cutSign(s)
	symbol, rest, err := cutSymbol(s)
	if err != nil {
		return "", "", err
	}
	number, rest = cutNumber(strings.TrimLeft(rest, " \t"))
	if number == "" {
		return "", "", errNumber
	}
	if symbol == "" {
		symbol, _, err = cutSymbol(strings.TrimLeft(rest, " \t"))
	}
	return symbol, number, err
}

func (h *hledgerReader) defaultCommodity(rest string) error {
	text, _, _ := strings.Cut(rest, ";")
	text = strings.TrimSpace(text)
	symbol, _, err := cutExample(text)
	if err != nil {
		return h.errorf(h.line, "the example %q cannot be read: %v", text, err)
	}
	h.unnamed = symbol
	return h.learnMark(text, false)
}

// priceDirective reads a market price; it ignores a time of day.
func (h *hledgerReader) priceDirective(rest string) error {
	text, comment, _ := strings.Cut(rest, ";")
	var own remarks
	own.add(comment)
	escaped := own.popEscaped()
	day, text, _ := cutSpace(strings.TrimSpace(text))
	date, err := h.date(day, h.year)
	if err != nil {
		return err
	}
	if clock, after, _ := cutSpace(text); strings.Contains(clock, ":") && isDigit(clock[0]) {
		text = after
	}
	base, text, err := cutSymbol(text)
	if base = decoded(base, escaped); err != nil || base == "" {
		return h.errorf(h.line, "the price names no currency; write it like P 2024-01-31 EUR 1.10 USD")
	}
	rate, after, err := h.amount(strings.TrimLeft(text, " \t"), escaped)
	if err != nil {
		return h.errorf(h.line, "%v", err)
	}
	if after != "" || rate.currency == "" || rate.number.Sign() < 0 {
		return h.errorf(h.line, "the price cannot be read; write it like P 2024-01-31 EUR 1.10 USD")
	}
	h.out.emit(Item{Price: &Price{Date: date, Base: base, Quote: rate.currency, Rate: rate.number,
		Source: decoded(own.pop(keySource), escaped), Line: h.line}})
	return nil
}
