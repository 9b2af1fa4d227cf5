package intake

import "strings"

// guessDirection decides how inflows are told from outflows, and asks whether amounts include the fee.
func (g *guess) guessDirection() {
	m := &g.p.Mapping
	has := func(f Field) bool { return m.Columns[f] != "" }
	switch {
	case has(FieldDebit) && has(FieldCredit) && !has(FieldAmount):
		m.Direction = ByColumns
		delete(m.Columns, FieldDirection)
		g.because("debit and credit are in two columns")
	case has(FieldDebit) && has(FieldCredit):
		// The signed amount that some statements have in addition is redundant.
		m.Direction = ByColumns
		delete(m.Columns, FieldAmount)
		delete(m.Columns, FieldDirection)
		g.because("debit and credit tell the direction, so the additional amount column is ignored")
	case has(FieldDebit) != has(FieldCredit):
		delete(m.Columns, FieldDebit)
		delete(m.Columns, FieldCredit)
	}
	if m.Direction == "" && has(FieldAmount) {
		g.guessSigns()
	}
	if has(FieldFee) && !has(FieldNet) {
		g.ask("the file does not say whether the amount includes the fee; state amount_is")
	}
}

// guessSigns decides between the sign of the amount and the words of the direction column.
func (g *guess) guessSigns() {
	m := &g.p.Mapping
	f := g.factsOf(FieldAmount)
	words := m.Columns[FieldDirection] != ""
	switch {
	case f.numbers.negative > 0 && f.numbers.positive > 0:
		m.Direction = BySign
		delete(m.Columns, FieldDirection)
		g.because("amounts are above and below zero, so the sign tells the direction")
	case words:
		m.Direction = ByWords
		g.because("the column %q tells the direction in words", m.Columns[FieldDirection])
		g.askUnknownWords()
	case f.numbers.negative > 0:
		m.Direction = BySign
		g.because("amounts are below zero, so the sign tells the direction")
	default:
		m.Direction = BySign
		g.ask("all amounts are above zero; check that each is an inflow, or map a column that tells the direction")
	}
}

// askUnknownWords asks for the meaning of unknown words in the direction column.
func (g *guess) askUnknownWords() {
	in, out := wordSet(usualInflow, nil, nil), wordSet(usualOutflow, nil, nil)
	asked := map[string]bool{}
	index := g.indexOf(FieldDirection)
	for r := range g.rows {
		word := strings.TrimSpace(cellOf(&g.rows[r], index))
		if key := fold(word); word != "" && !in[key] && !out[key] && !asked[key] {
			asked[key] = true
			g.ask("the direction column says %q; add it to inflow_words or outflow_words", shorten(word))
		}
	}
}

func (g *guess) indexOf(field Field) int {
	s := sheet{header: g.header}
	index, err := s.resolve(field, g.p.Mapping.Columns[field])
	if err != nil {
		return -1
	}
	return index
}

func (g *guess) factsOf(field Field) *columnFacts {
	if index := g.indexOf(field); index >= 0 {
		return &g.facts[index]
	}
	return &columnFacts{}
}

// guessDateOrder reports whether the order of day and month is known.
func (g *guess) guessDateOrder() {
	if g.p.Mapping.Columns[FieldTimestamp] == "" {
		return
	}
	e := g.factsOf(FieldTimestamp).dates
	switch {
	case e.order() == dayFirst:
		g.because("some dates can only have the day first")
	case e.order() == monthFirst:
		g.because("some dates can only have the month first")
	case e.open > 0:
		g.ask("dates may have the day or the month first; state date_layouts, such as DD/MM/YYYY")
	}
}

// guessMoney reports whether decimal separator and currency are known.
func (g *guess) guessMoney() {
	m := &g.p.Mapping
	var all numberEvidence
	for _, field := range []Field{FieldAmount, FieldDebit, FieldCredit} {
		e := g.factsOf(field).numbers
		all.point, all.comma, all.ambiguous = all.point+e.point, all.comma+e.comma, all.ambiguous+e.ambiguous
	}
	switch {
	case all.mark() == markPoint:
		g.because("amounts have a decimal point")
	case all.mark() == markComma:
		g.because("amounts have a decimal comma")
	case all.ambiguous > 0:
		g.ask("amounts such as 1,234 may have decimals or thousands; state decimal")
	}
	if m.Columns[FieldCurrency] == "" {
		for _, field := range []Field{FieldAmount, FieldDebit, FieldCredit} {
			if index := g.indexOf(field); index >= 0 && m.Currency == "" {
				_, m.Currency = cutCurrency(g.header[index])
			}
		}
		if m.Currency != "" {
			g.because("the name of the amount column states %s", m.Currency)
		} else {
			g.ask("the file does not say its currency; state currency")
		}
	}
	if m.Columns[FieldValueGross] != "" && m.ValueCurrency == "" {
		if _, m.ValueCurrency = cutCurrency(g.header[g.indexOf(FieldValueGross)]); m.ValueCurrency == "" {
			g.ask("the file does not say the currency of the values; state value_currency")
		}
	}
}
