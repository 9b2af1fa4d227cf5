package connection

import "sync"

// locks are exclusive rights by name.
type locks struct {
	mu   sync.Mutex
	held map[string]*named
}

type named struct {
	sync.Mutex
	waiting int
}

// lock waits for the right with a name, and returns the function that gives it back.
func (l *locks) lock(name string) (unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*named{}
	}
	if l.held[name] == nil {
		l.held[name] = &named{}
	}
	one := l.held[name]
	one.waiting++
	l.mu.Unlock()
	one.Lock()
	return func() {
		one.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(l.held, name)
		}
	}
}
