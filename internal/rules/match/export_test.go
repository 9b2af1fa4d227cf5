package match

// WithLimits sets smaller limits, to reach them with few invoices.
func (m *Matcher) WithLimits(pool, triples, nodes int) *Matcher {
	m.limits.pool, m.limits.triples, m.limits.nodes = pool, triples, nodes
	return m
}

// WithAllSuggestions returns all explanations instead of the best.
func (m *Matcher) WithAllSuggestions() *Matcher {
	m.limits.suggestions, m.limits.solutions = 1<<20, 1<<20
	return m
}

// The functions that read addresses.
var (
	ParseAddress = parseAddress
	Emails       = emails
)

// ParseName returns the two parts of a name.
func ParseName(text string) (core, form string) { n := parseName(text); return n.core, n.form }

// Similar returns the similarity of two names, as a fraction.
func Similar(a, b string) (common, all int) {
	var x nameIndex
	x.add("b", b)
	_, best, _, _ := x.mostSimilar(a, 1<<30)
	return best.common, best.all
}
