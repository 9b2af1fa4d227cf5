package lifecycle_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/base/lifecycle/lifecycletest"
)

func TestALoopConforms(t *testing.T) {
	t.Parallel()
	lifecycletest.Conforms(t, func(t *testing.T) lifecycle.Service {
		var running atomic.Int64
		t.Cleanup(func() {
			if n := running.Load(); n != 0 {
				t.Errorf("%d goroutines run after the service was stopped", n)
			}
		})
		return lifecycle.New(func(ctx context.Context, started func()) {
			if running.Add(1) > 1 {
				t.Error("it runs twice")
			}
			defer running.Add(-1)
			started()
			<-ctx.Done()
		})
	})
}

// failing is a service that cannot be started.
type failing struct{ *lifecycle.Loop }

var errFailing = errors.New("no")

func (failing) Start(context.Context) error { return errFailing }

func TestServicesBeforeOneThatCannotBeStartedAreStopped(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	first := lifecycle.New(func(ctx context.Context, started func()) {
		started()
		<-ctx.Done()
		close(ended)
	})
	if err := lifecycle.StartAll(t.Context(), first, failing{}); !errors.Is(err, errFailing) {
		t.Errorf("got %v", err)
	}
	select {
	case <-ended:
	default:
		t.Error("the first service runs on")
	}
}
