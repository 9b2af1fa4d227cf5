// Package lifecycle starts and stops long-lived goroutines in one way, so that stopping twice, stopping before the
// start and stopping from several places at once are safe for all of them.
package lifecycle

import (
	"context"
	"sync"
)

// Service is work that runs beside the requests. lifecycletest.Conforms tests an implementation.
type Service interface {
	// Start begins the work and returns. It ends when the context does, or at Stop. Starting a service that runs does
	// nothing; one that was stopped can be started again.
	Start(ctx context.Context) error
	// Started is closed when the service has begun its work, or has ended without doing so.
	Started() <-chan struct{}
	// Stop ends the work and returns when it has ended. Stopping a service that does not run does nothing.
	Stop()
}

// Loop is a Service that runs one function in a goroutine. Embed it, and set it with New.
type Loop struct {
	run func(ctx context.Context, started func())

	mu      sync.Mutex
	current *running
}

// running is one start of a loop.
type running struct {
	cancel         context.CancelFunc
	started, ended chan struct{}
}

func newRunning() *running { return &running{started: make(chan struct{}), ended: make(chan struct{})} }

// New returns a loop that runs a function until its context ends. The function calls started when it has begun; if it
// returns before, it counts as started and ended.
func New(run func(ctx context.Context, started func())) *Loop {
	return &Loop{run: run, current: newRunning()}
}

// Start implements Service.
func (l *Loop) Start(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.current
	if r.cancel != nil {
		select {
		case <-r.ended:
			r = newRunning()
			l.current = r
		default:
			return nil // it runs
		}
	}
	ctx, r.cancel = context.WithCancel(ctx)
	started := sync.OnceFunc(func() { close(r.started) })
	go func() {
		defer close(r.ended)
		defer r.cancel()
		defer started()
		l.run(ctx, started)
	}()
	return nil
}

// Started implements Service.
func (l *Loop) Started() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.started
}

// Stop implements Service.
func (l *Loop) Stop() {
	l.mu.Lock()
	r := l.current
	cancel := r.cancel
	l.mu.Unlock()
	if cancel == nil {
		return // it was never started
	}
	cancel()
	<-r.ended
}

// StartAll starts services in their order. If one fails, those before it are stopped.
func StartAll(ctx context.Context, services ...Service) error {
	for i, s := range services {
		if err := s.Start(ctx); err != nil {
			StopAll(services[:i]...)
			return err
		}
	}
	return nil
}

// StopAll stops services at the same time and returns when all have ended.
func StopAll(services ...Service) {
	var wg sync.WaitGroup
	for _, s := range services {
		wg.Go(s.Stop)
	}
	wg.Wait()
}
