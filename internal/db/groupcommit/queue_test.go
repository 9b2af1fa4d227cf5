package groupcommit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

// ledger is a store with transactions that groups commit to.
type ledger struct {
	mu        sync.Mutex
	committed []string
	batches   []int
	refuse    func(attempt int) error // refuses a commit
}

// pending is a transaction under way. A body appends to it.
type pending struct {
	rows   []string
	mark   int
	broken bool
}

var (
	errRetry  = errors.New("retry")
	errFailed = errors.New("failed")
)

func (l *ledger) options() groupcommit.Options[*pending] {
	return groupcommit.Options[*pending]{
		Limit: 8, Capacity: 64, Attempts: 3, Commit: l.commit,
		Retryable: func(err error) bool { return errors.Is(err, errRetry) },
	}
}

func (l *ledger) commit(b *groupcommit.Batch[*pending]) error {
	p := &pending{}
	begin := func() (*pending, error) { p.mark = len(p.rows); return p, nil }
	end := func(p *pending, err error) error {
		if err != nil {
			p.rows = p.rows[:p.mark]
		}
		if p.broken {
			return errRetry
		}
		return nil
	}
	if err := b.Run(begin, end); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		if err := l.refuse(b.Attempt()); err != nil {
			return err
		}
	}
	if b.Size() != len(p.rows) {
		return fmt.Errorf("%d members with %d rows", b.Size(), len(p.rows))
	}
	l.committed = append(l.committed, p.rows...)
	l.batches = append(l.batches, b.Size())
	return nil
}

// held is a queue whose leader is busy with a first member until proceed is closed, so that others gather behind it.
func held(t *testing.T, l *ledger) (q *groupcommit.Queue[*pending], proceed chan struct{}, wait func()) {
	t.Helper()
	q = groupcommit.New(l.options())
	began, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	var once sync.Once
	wg.Go(func() {
		err := q.Submit(context.Background(), "k", true, func(p *pending) error {
			once.Do(func() { close(began) })
			<-proceed
			p.rows = append(p.rows, "first")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-began
	return q, proceed, wg.Wait
}

// waitFor returns when so many members wait.
func waitFor(q *groupcommit.Queue[*pending], n int) {
	for q.Len() < n {
		runtime.Gosched()
	}
}

func TestMembersThatGatherWhileTheLeaderIsBusyShareACommit(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	q, proceed, wait := held(t, l)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			err := q.Submit(context.Background(), "k", false, func(p *pending) error {
				p.rows = append(p.rows, fmt.Sprint(i))
				if i%4 == 0 {
					return errFailed
				}
				return nil
			})
			if (i%4 == 0) != errors.Is(err, errFailed) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	waitFor(q, 12)
	close(proceed)
	wg.Wait()
	wait()
	if len(l.committed) != 10 || len(l.batches) != 3 {
		t.Errorf("committed %v in batches of %v", l.committed, l.batches)
	}
}

func TestAMemberThatIsAloneSharesItsBatchWithNobody(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	q, proceed, wait := held(t, l)
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			if err := q.Submit(context.Background(), "k", i == 2, func(p *pending) error {
				p.rows = append(p.rows, fmt.Sprint(i))
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		waitFor(q, i+1)
	}
	close(proceed)
	wg.Wait()
	wait()
	if !slices.Equal(l.batches, []int{1, 2, 1, 2}) || !slices.Equal(l.committed, []string{"first", "0", "1", "2", "3", "4"}) {
		t.Errorf("committed %v in batches of %v", l.committed, l.batches)
	}
}

func TestABatchRunsAgainAsOftenAsItIsAllowedTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse func(int) error
		runs   int
		want   error
	}{
		"once":          {func(attempt int) error { return map[bool]error{true: errRetry}[attempt == 1] }, 2, nil},
		"for ever":      {func(int) error { return errRetry }, 3, errRetry},
		"not retryable": {func(int) error { return errFailed }, 1, errFailed},
	} {
		l := &ledger{refuse: c.refuse}
		runs := 0
		err := groupcommit.New(l.options()).Submit(context.Background(), "k", false, func(p *pending) error {
			runs++
			p.rows = append(p.rows, "x")
			return nil
		})
		if runs != c.runs || !errors.Is(err, c.want) {
			t.Errorf("%s: %d runs, %v", name, runs, err)
		}
	}
}

func TestAMemberWhoseContextEndsDuringAnAttemptIsDroppedFromTheNext(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	q, proceed, wait := held(t, l)
	ctx, cancel := context.WithCancel(context.Background())
	l.refuse = func(attempt int) error {
		if l.committed != nil && ctx.Err() == nil { // the batch after the first
			cancel()
			return errRetry
		}
		return nil
	}
	var wg sync.WaitGroup
	runs := make([]int, 6)
	for i := range runs {
		of := context.Background()
		if i%2 == 0 {
			of = ctx
		}
		wg.Go(func() {
			err := q.Submit(of, "k", false, func(p *pending) error {
				runs[i]++
				p.rows = append(p.rows, fmt.Sprint(i))
				return nil
			})
			if (i%2 == 0) != errors.Is(err, context.Canceled) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	waitFor(q, 6)
	close(proceed)
	wg.Wait()
	wait()
	if !slices.Equal(runs, []int{1, 2, 1, 2, 1, 2}) || len(l.committed) != 4 {
		t.Errorf("bodies ran %v times; committed %v", runs, l.committed)
	}
}

func TestAMemberThatBreaksTheTransactionLeavesAndTheOthersRunAgainInTheSameAttempt(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	q, proceed, wait := held(t, l)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := q.Submit(context.Background(), "k", false, func(p *pending) error {
				p.rows = append(p.rows, fmt.Sprint(i))
				if i < 5 { // more often than a batch may be attempted
					p.broken = true
					return errFailed
				}
				return nil
			})
			if (i < 5) != errors.Is(err, errFailed) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	waitFor(q, 8)
	close(proceed)
	wg.Wait()
	wait()
	if len(l.committed) != 4 {
		t.Errorf("committed %v", l.committed)
	}
}

func TestAPanicStaysWithItsCaller(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	q := groupcommit.New(l.options())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not reach the caller")
			}
		}()
		_ = q.Submit(context.Background(), "k", false, func(*pending) error { panic("in a body") })
	}()
	if err := q.Submit(context.Background(), "k", false, func(p *pending) error { p.rows = append(p.rows, "x"); return nil }); err != nil {
		t.Error(err)
	}
}

func TestClosingFinishesTheBatchUnderWayAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	q, proceed, wait := held(t, l)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			err := q.Submit(context.Background(), "k", false, func(p *pending) error { p.rows = append(p.rows, "x"); return nil })
			if !errors.Is(err, groupcommit.ErrClosed) {
				t.Errorf("a member that waited: %v", err)
			}
		})
	}
	waitFor(q, 3)
	closed := make(chan struct{})
	go func() {
		q.Close()
		q.Close()
		close(closed)
	}()
	wg.Wait()
	close(proceed)
	<-closed
	wait()
	if !slices.Equal(l.committed, []string{"first"}) {
		t.Errorf("committed %v", l.committed)
	}
	if err := q.Submit(context.Background(), "k", false, nil); !errors.Is(err, groupcommit.ErrClosed) {
		t.Error(err)
	}
}

func TestKeysDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	q, proceed, wait := held(t, l)
	if err := q.Submit(context.Background(), "other", false, func(p *pending) error { p.rows = append(p.rows, "x"); return nil }); err != nil {
		t.Error(err)
	}
	close(proceed)
	wait()
	if !slices.Equal(l.committed, []string{"x", "first"}) {
		t.Errorf("committed %v", l.committed)
	}
}
