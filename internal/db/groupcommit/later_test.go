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
		pause time.Duration
		want  []string
	}{
		"at once":     {0, []string{"first", "a", "b", "later", "much later"}},
		"in a second": {time.Second, []string{"first", "a", "later", "much later", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				q := groupcommit.New(l.options())
				proceed := make(chan struct{})
				var wg sync.WaitGroup
				submit := func(text string, how func(context.Context, string, bool, func(*pending) error) error) {
					wg.Go(func() {
						err := how(context.Background(), "k", false, func(p *pending) error {
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
				submit("first", q.Submit)
				submit("later", q.SubmitLater)
				submit("much later", q.SubmitLater)
				submit("a", q.Submit)
				time.Sleep(c.pause)
				submit("b", q.Submit)
				close(proceed)
				wg.Wait()
				q.Close()
				if !slices.Equal(l.committed, c.want) {
					t.Errorf("committed %q, want %q", l.committed, c.want)
				}
			})
		})
	}
}
