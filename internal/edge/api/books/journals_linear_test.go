package books_test

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

// booksState is the state of the sequential model: the last entry number, and the totals of the bank account in cents.
type booksState struct{ last, debits, credits int64 }

// operation is a request to the books: it posts entries of an amount in cents, posts a reversal, or, without entries, reads
// the balance. The memo identifies it.
type operation struct {
	entries, cents int64
	reversal       bool
	memo           string
}

// outcome is the answer: the number of the last entry that was created, or the totals that were read. It is unknown if the
// client did not wait for the answer.
type outcome struct {
	unknown         bool
	number          int64
	debits, credits int64
}

// sequentialBooks is the model that the service must be linearizable to. Numbers are assigned in the order in which
// entries take effect.
var sequentialBooks = porcupine.Model{
	Init: func() any { return booksState{} },
	Step: func(state, input, output any) (bool, any) {
		s, d, o := state.(booksState), input.(operation), output.(outcome)
		if d.entries == 0 {
			return o.debits == s.debits && o.credits == s.credits, s
		}
		if s.last += d.entries; d.reversal {
			s.credits += d.entries * d.cents
		} else {
			s.debits += d.entries * d.cents
		}
		return o.number == s.last, s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// nodes returns the books of an organization on one node and, on PostgreSQL, on a second one.
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

// recorder records the operations of clients with their times.
type recorder struct {
	mu         sync.Mutex
	begun      time.Time
	operations []porcupine.Operation
}

// record runs an operation and records when it was requested and answered.
func (r *recorder) record(who int, d operation, do func() outcome) {
	call := time.Since(r.begun)
	o := do()
	back := int64(time.Since(r.begun))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operations = append(r.operations, porcupine.Operation{ClientId: who, Input: d, Call: int64(call), Output: o, Return: back})
}

// resolve finds the outcome of operations whose clients did not wait: some took effect at some time after the request,
// and the others never did.
func (r *recorder) resolve(t *testing.T, l *ledger) {
	t.Helper()
	last := map[string]int64{}
	for e, err := range l.Client.JournalEntries(t.Context(), url.Values{"limit": {"100"}}) {
		if err != nil {
			t.Fatal(err)
		}
		last[*e.Memo] = max(last[*e.Memo], numberOf(t, e))
	}
	r.operations = slices.DeleteFunc(r.operations, func(op porcupine.Operation) bool {
		return op.Output.(outcome).unknown && last[op.Input.(operation).memo] == 0
	})
	for i, op := range r.operations {
		if op.Output.(outcome).unknown {
			r.operations[i].Output, r.operations[i].Return = outcome{number: last[op.Input.(operation).memo]}, math.MaxInt64
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

// sendUntilAnswered sends a write with one idempotency key until it is answered, and cancels it at random before. A client
// that gives up does not know the outcome.
func sendUntilAnswered[T any](t *testing.T, c *client.Client, call client.Call, giveUp bool, hangUp time.Duration) (out T, known bool) {
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

// runClient runs random operations one after the other.
func (r *recorder) runClient(t *testing.T, l *ledger, who, steps int) {
	var own []client.JournalEntry
	hangUp, giveUp := time.Duration(0), who%4 == 3
	if who%2 == 1 {
		hangUp = 8 * time.Millisecond
	}
	for step := range steps {
		amount, memo := int64(rand.IntN(10_000)+1), fmt.Sprint("operation ", who, " ", step)
		entry := l.Entry("2026-01-05", "posted", fmt.Sprintf("Dr 1010 %d.%02d; Cr 4010 %d.%02d", amount/100, amount%100, amount/100, amount%100))
		entry.Memo = memo
		switch what := rand.IntN(10); {
		case what < 4:
			r.record(who, operation{1, amount, false, memo}, func() outcome {
				call := client.Call{Method: "POST", Path: "/v1/journal-entries", Body: entry}
				made, known := sendUntilAnswered[client.JournalEntry](t, l.Client, call, giveUp, hangUp)
				if !known {
					return outcome{unknown: true}
				}
				own = append(own, made)
				return outcome{number: numberOf(t, made)}
			})
		case what < 5:
			r.record(who, operation{3, amount, false, memo}, func() outcome {
				body := map[string]any{"journal_entries": []any{entry, entry, entry}}
				call := client.Call{Method: "POST", Path: "/v1/journal-entries/batch", Body: body}
				made, known := sendUntilAnswered[[]client.JournalEntry](t, l.Client, call, giveUp, hangUp)
				if !known {
					return outcome{unknown: true}
				}
				own = append(own, made...)
				return outcome{number: numberOf(t, made[2])}
			})
		case what < 6 && len(own) > 0:
			e := own[len(own)-1]
			own = own[:len(own)-1]
			r.record(who, operation{1, centsOf(t, e.Lines[0].Amount), true, memo}, func() outcome {
				path := "/v1/journal-entries/" + e.ID + "/reverse"
				call := client.Call{Method: "POST", Path: path, Body: client.ReverseJournalEntry{Memo: memo}}
				made, known := sendUntilAnswered[client.JournalEntry](t, l.Client, call, giveUp, hangUp)
				if !known {
					return outcome{unknown: true}
				}
				return outcome{number: numberOf(t, made)}
			})
		default:
			r.record(who, operation{}, func() outcome { return readBalance(t, l) })
		}
	}
}

// readBalance reads the totals of the bank account from a report.
func readBalance(t *testing.T, l *ledger) outcome {
	t.Helper()
	trial, err := l.Client.TrialBalance(t.Context(), url.Values{"start_date": {"2026-01-05"}, "end_date": {"2026-01-05"}})
	if err != nil {
		t.Error(err)
		return outcome{}
	}
	cell, there := trial.Balances[l.Accounts["1010"]]["2026-01"]
	if !there {
		return outcome{}
	}
	return outcome{debits: centsOf(t, cell.Debits), credits: centsOf(t, cell.Credits)}
}

// Entries are posted, reversed and read concurrently, on two nodes, by clients that cancel requests and repeat them. The
// result must be linearizable.
func TestPostsAndReportsAreLinearizable(t *testing.T) {
	t.Parallel()
	const clients, steps = 8, 12
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		on := nodes(t, c)
		r := &recorder{begun: time.Now()}
		var wg sync.WaitGroup
		for who := range clients {
			wg.Go(func() { r.runClient(t, on[who%len(on)], who, steps) })
		}
		wg.Wait()
		for i, l := range on {
			r.record(clients+i, operation{}, func() outcome { return readBalance(t, l) })
		}
		r.resolve(t, on[0])
		if result := porcupine.CheckOperationsTimeout(sequentialBooks, r.operations, 20*time.Second); result != porcupine.Ok {
			t.Errorf("%s: no order of these explains all of them:", result)
			for _, op := range r.operations {
				t.Logf("%d %s to %s: %s", op.ClientId, time.Duration(op.Call), time.Duration(op.Return),
					sequentialBooks.DescribeOperation(op.Input, op.Output))
			}
		}
	})
}
