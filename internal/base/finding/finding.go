// Package finding collects the findings of a verification: the first few of each kind in full, and the number of the rest.
package finding

import "fmt"

// namedMax is how many findings of a kind are listed; the rest are counted.
const namedMax = 5

// List collects findings.
type List struct {
	about string
	texts []string
	kinds []string
	count map[string]int
}

// New returns a list whose messages start with a subject, such as "lots: ".
func New(subject string) *List { return &List{about: subject + ": ", count: map[string]int{}} }

// Addf adds a finding. The kind is in the plural, as in "5 more lots that are open".
func (l *List) Addf(kind, format string, args ...any) {
	if l.count[kind]++; l.count[kind] == 1 {
		l.kinds = append(l.kinds, kind)
	}
	if l.count[kind] <= namedMax {
		l.texts = append(l.texts, l.about+fmt.Sprintf(format, args...))
	}
}

// Messages returns the messages.
func (l *List) Messages() []string {
	for _, kind := range l.kinds {
		if more := l.count[kind] - namedMax; more > 0 {
			l.texts = append(l.texts, fmt.Sprintf("%s%d more %s", l.about, more, kind))
		}
	}
	return l.texts
}
