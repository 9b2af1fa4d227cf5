package groupcommit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

// errPanicked stands for the panic of a body.
var errPanicked = errors.New("panicked")

// submitTogether submits bodies that all wait, in their order, when the first transaction begins, and returns what became
// of each.
func submitTogether(t *testing.T, o groupcommit.Options[*pending], bodies ...func(*pending) error) []error {
	t.Helper()
	commit, gathered := o.Commit, make(chan struct{})
	o.Commit = func(b *groupcommit.Batch[*pending]) error {
		<-gathered
		return commit(b)
	}
	q := groupcommit.New(o)
	ended := make([]chan error, len(bodies))
	for i, body := range bodies {
		ended[i] = make(chan error, 1)
		go func() {
			defer func() {
				if recover() != nil {
					ended[i] <- errPanicked
				}
			}()
			ended[i] <- q.Submit(context.Background(), "k", false, body)
		}()
		waitFor(q, i+1)
	}
	close(gathered)
	results := make([]error, len(bodies))
	for i := range ended {
		results[i] = soon(t, ended[i])
	}
	return results
}

// inserts are n bodies, and the rows they append.
func inserts(n int) (bodies []func(*pending) error, rows []string) {
	for i := range n {
		rows = append(rows, fmt.Sprint(i))
		bodies = append(bodies, insert(rows[i]))
	}
	return bodies, rows
}

// refuseFirst refuses the first n commits, whatever attempt they are, and accepts all others.
func refuseFirst(n int) func(int) error {
	commits := 0
	return func(int) error {
		if commits++; commits <= n {
			return errRetry
		}
		return nil
	}
}

func TestAMemberThatIsWithdrawnMakesRoomForAnother(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	o := l.options()
	o.Capacity = 2
	connection := make(chan struct{})
	o.Commit = func(b *groupcommit.Batch[*pending]) error {
		<-connection
		return l.commit(b)
	}
	q := groupcommit.New(o)
	submit := func(ctx context.Context, text string) <-chan error {
		ended := make(chan error, 1)
		go func() { ended <- q.Submit(ctx, "k", false, insert(text)) }()
		return ended
	}
	first := submit(context.Background(), "first") // keeps the line in use
	waitFor(q, 1)
	ctx, cancel := context.WithCancel(context.Background())
	withdrawn := submit(ctx, "withdrawn")
	waitFor(q, 2)
	cancel()
	if err := soon(t, withdrawn); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	limited, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	next := submit(limited, "next")
	for q.Len() < 2 {
		select {
		case err := <-next:
			t.Fatalf("there is no room in the line: %v", err)
		default:
			runtime.Gosched()
		}
	}
	close(connection)
	if err := errors.Join(soon(t, first), soon(t, next)); err != nil {
		t.Error(err)
	}
	if !slices.Equal(l.committed, []string{"first", "next"}) {
		t.Errorf("committed %v", l.committed)
	}
}

func TestAFullBatchRunsAgainWithAllItsMembers(t *testing.T) {
	t.Parallel()
	l := &ledger{refuse: refuseFirst(1)}
	o := l.options()
	bodies, rows := inserts(o.Limit)
	if err := errors.Join(submitTogether(t, o, bodies...)...); err != nil {
		t.Error(err)
	}
	if !slices.Equal(l.batches, []int{o.Limit}) || !slices.Equal(l.committed, rows) {
		t.Errorf("committed %v in batches of %v", l.committed, l.batches)
	}
}

func TestMembersThatRunAgainDoSoBeforeThoseThatCameLater(t *testing.T) {
	t.Parallel()
	l := &ledger{refuse: refuseFirst(1)}
	o := l.options()
	bodies, rows := inserts(o.Limit + 3)
	if err := errors.Join(submitTogether(t, o, bodies...)...); err != nil {
		t.Error(err)
	}
	if !slices.Equal(l.committed, rows) {
		t.Errorf("committed %v, want %v", l.committed, rows)
	}
}

func TestAMemberThatIsAloneRunsAgainInTheSameBatch(t *testing.T) {
	t.Parallel()
	l := &ledger{refuse: refuseFirst(1)}
	if err := groupcommit.New(l.options()).Submit(t.Context(), "k", true, insert("x")); err != nil {
		t.Error(err)
	}
	if !slices.Equal(l.batches, []int{1}) { // and not an empty one before it
		t.Errorf("committed %v in batches of %v", l.committed, l.batches)
	}
}

func TestAMemberThatBreaksTheTransactionOfTheLastAttemptDoesNotFailTheOthers(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	o := l.options()
	l.refuse = refuseFirst(o.Attempts - 1)
	runs := 0
	errs := submitTogether(t, o, insert("stays"), func(p *pending) error {
		if runs++; runs == o.Attempts {
			p.broken = true
			return errFailed
		}
		return insert("leaves")(p)
	})
	if errs[0] != nil || !errors.Is(errs[1], errFailed) {
		t.Error(errs)
	}
	if !slices.Equal(l.committed, []string{"stays"}) {
		t.Errorf("committed %v", l.committed)
	}
}

func TestAnAttemptInWhichABodyPanicsDoesNotCount(t *testing.T) {
	t.Parallel()
	var attempts []int // of the commits
	l := &ledger{refuse: func(attempt int) error {
		attempts = append(attempts, attempt)
		return nil
	}}
	o := l.options()
	bodies := []func(*pending) error{insert("stays")}
	for range o.Attempts + 1 {
		bodies = append(bodies, func(p *pending) error {
			p.broken = true
			panic("in a body")
		})
	}
	errs := submitTogether(t, o, bodies...)
	if errs[0] != nil {
		t.Error(errs[0])
	}
	for _, err := range errs[1:] {
		if !errors.Is(err, errPanicked) {
			t.Error(err)
		}
	}
	if !slices.Equal(attempts, []int{1}) || !slices.Equal(l.committed, []string{"stays"}) {
		t.Errorf("committed %v in attempts %v", l.committed, attempts)
	}
}

func TestAMemberWhoseBodyCannotBeginGetsTheErrorAndTheOthersRunAgain(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	o := l.options()
	begins := 0
	var attempts []int
	o.Commit = func(b *groupcommit.Batch[*pending]) error {
		attempts = append(attempts, b.Attempt())
		p := &pending{}
		err := b.Run(func() (*pending, error) {
			if begins++; begins == 2 {
				return nil, errRetry
			}
			return p, nil
		}, func(*pending, error) error { return nil })
		if err == nil {
			l.committed = append(l.committed, p.rows...)
		}
		return err
	}
	errs := submitTogether(t, o, insert("before"), insert("refused"), insert("after"))
	if errs[0] != nil || !errors.Is(errs[1], errRetry) || errs[2] != nil {
		t.Error(errs)
	}
	if !slices.Equal(attempts, []int{1, 1}) || !slices.Equal(l.committed, []string{"before", "after"}) {
		t.Errorf("committed %v in attempts %v", l.committed, attempts)
	}
}
