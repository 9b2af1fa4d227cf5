package intake

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// GuessedMapping is a mapping inferred from a file, with the reasons and with what the user must decide.
type GuessedMapping struct {
	Mapping Mapping `json:"mapping"`
	// Reasons explain the decisions, one sentence each.
	Reasons []string `json:"reasons"`
	// Undecided lists what cannot be inferred from the file, one sentence each.
	Undecided []string `json:"undecided"`
	// Columns are the columns of the file, for the user to choose from.
	Columns []Column `json:"columns,omitempty"`
}

// Column is a column of a file with sample values.
type Column struct {
	Number  int      `json:"number"`
	Name    string   `json:"name"`
	Samples []string `json:"samples,omitempty"`
}

// samplesShown is how many sample values a Column holds.
const samplesShown = 5

// Guess proposes a mapping for a file from its head. It fails only if the head has no rows or objects.
func Guess(head []byte) (GuessedMapping, error) {
	g := &guess{}
	content := g.decode(head)
	g.p.Mapping.Format = detectFormat("", content)
	switch g.p.Mapping.Format {
	case OFX:
		g.because("OFX says by itself what its values mean")
	case JSON:
		header, rows := sampleJSON(content)
		if isAPIFormat(content) {
			g.because("the objects are transactions in the format of the API")
			break
		}
		if len(header) == 0 {
			return GuessedMapping{}, errors.New("the file has no objects")
		}
		g.header, g.rows = header, rows
		g.mapColumns()
	default:
		if err := g.guessCSV(content); err != nil {
			return GuessedMapping{}, err
		}
	}
	if g.p.Undecided == nil {
		g.p.Undecided = []string{}
	}
	return g.p, nil
}

// decode returns the head as UTF-8, and proposes an encoding if there is no byte order mark.
func (g *guess) decode(head []byte) []byte {
	content := decodeHead(head, utf8Text)
	odd, even := 0, 0
	for i, b := range content {
		if b == 0 && i%2 == 1 {
			odd++
		} else if b == 0 {
			even++
		}
	}
	switch {
	case odd > len(content)/4:
		g.p.Mapping.Encoding = "utf-16le"
	case even > len(content)/4:
		g.p.Mapping.Encoding = "utf-16be"
	case !isValidText(content):
		g.p.Mapping.Encoding = "windows-1252"
	default:
		return content
	}
	g.because("the file is not UTF-8, but reads as %s", g.p.Mapping.Encoding)
	return decodeHead(head, encodings[g.p.Mapping.Encoding])
}

// guess is a proposal being built.
type guess struct {
	p      GuessedMapping
	header []string
	rows   []sheetRow
	taken  map[int]bool
	facts  []columnFacts
}

// columnFacts counts the kinds of values in a column.
type columnFacts struct {
	numbers numberEvidence
	dates   dateEvidence
	codes   int // Values that look like currency codes.
	filled  int
	clocks  int // Values that are a time of day.
}

func (g *guess) because(format string, args ...any) {
	g.p.Reasons = append(g.p.Reasons, fmt.Sprintf(format, args...))
}

func (g *guess) ask(format string, args ...any) {
	g.p.Undecided = append(g.p.Undecided, fmt.Sprintf(format, args...))
}

func (g *guess) guessCSV(content []byte) error {
	d := guessDelimiter(content)
	g.p.Mapping.Delimiter = string(d)
	rows := sampleCSV(content, false, d)
	if len(rows) == 0 {
		return errors.New("the file has no rows")
	}
	if name := detectPreset(rows); name != "" {
		g.p.Mapping.Preset, g.p.Mapping.Delimiter = name, ""
		g.because("the columns are those of %s", presetNamed(name).title)
		if strings.HasPrefix(name, etherscan.name) {
			g.because("the chain is taken to be that of the coin, for ETH ethereum; state chain where it is another")
		}
		if name == binance.name && !slices.ContainsFunc(rows, func(r sheetRow) bool { return slices.Contains(r.cells, "UTC_Time") }) {
			g.ask("the file does not say the zone of its times, unless its name does; state time_zone where it is not UTC")
		}
		return nil
	}
	g.because("%q splits the most rows into the same number of cells", rune(d))
	at := headerAt(rows)
	if at < 0 {
		g.p.Mapping.HeaderRow = -1
		g.because("the first row contains values, so there is no header")
		g.header, g.rows = make([]string, len(rows[0].cells)), rows
	} else {
		g.p.Mapping.HeaderRow = rows[at].line
		g.because("line %d names the columns", rows[at].line)
		g.header, g.rows = cleanHeader(rows[at].cells), rows[at+1:]
	}
	g.mapColumns()
	g.askInvoices()
	return nil
}

// headerAt returns the index of the row with the most known column names; -1 if the first row holds values.
func headerAt(rows []sheetRow) int {
	best, most := -1, 0
	for i := range min(len(rows), headerSearch) {
		known := 0
		for _, cell := range rows[i].cells {
			if len(fieldsNamed(cell)) > 0 {
				known++
			}
		}
		if known > most {
			best, most = i, known
		}
	}
	if best < 0 && !hasValues(rows[0].cells) {
		return 0 // Unknown names still make a header.
	}
	return best
}

// hasValues reports whether a row holds values rather than column names.
func hasValues(cells []string) bool {
	for _, cell := range cells {
		var n numberEvidence
		var d dateEvidence
		n.observe(cell)
		d.observe(cell)
		if n.numbers+d.dates > 0 {
			return true
		}
	}
	return false
}

// plainName folds a column name to words separated by single spaces.
func plainName(name string) string {
	return strings.Join(strings.FieldsFunc(fold(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// currencySuffix matches a currency in a column name, as in "Amount (EUR)" or "Betrag in EUR".
var currencySuffix = regexp.MustCompile(`(?:\(| in |[ _])([A-Z]{3})\)?$`)

// cutCurrency splits a column name into the folded name and the currency it states, if any.
func cutCurrency(name string) (plain, currency string) {
	if m := currencySuffix.FindStringSubmatchIndex(name); m != nil && isFiat(name[m[2]:m[3]]) {
		return plainName(name[:m[0]]), name[m[2]:m[3]]
	}
	return plainName(name), ""
}

// fieldsNamed returns the fields that a column name may stand for.
func fieldsNamed(name string) []Field {
	plain, _ := cutCurrency(strings.TrimSpace(name))
	var fields []Field
	for _, s := range synonyms {
		if plain != "" && slices.Contains(strings.Split(s.names, "|"), plain) {
			fields = append(fields, s.field)
		}
	}
	return fields
}

// mapColumns infers the mapping from column names and values.
func (g *guess) mapColumns() {
	g.taken, g.facts = map[int]bool{}, make([]columnFacts, len(g.header))
	g.p.Mapping.Columns = map[Field]string{}
	for i := range g.header {
		g.collectFacts(i)
	}
	for _, s := range synonyms {
		g.assignByName(s.field, strings.Split(s.names, "|"))
	}
	g.assignByValues()
	g.guessDirection()
	g.guessDateOrder()
	g.guessMoney()
}

func (g *guess) collectFacts(i int) {
	column := Column{Number: i + 1, Name: g.header[i]}
	f := &g.facts[i]
	for r := range g.rows {
		cell := strings.TrimSpace(cellOf(&g.rows[r], i))
		if cell == "" {
			continue
		}
		f.filled++
		f.numbers.observe(cell)
		f.dates.observe(cell)
		var m moment
		if _, err := cutTime(&m, cell); err == nil {
			f.clocks++
		}
		if code := cleanCurrency(cell); isFiat(code) || len(code) >= 2 && len(code) <= 6 && code == cell && countLetters(code) == len(code) {
			f.codes++
		}
		if len(column.Samples) < samplesShown {
			column.Samples = append(column.Samples, shorten(cell))
		}
	}
	g.p.Columns = append(g.p.Columns, column)
}

// assignByName maps a field to the first free column that has one of its names and suitable values.
func (g *guess) assignByName(field Field, names []string) {
	if field == FieldTime && g.p.Mapping.Columns[FieldTimestamp] == "" {
		return
	}
	for _, name := range names {
		for i, h := range g.header {
			if plain, _ := cutCurrency(h); plain != name || g.taken[i] || !g.suits(field, i) {
				continue
			}
			g.assign(field, i)
			g.because("the name of the column %q means %s", h, field)
			return
		}
	}
}

// assign maps a field to a column, by name if the name is unique and by number otherwise.
func (g *guess) assign(field Field, i int) {
	g.taken[i] = true
	name := g.header[i]
	same := 0
	for _, h := range g.header {
		if strings.EqualFold(h, name) {
			same++
		}
	}
	if name == "" || same > 1 {
		name = fmt.Sprintf("#%d", i+1)
	}
	g.p.Mapping.Columns[field] = name
}

// suits reports whether the values of a column can belong to a field. An empty column suits most fields.
func (g *guess) suits(field Field, i int) bool {
	f := &g.facts[i]
	switch field {
	case FieldTimestamp:
		return f.dates.notDates == 0 && (f.dates.dates > 0 || f.filled == 0)
	case FieldTime:
		return f.clocks == f.filled && f.filled > 0
	case FieldAmount, FieldDebit, FieldCredit, FieldFee, FieldNet, FieldBalance, FieldValueGross:
		return f.numbers.notNumbers == 0 && (f.numbers.numbers > 0 || field != FieldAmount)
	case FieldCurrency, FieldFeeCurrency:
		return f.codes == f.filled
	case FieldDirection:
		return f.numbers.numbers == 0 && f.filled > 0
	case FieldDescription, FieldCounterparty, FieldProviderCategory, FieldMemo:
		return f.filled == 0 || f.dates.dates < f.filled
	}
	return true
}

// assignByValues maps dates, amounts and currencies that no column name identified, if there is only one candidate.
func (g *guess) assignByValues() {
	m := &g.p.Mapping
	if m.Columns[FieldTimestamp] == "" {
		g.assignOnlyCandidate(FieldTimestamp, "a date", func(f *columnFacts) bool { return f.dates.dates == f.filled && f.filled > 0 })
	}
	if m.Columns[FieldAmount] == "" && m.Columns[FieldDebit] == "" {
		g.assignOnlyCandidate(FieldAmount, "an amount", func(f *columnFacts) bool {
			return f.numbers.numbers == f.filled && f.filled > 0 && f.dates.dates < f.filled &&
				f.numbers.point+f.numbers.comma+f.numbers.negative > 0
		})
	}
	if m.Columns[FieldCurrency] == "" {
		g.assignOnlyCandidate(FieldCurrency, "", func(f *columnFacts) bool {
			return f.codes == f.filled && f.filled > 0 && f.filled == len(g.rows)
		})
	}
}

func (g *guess) assignOnlyCandidate(field Field, what string, fit func(f *columnFacts) bool) {
	var found []int
	for i := range g.facts {
		if !g.taken[i] && fit(&g.facts[i]) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		g.assign(field, found[0])
		g.because("column %d is the only one whose values can be %s", found[0]+1, field)
	case what != "" && len(found) == 0:
		g.ask("no column looks like %s; map columns.%s", what, field)
	case what != "":
		g.ask("%d columns may be %s; map columns.%s", len(found), what, field)
	}
}
