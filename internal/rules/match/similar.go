package match

import (
	"cmp"
	"slices"
)

// trigram is three consecutive characters.
type trigram [3]rune

// trigrams returns the trigrams of a text, sorted and without duplicates. Each word is preceded by two blanks and followed by
// one, so that the beginning of a word counts more than its end.
func trigrams(text string) []trigram {
	var all []trigram
	last := trigram{' ', ' ', ' '}
	for _, r := range text + " " {
		if r != ' ' || last[2] != ' ' {
			last = trigram{last[1], last[2], r}
			all = append(all, last)
		}
		if r == ' ' {
			last = trigram{' ', ' ', ' '}
		}
	}
	slices.SortFunc(all, func(a, b trigram) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
	})
	return slices.Compact(all)
}

// similarity is the share of the trigrams of two names that they have in common.
type similarity struct{ common, all int }

// Names are similar from 0.6 on, and the most similar one counts only if it is ahead of the next by 0.15.
const (
	similarPercent = 60
	aheadPercent   = 15
)

func (s similarity) enough() bool { return 100*s.common >= similarPercent*s.all }

// ahead reports whether s exceeds another similarity by the margin.
func (s similarity) ahead(other similarity) bool {
	return 100*(s.common*other.all-other.common*s.all) >= aheadPercent*s.all*other.all
}

func (s similarity) exceeds(other similarity) bool { return s.common*other.all > other.common*s.all }

// percent is for people.
func (s similarity) percent() int { return 100 * s.common / max(s.all, 1) }

// nameIndex finds similar names of customers.
type nameIndex struct {
	names    []indexedName
	postings map[trigram][]int32 // names by trigram
}

type indexedName struct {
	customer string
	trigrams int
}

func (x *nameIndex) add(customer, core string) {
	grams := trigrams(core)
	if len(grams) == 0 {
		return
	}
	if x.postings == nil {
		x.postings = map[trigram][]int32{}
	}
	for _, g := range grams {
		x.postings[g] = append(x.postings[g], int32(len(x.names)))
	}
	x.names = append(x.names, indexedName{customer, len(grams)})
}

// mostSimilar returns the customer with the most similar name, or nothing if no name is similar enough or two are about as
// similar. It returns false if it took more than a number of steps, and the steps that it took.
func (x *nameIndex) mostSimilar(core string, stepsMax int) (customer string, best similarity, steps int, complete bool) {
	grams := trigrams(core)
	common := map[int32]int{}
	for _, g := range grams {
		if steps += len(x.postings[g]); steps > stepsMax {
			return "", best, stepsMax, false
		}
		for _, n := range x.postings[g] {
			common[n]++
		}
	}
	of := map[string]similarity{}
	for n, c := range common {
		s := similarity{c, len(grams) + x.names[n].trigrams - c}
		if old, ok := of[x.names[n].customer]; !ok || s.exceeds(old) {
			of[x.names[n].customer] = s
		}
	}
	second := similarity{0, 1}
	best = similarity{0, 1}
	for id, s := range of {
		switch {
		case s.exceeds(best):
			customer, best, second = id, s, best
		case s.exceeds(second):
			second = s
		}
	}
	if !best.enough() || !best.ahead(second) {
		return "", best, steps, true
	}
	return customer, best, steps, true
}
