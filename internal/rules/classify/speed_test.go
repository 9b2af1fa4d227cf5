//go:build unix

package classify_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/rules/classify/classifytest"
)

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func measure(b *testing.B, rules []classify.Rule, subjects []classify.Subject) {
	m := classify.Compile(rules)
	var scratch classify.Scratch
	matched, others := 0, 0
	before := processorTime()
	for b.Loop() {
		matched, others = 0, 0
		for i := range subjects {
			d := m.Match(subjects[i], &scratch)
			others += len(d.Others)
			if d.Rule != nil {
				matched++
			}
		}
	}
	b.ReportMetric(float64(len(subjects)*b.N)/(processorTime()-before).Seconds(), "transactions/cpu-s")
	b.ReportMetric(float64(matched)*100/float64(len(subjects)), "%matched")
	b.ReportMetric(float64(others)/float64(len(subjects)), "others")
}

func BenchmarkMatch(b *testing.B) {
	for _, count := range []int{10, 100, 1_000, 10_000, 100_000} {
		rules, subjects := classifytest.Rules(count), classifytest.Subjects(20_000, count)
		b.Run(fmt.Sprintf("rules=%d", count), func(b *testing.B) { measure(b, rules, subjects) })
	}
}

// What a matcher that files rules under one condition only would be slow at.
func BenchmarkMatchOfRulesAlike(b *testing.B) {
	for name, rule := range map[string]func(n int) classify.Rule{
		"one category, many assets":  func(n int) classify.Rule { return classify.Rule{Category: "software", Asset: fmt.Sprint("T", n)} },
		"one asset, many categories": func(n int) classify.Rule { return classify.Rule{Asset: "USDC", Category: fmt.Sprint("c", n)} },
		"one memo, many addresses":   func(n int) classify.Rule { return classify.Rule{MemoContains: "a", Address: fmt.Sprint("0x", n)} },
		"one memo, the wrong way": func(int) classify.Rule {
			return classify.Rule{MemoContains: "thank you", Asset: "USDC", Direction: classify.Deposit}
		},
		"pairs of letters, the wrong way": func(n int) classify.Rule {
			return classify.Rule{MemoContains: string([]byte{'a' + byte(n%26), 'a' + byte(n/26%26)}), Category: []string{"software", "meals",
				"travel", "payroll", "fees", "rent"}[n/676%6], Direction: classify.Deposit}
		},
		"memos that are suffixes": func(n int) classify.Rule { return classify.Rule{MemoContains: strings.Repeat("z", n%500) + "invoice"} },
		"memos with a prefix in texts": func(n int) classify.Rule {
			return classify.Rule{MemoContains: fmt.Sprintf("thank you for your business with %d", n)}
		},
	} {
		b.Run(name, func(b *testing.B) {
			rules := classifytest.Rules(10)
			for n := range 10_000 {
				r := rule(n)
				r.ID = fmt.Sprintf("rul_a%05d", n)
				rules = append(rules, r)
			}
			subjects := classifytest.Subjects(20_000, 10)
			for i := range subjects {
				if strings.HasSuffix(name, "wrong way") {
					subjects[i].Inflow = false
				}
			}
			measure(b, rules, subjects)
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	rules := classifytest.Rules(10_000)
	for b.Loop() {
		classify.Compile(rules)
	}
}

func BenchmarkPropose(b *testing.B) {
	s := classify.Subject{Vendor: "Amazon Web Services", To: "0xAB", Description: "cloud services invoice 2026-01 no 4711",
		Category: "hosting", Asset: "USDC", Quantity: money.MustParse("1234.56")}
	habits := map[classify.Feature]*classify.BookingHistory{}
	for n, f := range classify.Features(s) {
		var past []classify.Precedent
		for _, r := range booked(s, times(classify.PrecedentsMax, fmt.Sprint("EXPENSE lac_", n))...) {
			past = append(past, r.Precedent)
		}
		habits[f] = classify.NewBookingHistory(past)
	}
	for b.Loop() {
		if classify.Propose(s, func(f classify.Feature) *classify.BookingHistory { return habits[f] }) == nil {
			b.Fatal("nothing is proposed")
		}
	}
}
