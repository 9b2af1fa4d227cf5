package groupcommit_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursarhq/bursar/internal/db/groupcommit"
)

func TestAMemberThatYieldsIsOvertakenUntilItHasWaitedForHalfASecond(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pause   time.Duration
		want    []string
		batches []int
	}{
		"at once":     {0, []string{"first", "a", "b", "later", "much later"}, []int{3, 1, 1}},
		"in a second": {time.Second, []string{"first", "a", "later", "much later", "b"}, []int{2, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				q := groupcommit.New(l.options())
				proceed := make(chan struct{})
				var wg sync.WaitGroup
				submit := func(text string, how func(context.Context, string, func(*pending) error) error) {
					wg.Go(func() {
						err := how(context.Background(), "k", func(p *pending) error {
							if text == "first" {
								<-proceed
							}
							p.rows = append(p.rows, text)
							return nil
						})
						if err != nil {
							t.Error(err)
						}
					})
					synctest.Wait()
				}
				now := func(ctx context.Context, key string, body func(*pending) error) error {
					return q.Submit(ctx, key, false, body)
				}
				submit("first", now)
				submit("later", q.SubmitLater)
				submit("much later", q.SubmitLater)
				submit("a", now)
				time.Sleep(c.pause)
				submit("b", now)
				close(proceed)
				wg.Wait()
				q.Close()
				if !slices.Equal(l.committed, c.want) || !slices.Equal(l.batches, c.batches) {
					t.Errorf("committed %q in batches of %d, want %q in batches of %d", l.committed, l.batches, c.want, c.batches)
				}
			})
		})
	}
}
