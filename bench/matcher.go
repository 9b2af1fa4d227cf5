package main

import (
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/rules/classify/classifytest"
)

const (
	matcherFew     = 10
	matcherMany    = 10_000
	matcherMin     = 200_000.0 // transactions a second
	matcherSlowMax = 3.0
)

// measureMatcher shows that the cost of matching a transaction hardly grows with the number of rules.
func measureMatcher(b *bench) ([]figure, error) {
	count := pick(b, 100_000, 20_000, 2_000)
	few, many := newMatcherRun(matcherFew, count), newMatcherRun(matcherMany, count)
	for range pick(b, 15, 5, 1) {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		few.round()
		many.round()
	}
	rate, ratio := many.rate(), many.best.Seconds()/few.best.Seconds()
	return []figure{
		{name: fmt.Sprintf("matcher, transactions with %d rules", matcherMany), value: fmt.Sprintf("%.0f/s", rate),
			target: fmt.Sprintf(">= %.0f/s", matcherMin), verdict: b.judge(rate >= matcherMin),
			note: fmt.Sprintf("on one core, the best of several rounds; %d%% match; compiled in %s", many.matched*100/count,
				rounded(many.compiled))},
		{name: fmt.Sprintf("matcher, %d rules to %d", matcherMany, matcherFew), value: fmt.Sprintf("%.2f", ratio),
			target: fmt.Sprintf("<= %.0f", matcherSlowMax), verdict: b.judge(ratio <= matcherSlowMax),
			note: fmt.Sprintf("%.0f/s with few, of which %d%% match", few.rate(), few.matched*100/count)},
	}, nil
}

// matcherRun matches the same transactions against rules, repeatedly.
type matcherRun struct {
	matcher  *classify.Matcher
	scratch  classify.Scratch
	subjects []classify.Subject
	compiled time.Duration
	best     time.Duration // of a round
	matched  int
}

func newMatcherRun(rules, count int) *matcherRun {
	s := &matcherRun{subjects: classifytest.Subjects(count, rules)}
	all := classifytest.Rules(rules)
	began := time.Now()
	s.matcher = classify.Compile(all)
	s.compiled = time.Since(began)
	return s
}

func (s *matcherRun) round() {
	s.matched = 0
	began := time.Now()
	for i := range s.subjects {
		if s.matcher.Match(s.subjects[i], &s.scratch).Rule != nil {
			s.matched++
		}
	}
	if took := time.Since(began); s.best == 0 || took < s.best {
		s.best = took
	}
}

func (s *matcherRun) rate() float64 { return float64(len(s.subjects)) / s.best.Seconds() }
