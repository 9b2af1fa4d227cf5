package connection

import "sync"

// locks are exclusive rights by name.
type locks struct {
	mu   sync.Mutex
	held map[string]*named
}

// named is a right that somebody has or waits for.
type named struct {
	sync.Mutex
	waiting int
	refused *refusal // what one of those who had the right leaves to those who waited meanwhile
}

// refusal is why a provider has refused to renew credentials.
type refusal struct {
	stale Credentials
	err   error
}

// lock waits for the right with a name, and returns it with the function that gives it back.
func (l *locks) lock(name string) (one *named, unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*named{}
	}
	if l.held[name] == nil {
		l.held[name] = &named{}
	}
	one = l.held[name]
	one.waiting++
	l.mu.Unlock()
	one.Lock()
	return one, func() {
		one.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(l.held, name)
		}
	}
}
