package notation

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// expandBeancount is the advice for what beancount can expand and this package cannot.
const expandBeancount = "run \"bean-report FILE print\" and import what it prints"

// beancountReader reads a journal as beancount prints it and as people write it.
//
// Payee and narration become one memo, "payee | narration". Amounts with a cost in braces are read at that cost, and
// the content of the braces becomes a tag of the kind "lot"; if the cost depends on earlier lots, the journal is
// rejected. Tags, links and unknown metadata become tags, of the kinds "tag", "link" and the metadata key. Balance,
// close, note, event, document, query and custom directives do not affect entries and are skipped. A pad directive
// generates entries, which beancount prints with the flag P; pad is skipped only if such entries are present.
type beancountReader struct {
	*source
	out *output

	paths      map[string][]string // Accounts by their beancount names.
	currencies map[string]string   // Exact names of converted currencies.
	roots      map[string]string   // Types by root name.
	tags       []string            // Pushed with pushtag.
	meta       []Tag               // Pushed with pushmeta.
	legs       []leg
	padLine    int  // The line of the first pad directive.
	padded     bool // Entries with the flag P are present.
}

func readBeancount(src *source, out *output) error {
	b := &beancountReader{source: src, out: out, paths: map[string][]string{}, currencies: map[string]string{}, roots: map[string]string{}}
	for kind, root := range beancountRoots {
		b.roots[root] = kind
	}
	for !out.stopped {
		src.begin()
		line, err := src.next()
		if errors.Is(err, io.EOF) {
			return b.finish()
		}
		if err == nil {
			err = b.item(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *beancountReader) finish() error {
	if b.padLine > 0 && !b.padded {
		return b.errorf(b.padLine, "pad makes entries that are not here; %s", expandBeancount)
	}
	return nil
}

// item reads the directive that begins with a line. Like beancount, it skips lines that begin with a mark, such as
// outline headings.
func (b *beancountReader) item(line string) error {
	w := newWords(b.source, line)
	switch {
	case w.end() || strings.IndexByte("*:#!&?%PSTCURM", line[0]) >= 0:
		return nil
	case line[0] == ' ' || line[0] == '\t':
		return b.errorf(b.line, "this line is indented but belongs to nothing; join it to the one above or remove it")
	case isDigit(line[0]):
		return b.dated(w)
	}
	switch word := w.word(); word {
	case "option":
		return b.option(w)
	case "plugin":
		return b.plugin(w)
	case "pushtag":
		b.tags = append(b.tags, strings.TrimPrefix(w.word(), "#"))
		return b.pushed()
	case "poptag":
		b.popTag(strings.TrimPrefix(w.word(), "#"))
	case "pushmeta", "popmeta":
		return b.pushMeta(w, word == "pushmeta")
	case "include":
		return b.errorf(b.line, "other files are not read from here; %s", expandBeancount)
	default:
		return b.errorf(b.line, "%q is not a directive; correct or remove the line", word)
	}
	return nil
}

func (b *beancountReader) option(w *words) error {
	name, err := w.quoted()
	if err != nil {
		return err
	}
	value, err := w.quoted()
	if err != nil {
		return err
	}
	kinds := map[string]string{"name_assets": Asset, "name_liabilities": Liability, "name_equity": Equity,
		"name_income": Revenue, "name_expenses": Expense}
	if kind := kinds[name]; kind != "" {
		b.roots[value] = kind
	}
	return nil
}

// harmless are plugins that only validate or add something other than entries.
var harmless = []string{"auto", "auto_accounts", "check_average_cost", "check_closing", "check_commodity", "check_drained", "coherent_cost",
	"commodity_attr", "implicit_prices", "leafonly", "noduplicates", "nounused", "onecommodity", "pedantic", "sellgains", "unique_prices"}

func (b *beancountReader) plugin(w *words) error {
	name, err := w.quoted()
	if err != nil {
		return err
	}
	if slices.Contains(harmless, strings.TrimPrefix(name, "beancount.plugins.")) {
		return nil
	}
	return b.errorf(b.line, "the plugin %s may change entries; %s", name, expandBeancount)
}

func (b *beancountReader) popTag(tag string) {
	if i := slices.Index(b.tags, tag); i >= 0 {
		b.tags = slices.Delete(b.tags, i, i+1)
	}
}

func (b *beancountReader) pushed() error {
	if len(b.tags)+len(b.meta) > pushedMax {
		return b.errorf(b.line, "more than %d tags and pieces of metadata are pushed; pop some", pushedMax)
	}
	return nil
}

func (b *beancountReader) pushMeta(w *words, push bool) error {
	key, ok := w.key()
	if !ok {
		return b.errorf(b.line, "the metadata has no name; write it like \"location: Berlin\"")
	}
	if push {
		value, err := w.value()
		if err != nil {
			return err
		}
		b.meta = append(b.meta, Tag{key, value})
		return b.pushed()
	}
	for i := len(b.meta) - 1; i >= 0; i-- {
		if b.meta[i].Kind == key {
			b.meta = slices.Delete(b.meta, i, i+1)
			break
		}
	}
	return nil
}

// dated reads a directive that begins with a date.
func (b *beancountReader) dated(w *words) error {
	line := b.line
	date := strings.ReplaceAll(w.word(), "/", "-")
	if parts := strings.Split(date, "-"); len(parts) == 3 {
		date = parts[0] + "-" + pad(parts[1]) + "-" + pad(parts[2])
	}
	if validateDate(date) != nil {
		return b.errorf(line, "%q is not a date; write it like 2006-01-31", date)
	}
	switch word := w.word(); word {
	case "open":
		return b.open(w)
	case "commodity":
		return b.commodity(w)
	case "price":
		return b.price(w, date)
	case "close", "balance", "note", "event", "document", "query", "custom":
		return b.ignore(w)
	case "pad":
		if b.padLine == 0 {
			b.padLine = line
		}
		return b.ignore(w)
	case "txn":
		return b.transaction(w, &Entry{Line: line, Date: date, Posted: true})
	default:
		if len(word) == 1 && strings.IndexByte("*!&#?%PSTCURM", word[0]) >= 0 {
			b.padded = b.padded || word == "P"
			return b.transaction(w, &Entry{Line: line, Date: date, Posted: word != "!"})
		}
		return b.errorf(line, "%q is not a directive; correct or remove the line", word)
	}
}

// ignore skips a directive with all its lines.
func (b *beancountReader) ignore(w *words) error {
	if err := b.skipStrings(w); err != nil {
		return err
	}
	return b.indented(b.skipStrings)
}

// skipStrings skips to the end of a line, including the further lines of its strings.
func (b *beancountReader) skipStrings(w *words) error {
	for !w.end() {
		if w.rest[0] != '"' {
			w.rest = w.rest[1:]
		} else if _, err := w.quoted(); err != nil {
			return err
		}
	}
	return nil
}

// indented calls each for the lines that belong to a directive.
func (b *beancountReader) indented(each func(w *words) error) error {
	for {
		line, err := b.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == "" || line[0] != ' ' && line[0] != '\t' {
			b.unread()
			return nil
		}
		w := newWords(b.source, line)
		if w.end() {
			continue
		}
		if err := each(w); err != nil {
			return err
		}
	}
}

// metadata reads the lines of a directive that has only metadata.
func (b *beancountReader) metadata(each func(key, value string)) error {
	return b.indented(func(w *words) error {
		key, ok := w.key()
		if !ok {
			return b.errorf(b.line, "%q is not metadata; correct or remove the line", w.raw())
		}
		value, err := w.value()
		if err == nil {
			each(key, value)
		}
		return err
	})
}

func (b *beancountReader) open(w *words) error {
	a := &Account{Line: b.line}
	name := w.word()
	if err := b.skipStrings(w); err != nil {
		return err
	}
	exact := ""
	err := b.metadata(func(key, value string) {
		switch key {
		case keyExact:
			exact = value
		case keyCode:
			a.Code = value
		case keyID:
			a.ID = value
		case keyTags:
			a.Tags = append(a.Tags, splitTags(value)...)
		default:
			a.Tags = append(a.Tags, Tag{key, value})
		}
	})
	if err != nil {
		return err
	}
	root, _, ok := strings.Cut(name, ":")
	if !ok {
		return b.errorf(a.Line, "%q is not an account; it needs a root and a name, such as Assets:Cash", name)
	}
	a.Path = strings.Split(name, ":")
	if exact != "" {
		a.Path = splitPath(exact)
	}
	if len(a.Path) > depthMax {
		return b.errorf(a.Line, "the account has more than %d levels; use fewer", depthMax)
	}
	b.paths[name] = a.Path
	if a.Type = b.roots[root]; a.Type == "" {
		return b.errorf(a.Line, "%q is none of the five roots of beancount; set its name with an option", root)
	}
	b.out.emit(Item{Account: a})
	return nil
}

func (b *beancountReader) commodity(w *words) error {
	name := w.word()
	if err := b.skipStrings(w); err != nil {
		return err
	}
	return b.metadata(func(key, value string) {
		if key == keyExact && value != "" {
			b.currencies[name] = value
		}
	})
}

// exactCurrency returns the original name of a converted currency.
func (b *beancountReader) exactCurrency(name string) string {
	if exact, ok := b.currencies[name]; ok {
		return exact
	}
	return name
}

func (b *beancountReader) price(w *words, date string) error {
	line := b.line
	base := w.word()
	rate, err := b.amount(w)
	if err != nil {
		return err
	}
	if base == "" || rate.currency == "" || rate.number.Sign() < 0 || !w.end() {
		return b.errorf(line, "the price cannot be read; write it like 2024-01-31 price EUR 1.10 USD")
	}
	p := &Price{Date: date, Base: b.exactCurrency(base), Quote: rate.currency, Rate: rate.number, Line: line}
	err = b.metadata(func(key, value string) {
		if key == keySource {
			p.Source = value
		}
	})
	if err != nil {
		return err
	}
	b.out.emit(Item{Price: p})
	return nil
}
