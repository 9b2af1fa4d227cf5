package api_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// shelf is the books as somebody saw who did one thing at a time: the last number, and what stands on the bank account.
type shelf struct{ last, debits, credits int64 }

// deed is something done to the books: entries of so many cents, an undoing of some, or, with neither, a look. The
// memo tells one from another.
type deed struct {
	entries, cents int64
	undone         bool
	memo           string
}

// outcome is what was answered: the number of the last entry made, or the sums that were seen.
type outcome struct {
	unknown         bool
	number          int64
	debits, credits int64
}

// oneAtATime is what the service must look like, whatever is done at once. Numbers are given in the order in which entries take effect.
var oneAtATime = porcupine.Model{
	Init: func() any { return shelf{} },
	Step: func(state, input, output any) (bool, any) {
		s, d, o := state.(shelf), input.(deed), output.(outcome)
		if d.entries == 0 {
			return o.debits == s.debits && o.credits == s.credits, s
		}
		if s.last += d.entries; d.undone {
			s.credits += d.entries * d.cents
		} else {
			s.debits += d.entries * d.cents
		}
		return o.number == s.last, s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// nodes gives an organization's books on one node and, where engines allow it, on a second one.
func nodes(t *testing.T, c db.Config) []*ledger {
	t.Helper()
	first := apitest.Start(t, dbtest.Open(t, c), api.Config{})
	l := openLedger(t, first.Found(t, "mine"))
	out := []*ledger{l}
	if first.App.DB.Engine() == db.Postgres {
		second := apitest.Start(t, dbtest.Open(t, c), api.Config{})
		other, tenant := *l, *l.Tenant
		tenant.Client = client.New(second.URL, l.Key)
		other.Tenant = &tenant
		out = append(out, &other)
	}
	return out
}

// history is what clients did, and when.
type history struct {
	mu    sync.Mutex
	begun time.Time
	did   []porcupine.Operation
}

// note does something and keeps when it was asked for and when it was answered.
func (h *history) note(who int, d deed, do func() outcome) {
	call := time.Since(h.begun)
	o := do()
	back := int64(time.Since(h.begun))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, porcupine.Operation{ClientId: who, Input: d, Call: int64(call), Output: o, Return: back})
}

// resolve looks up what became of deeds whose clients did not wait: some took effect, at some time after they were
// asked for, and the others never did.
func (h *history) resolve(t *testing.T, l *ledger) {
	t.Helper()
	last := map[string]int64{}
	for e, err := range l.Client.JournalEntries(t.Context(), url.Values{"limit": {"100"}}) {
		if err != nil {
			t.Fatal(err)
		}
		last[*e.Memo] = max(last[*e.Memo], numberOf(t, e))
	}
	h.did = slices.DeleteFunc(h.did, func(op porcupine.Operation) bool {
		return op.Output.(outcome).unknown && last[op.Input.(deed).memo] == 0
	})
	for i, op := range h.did {
		if op.Output.(outcome).unknown {
			h.did[i].Output, h.did[i].Return = outcome{number: last[op.Input.(deed).memo]}, math.MaxInt64
		}
	}
}

func numberOf(t *testing.T, e client.JournalEntry) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimPrefix(e.SequenceNumber, "JE-"), 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}

func centsOf(t *testing.T, text string) int64 {
	t.Helper()
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}

// insist sends a write under one key until it is answered, hanging up on it at random before; one that gives up does not know.
func insist[T any](t *testing.T, c *client.Client, call client.Call, giveUp bool, hangUp time.Duration) (out T, known bool) {
	t.Helper()
	call.IdempotencyKey = client.NewIdempotencyKey()
	for {
		ctx, cancel := context.WithCancel(t.Context())
		if hangUp > 0 {
			ctx, cancel = context.WithTimeout(t.Context(), rand.N(hangUp))
		}
		var answer struct{ Data T }
		err := c.Do(ctx, call, &answer)
		gone := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			return answer.Data, true
		case gone && giveUp:
			return out, false
		case gone:
			hangUp *= 2
		default:
			t.Error(err)
			return out, false
		}
	}
}

// client does things to the books one after the other.
func (h *history) client(t *testing.T, l *ledger, who, steps int) {
	var own []client.JournalEntry
	hangUp, giveUp := time.Duration(0), who%4 == 3
	if who%2 == 1 {
		hangUp = 8 * time.Millisecond
	}
	for step := range steps {
		amount, memo := int64(rand.IntN(10_000)+1), fmt.Sprint("deed ", who, " ", step)
		entry := l.entry("2026-01-05", "posted", fmt.Sprintf("Dr 1010 %d.%02d; Cr 4010 %d.%02d", amount/100, amount%100, amount/100, amount%100))
		entry.Memo = memo
		switch what := rand.IntN(10); {
		case what < 4:
			h.note(who, deed{1, amount, false, memo}, func() outcome {
				made, known := insist[client.JournalEntry](t, l.Client, client.Call{Method: "POST", Path: "/v1/journal-entries", Body: entry},
					giveUp, hangUp)
				if !known {
					return outcome{unknown: true}
				}
				own = append(own, made)
				return outcome{number: numberOf(t, made)}
			})
		case what < 5:
			h.note(who, deed{3, amount, false, memo}, func() outcome {
				body := map[string]any{"journal_entries": []any{entry, entry, entry}}
				made, known := insist[[]client.JournalEntry](t, l.Client, client.Call{Method: "POST", Path: "/v1/journal-entries/batch",
					Body: body}, giveUp, hangUp)
				if !known {
					return outcome{unknown: true}
				}
				own = append(own, made...)
				return outcome{number: numberOf(t, made[2])}
			})
		case what < 6 && len(own) > 0:
			e := own[len(own)-1]
			own = own[:len(own)-1]
			h.note(who, deed{1, centsOf(t, e.Lines[0].Amount), true, memo}, func() outcome {
				made, known := insist[client.JournalEntry](t, l.Client, client.Call{Method: "POST", Path: "/v1/journal-entries/" + e.ID +
					"/reverse", Body: client.ReverseJournalEntry{Memo: memo}}, giveUp, hangUp)
				if !known {
					return outcome{unknown: true}
				}
				return outcome{number: numberOf(t, made)}
			})
		default:
			h.note(who, deed{}, func() outcome { return look(t, l) })
		}
	}
}

// look reads what stands on the bank account from a report.
func look(t *testing.T, l *ledger) outcome {
	t.Helper()
	trial, err := l.Client.TrialBalance(t.Context(), url.Values{"start_date": {"2026-01-05"}, "end_date": {"2026-01-05"}})
	if err != nil {
		t.Error(err)
		return outcome{}
	}
	cell, there := trial.Balances[l.accounts["1010"]]["2026-01"]
	if !there {
		return outcome{}
	}
	return outcome{debits: centsOf(t, cell.Debits), credits: centsOf(t, cell.Credits)}
}

// Whatever is posted, undone and read at once, on two nodes, by clients who hang up and ask again: it is as if one
// thing had been done after the other.
func TestPostsAndReportsAreAsIfDoneOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const clients, steps = 8, 12
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		on := nodes(t, c)
		h := &history{begun: time.Now()}
		var wg sync.WaitGroup
		for who := range clients {
			wg.Go(func() { h.client(t, on[who%len(on)], who, steps) })
		}
		wg.Wait()
		for i, l := range on {
			h.note(clients+i, deed{}, func() outcome { return look(t, l) })
		}
		h.resolve(t, on[0])
		if result := porcupine.CheckOperationsTimeout(oneAtATime, h.did, 20*time.Second); result != porcupine.Ok {
			t.Errorf("%s: no order of these explains all of them:", result)
			for _, op := range h.did {
				t.Logf("%d %s to %s: %s", op.ClientId, time.Duration(op.Call), time.Duration(op.Return), oneAtATime.DescribeOperation(op.Input,
					op.Output))
			}
		}
	})
}
