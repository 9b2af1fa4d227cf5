// Package finding collects what a check finds broken: a few of each kind by name, and how many more there are.
package finding

import "fmt"

// namedMax bounds how many broken things of a kind are named; the rest is counted.
const namedMax = 5

// List is what was found.
type List struct {
	about string
	texts []string
	kinds []string
	count map[string]int
}

// About begins a list whose sentences begin with what they are about.
func New(what string) *List { return &List{about: what + ": ", count: map[string]int{}} }

// Addf adds something broken. The kind is in the plural, as in "5 more lots that are open".
func (l *List) Addf(kind, format string, args ...any) {
	if l.count[kind]++; l.count[kind] == 1 {
		l.kinds = append(l.kinds, kind)
	}
	if l.count[kind] <= namedMax {
		l.texts = append(l.texts, l.about+fmt.Sprintf(format, args...))
	}
}

// All gives the sentences.
func (l *List) Messages() []string {
	for _, kind := range l.kinds {
		if more := l.count[kind] - namedMax; more > 0 {
			l.texts = append(l.texts, fmt.Sprintf("%s%d more %s", l.about, more, kind))
		}
	}
	return l.texts
}
