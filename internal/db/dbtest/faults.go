package dbtest

import (
	"sync"
	"time"
)

// Faults decides what goes wrong between a node and its database: NewDisk applies it to SQLite and NewProxy to PostgreSQL. The zero value
// lets everything pass.
type Faults struct {
	mu      sync.Mutex
	waiters *sync.Cond

	crashIn, loseIn, resetIn int // steps until it happens; 0 means never
	delay                    time.Duration
	paused, dead             bool
	happened                 map[string]int // by name, since Happened was called

	onCrash func() // called once, with the database at rest
}

// NewFaults returns faults of which none happens yet.
func NewFaults() *Faults {
	f := &Faults{happened: map[string]int{}}
	f.waiters = sync.NewCond(&f.mu)
	return f
}

// CrashIn makes the node lose its database at the n-th step from now, for good: nothing that it does later reaches the database. A step is
// a commit of SQLite and a message to PostgreSQL.
func (f *Faults) CrashIn(n int) { f.set(func() { f.crashIn = n }) }

// LoseCommitIn closes the connection after the n-th commit from now, before PostgreSQL's answer arrives.
func (f *Faults) LoseCommitIn(n int) { f.set(func() { f.loseIn = n }) }

// ResetIn closes the connection that carries the n-th message to PostgreSQL from now, in place of passing the message on.
func (f *Faults) ResetIn(n int) { f.set(func() { f.resetIn = n }) }

// Slow delays every step.
func (f *Faults) Slow(delay time.Duration) { f.set(func() { f.delay = delay }) }

// Pause stops the node at its next step, until Resume.
func (f *Faults) Pause() { f.set(func() { f.paused = true }) }

// Resume continues after Pause.
func (f *Faults) Resume() { f.set(func() { f.paused = false }) }

// Crash makes the node lose its database now.
func (f *Faults) Crash() { f.set(f.crash) }

// Dead reports whether the node has crashed.
func (f *Faults) Dead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// Happened returns how often each fault has happened since the last call: crash, lost commit and reset,
// and whether the disk was slow and the node paused.
func (f *Faults) Happened() (out map[string]int) {
	f.set(func() { out, f.happened = f.happened, map[string]int{} })
	return out
}

// Clear calls off what has not happened yet. It returns how many crashes, lost commits and resets those were.
func (f *Faults) Clear() (left int) {
	f.set(func() {
		for _, n := range []*int{&f.crashIn, &f.loseIn, &f.resetIn} {
			if *n > 0 {
				left++
			}
			*n = 0
		}
		f.delay, f.paused = 0, false
	})
	return left
}

func (f *Faults) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.waiters.Broadcast()
}

// crash needs the lock.
func (f *Faults) crash() {
	if !f.dead {
		f.dead, f.paused = true, false
		f.happened["crash"]++
		if f.onCrash != nil {
			f.onCrash()
		}
	}
}

// fate is what happens to one step.
type fate int

const (
	passes fate = iota
	isReset
	crashes // it is the one at which the node crashes
	isDead
)

// step waits as long as the node is paused or its database slow, and returns what happens to the step.
func (f *Faults) step() fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delay := f.delay; delay > 0 {
		f.happened["slow disk"] = 1
		f.mu.Unlock()
		time.Sleep(delay)
		f.mu.Lock()
	}
	for f.paused {
		f.happened["pause"] = 1
		f.waiters.Wait()
	}
	switch {
	case f.dead:
		return isDead
	case countDown(&f.crashIn):
		f.crash()
		return crashes
	case countDown(&f.resetIn):
		f.happened["reset"]++
		return isReset
	}
	return passes
}

// losesCommit reports whether the answer to a commit is lost.
func (f *Faults) losesCommit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !countDown(&f.loseIn) {
		return false
	}
	f.happened["lost commit"]++
	return true
}

// countDown reports whether a counter has just reached zero.
func countDown(n *int) bool {
	if *n == 0 {
		return false
	}
	*n--
	return *n == 0
}
