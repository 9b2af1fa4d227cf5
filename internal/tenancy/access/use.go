package access

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bursarhq/bursar/internal/base/lifecycle"
	"github.com/bursarhq/bursar/internal/db"
)

// Use is when a credential was used last, and from where.
type Use struct {
	At   time.Time
	From string // address of the client; empty if unknown
}

const (
	// usedEvery is how exactly it is known when a credential was used last, and flushEvery how often that is stored.
	usedEvery  = time.Minute
	flushEvery = 5 * time.Second

	// usesMax bounds how many credentials a node remembers; usesBatch how many are stored at a time.
	usesMax   = 10_000
	usesBatch = 500

	addressMax = 64 // longer than any IP address
)

// uses has the uses of credentials that this node has noted and not stored yet.
type uses struct {
	mu      sync.Mutex
	noted   map[string]time.Time // when the use of a credential was noted last
	waiting map[string]useRow
}

// NoteUse notes that a key or an app was used. It takes no longer than looking into a map: what it notes is stored by FlushUses, at most
// once a minute for each credential.
func (s *Service) NoteUse(credentialID, organizationID, address string) {
	now := s.db.Clock().Now().Truncate(time.Millisecond) // as all times are stored
	s.uses.mu.Lock()
	defer s.uses.mu.Unlock()
	if last, ok := s.uses.noted[credentialID]; ok && now.Sub(last) < usedEvery && !now.Before(last) {
		return
	}
	if s.uses.noted == nil || len(s.uses.noted) >= usesMax {
		s.uses.noted = map[string]time.Time{}
	}
	if s.uses.waiting == nil {
		s.uses.waiting = map[string]useRow{}
	}
	if len(s.uses.waiting) >= usesMax { // the database has not answered for long
		return
	}
	if len(address) > addressMax {
		address = strings.ToValidUTF8(address[:addressMax], "")
	}
	s.uses.noted[credentialID] = now
	s.uses.waiting[credentialID] = useRow{OrganizationID: organizationID, CredentialID: credentialID, UsedAt: now, Address: address}
}

// FlushUses stores what NoteUse has noted. What could not be stored is kept for the next time.
func (s *Service) FlushUses(ctx context.Context) error {
	rows := s.uses.take()
	for part := range slices.Chunk(rows, usesBatch) {
		err := s.db.WriteAcross(ctx, "keys of all organizations were used", func(ctx context.Context, tx *db.Tx) error {
			return upsertUses(ctx, tx, part)
		})
		if err != nil {
			s.uses.giveBack(rows)
			return err
		}
	}
	return nil
}

// take returns what waits to be stored, in an order that is the same on all nodes, so that they do not wait for each other in turn.
func (u *uses) take() []useRow {
	u.mu.Lock()
	defer u.mu.Unlock()
	rows := make([]useRow, 0, len(u.waiting))
	for _, row := range u.waiting {
		rows = append(rows, row)
	}
	u.waiting = nil
	slices.SortFunc(rows, func(a, b useRow) int {
		return strings.Compare(a.OrganizationID+a.CredentialID, b.OrganizationID+b.CredentialID)
	})
	return rows
}

// giveBack keeps what was not stored, unless there is something newer.
func (u *uses) giveBack(rows []useRow) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting == nil {
		u.waiting = map[string]useRow{}
	}
	for _, row := range rows {
		if _, newer := u.waiting[row.CredentialID]; !newer {
			u.waiting[row.CredentialID] = row
		}
	}
}

// NewUseRecorder returns the loop that stores uses every few seconds, and when it stops.
func (s *Service) NewUseRecorder(log *slog.Logger) *lifecycle.Loop {
	return lifecycle.New(func(ctx context.Context, started func()) {
		started()
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushEvery)
				defer cancel()
				s.flushOrWarn(last, log)
				return
			case <-tick.C:
				s.flushOrWarn(ctx, log)
			}
		}
	})
}

func (s *Service) flushOrWarn(ctx context.Context, log *slog.Logger) {
	if err := s.FlushUses(ctx); err != nil && ctx.Err() == nil {
		log.Warn("when credentials were used last could not be stored; it is attempted again", "error", err)
	}
}

// LastUses returns when credentials were used last, by their ids. Those that were never used are missing. It is a building block.
func LastUses(ctx context.Context, tx *db.Tx, credentialIDs []string) (map[string]Use, error) {
	if len(credentialIDs) == 0 {
		return nil, nil
	}
	rows, err := selectUses(ctx, tx, credentialIDs)
	out := make(map[string]Use, len(rows))
	for _, r := range rows {
		out[r.CredentialID] = Use{r.UsedAt, r.Address}
	}
	return out, err
}
