package match

import "slices"

// combine looks for several invoices of a customer that add up to the deposit, exactly. If the memo names some of them, they
// must be among these. The classes are tried in the order of their confidence; the search for more than three is made only
// if nothing else explains the deposit, because among many sums some agree by chance.
func (s *search) combine(open []int32) {
	if len(open) < 2 {
		return
	}
	if s.target == tooLarge {
		// With more digits after the point than any invoice has, no sum can equal it.
		s.result.Truncated = s.result.Truncated || placesOf(s.deposit.Amount) <= s.places[s.deposit.Currency]
		return
	}
	var named, others []int32
	rest, balance := s.target, int64(0)
	for _, i := range open {
		u := s.units[i]
		if u == tooLarge || balance > unitMax-u {
			s.result.Truncated = true
			return
		}
		balance += u
		if contains(s.named, i) {
			named = append(named, i)
			rest -= u
		} else {
			others = append(others, i)
		}
	}
	s.sums.steps += len(open)
	if balance == s.target {
		s.addCombination(confidenceBalance, 1, open, because(WholeBalance, "The deposit pays all %d open invoices of the customer.", len(open)))
	}
	if rest <= 0 {
		return
	}
	s.combineRuns(open, named)
	s.combineAllButFew(open, others, balance-s.target)
	s.combineFew(others, named, rest)
}

func (s *search) addCombination(confidence, of int64, invoices []int32, reason Reason) {
	s.add(explanation{kind: Combination, confidence: confidence, of: of, invoices: invoices, reasons: []Reason{reason}})
}

// combineRuns looks for the oldest invoices up to one of them, or else for others in a row.
func (s *search) combineRuns(open, named []int32) {
	var runs [][]int32
	count := int64(0)
	s.sums.windows(open, s.units, s.target, func(from, to int) {
		for _, i := range named {
			if !contains(open[from:to], i) {
				return
			}
		}
		count++
		if len(runs) < s.limits.suggestions {
			runs = append(runs, open[from:to])
		}
	})
	if len(runs) > 0 && runs[0][0] == open[0] {
		s.addCombination(confidenceRun, 1, runs[0], because(OldestInvoices, "The customer's %d oldest invoices add up to the deposit.",
			len(runs[0])))
		return
	}
	for _, r := range runs {
		s.addCombination(confidenceRun, count, r, because(ConsecutiveRun, "%d invoices in a row by due date add up to the deposit.", len(r)))
	}
}

// combineAllButFew looks for one or two invoices whose amount is missing from the whole balance.
func (s *search) combineAllButFew(open, others []int32, missing int64) {
	if missing <= 0 || s.cut {
		return
	}
	groups := grouped(others, s.units, true) // of equal amounts the newest is left out
	left := solutions{keep: s.limits.suggestions, less: func(a, b []int32) bool {
		if len(a) != len(b) {
			return len(a) > len(b) // fewer are paid
		}
		return slices.Compare(a, b) > 0
	}}
	if len(open) > 2 {
		s.sums.singles(groups, missing, nil, &left)
	}
	if len(open) > 3 {
		s.sums.pairs(groups, missing, nil, &left)
	}
	for _, out := range left.best {
		paid := slices.DeleteFunc(slices.Clone(open), func(i int32) bool { return slices.Contains(out, i) })
		s.addCombination(confidenceLessFew, left.count, paid, because(BalanceLessFew,
			"The deposit pays all open invoices of the customer except %s.", s.numbersOf(out)))
	}
}

// combineFew looks for two, for three, and at last for up to combinedMax invoices, the named ones included.
func (s *search) combineFew(others, named []int32, rest int64) {
	fitting := make([]int32, 0, len(others))
	for _, i := range others {
		if s.units[i] <= rest {
			fitting = append(fitting, i)
		}
	}
	groups := grouped(fitting, s.units, false)
	for more := 1; more <= 3; more++ {
		count := len(named) + more
		if count < 2 || more == 3 && count > combinedMax {
			continue
		}
		found := solutions{keep: s.limits.suggestions}
		switch more {
		case 1:
			s.sums.singles(groups, rest, named, &found)
		case 2:
			s.sums.pairs(groups, rest, named, &found)
		case 3:
			few := groups
			if len(groups) > s.limits.triples {
				few = grouped(fitting[:s.limits.triples], s.units, false)
				s.result.Truncated = true
			}
			s.sums.triples(few, rest, named, &found)
		}
		s.addSums(&found, count)
	}
	if s.explained() || len(named)+1 > combinedMax {
		return
	}
	found := solutions{keep: s.limits.suggestions}
	b := newBounded(groups, s.limits.nodes, s.limits.solutions, named, &found)
	b.search(0, rest, combinedMax-len(named), make([]int32, 0, combinedMax), 1)
	s.sums.steps += b.nodes
	s.result.Truncated = s.result.Truncated || b.stopped
	s.addSums(&found, combinedMax)
}

// addSums adds the solutions of a class of sums.
func (s *search) addSums(found *solutions, count int) {
	confidence := int64(confidenceSeveral)
	switch count {
	case 2:
		confidence = confidenceTwo
	case 3:
		confidence = confidenceThree
	}
	for _, invoices := range found.best {
		s.addCombination(confidence, found.count, invoices, because(SumOfInvoices, "%d invoices add up to the deposit: %s.", len(invoices),
			s.numbersOf(invoices)))
	}
}

// explained reports whether something pays the deposit exactly.
func (s *search) explained() bool { return slices.ContainsFunc(s.ladder, (*explanation).exact) }
