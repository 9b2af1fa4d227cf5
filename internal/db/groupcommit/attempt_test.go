package groupcommit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

// insert is a body that appends a row.
func insert(text string) func(*pending) error {
	return func(p *pending) error {
		p.rows = append(p.rows, text)
		return nil
	}
}

// soon fails the test if a call of Submit does not end although nobody lets the leader go on.
func soon(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the member waits for the leader")
		return nil
	}
}

func TestThereIsAPauseBeforeEachAttemptAfterTheFirst(t *testing.T) {
	t.Parallel()
	l := &ledger{refuse: func(int) error { return errRetry }}
	var events []string
	o := l.options()
	o.Pause = func(attempt int) { events = append(events, fmt.Sprint("pause before ", attempt)) }
	err := groupcommit.New(o).Submit(t.Context(), "k", false, func(p *pending) error {
		events = append(events, "body")
		return insert("x")(p)
	})
	if want := []string{"body", "pause before 2", "body", "pause before 3", "body"}; !errors.Is(err, errRetry) || !slices.Equal(events, want) {
		t.Errorf("%v, %v", events, err)
	}
}

func TestAMemberWhoseContextEndsWhileItsTransactionIsNotBegunDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	o := l.options()
	waits, connection := make(chan struct{}, 1), make(chan struct{})
	o.Commit = func(b *groupcommit.Batch[*pending]) error {
		waits <- struct{}{}
		<-connection
		return l.commit(b)
	}
	q := groupcommit.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Submit(ctx, "k", false, insert("gone")) }()
	<-waits
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := q.Submit(t.Context(), "k", false, insert("stays")); err != nil {
			t.Error(err)
		}
	})
	waitFor(q, 2)
	cancel()
	if err := soon(t, ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(connection)
	wg.Wait()
	if !slices.Equal(l.committed, []string{"stays"}) {
		t.Errorf("committed %v", l.committed)
	}
}

func TestAMemberWhoseContextEndsBetweenTwoAttemptsDoesNotWaitForTheNext(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"body", "pause"} {
		l := &ledger{refuse: func(attempt int) error { return map[bool]error{true: errRetry}[attempt == 1] }}
		o := l.options()
		pauses, proceed := make(chan struct{}), make(chan struct{})
		o.Pause = func(int) {
			close(pauses)
			<-proceed
		}
		q := groupcommit.New(o)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- q.Submit(ctx, "k", false, func(p *pending) error {
				if during == "body" {
					cancel()
				}
				return insert("x")(p)
			})
		}()
		<-pauses
		cancel()
		if err := soon(t, ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", during, err)
		}
		close(proceed)
		q.Close() // waits for the leader
		if len(l.committed) != 0 {
			t.Errorf("%s: committed %v", during, l.committed)
		}
	}
}

func TestATransactionThatCannotBeBegunFailsAllWhoWaitForIt(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	for _, failure := range []error{errFailed, errRetry} {
		o := l.options()
		begins, proceed := 0, make(chan struct{})
		o.Commit = func(*groupcommit.Batch[*pending]) error {
			begins++
			<-proceed
			return failure
		}
		q := groupcommit.New(o)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := q.Submit(context.Background(), "k", false, insert("x")); !errors.Is(err, failure) {
					t.Error(err)
				}
			})
		}
		waitFor(q, 3)
		close(proceed)
		wg.Wait()
		if want := map[error]int{errFailed: 1, errRetry: o.Attempts}[failure]; begins != want {
			t.Errorf("%v: %d attempts to begin, want %d", failure, begins, want)
		}
	}
}

func TestClosingRefusesAMemberThatWaitsForItsNextAttempt(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before the pause", "in the pause"} {
		l := &ledger{}
		o := l.options()
		var q *groupcommit.Queue[*pending]
		closed := make(chan struct{})
		closeQueue := func() {
			go func() {
				q.Close()
				close(closed)
			}()
			for err := error(nil); !errors.Is(err, groupcommit.ErrClosed); { // until it is closed
				err = q.Submit(t.Context(), "other", false, insert("other"))
			}
		}
		l.refuse = func(int) error { return nil }
		o.Commit = func(b *groupcommit.Batch[*pending]) error {
			err := l.commit(b)
			if b.Key() == "other" || b.Size() == 0 {
				return err
			}
			l.committed = nil
			if when == "before the pause" {
				closeQueue()
			}
			return errRetry
		}
		o.Pause = func(int) {
			if when == "in the pause" {
				closeQueue()
			}
		}
		q = groupcommit.New(o)
		if err := q.Submit(t.Context(), "k", false, insert("x")); !errors.Is(err, groupcommit.ErrClosed) {
			t.Errorf("%s: %v", when, err)
		}
		<-closed
	}
}
