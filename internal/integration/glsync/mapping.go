package glsync

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// MappingStatus says whether entries with a ledger account can be sent.
type MappingStatus string

// The states of mappings.
const (
	Mapped   MappingStatus = "mapped"
	Unmapped MappingStatus = "unmapped"
	Unusable MappingStatus = "unusable" // the general ledger does not accept the account that it is mapped to
)

// MappingStatuses lists the states.
var MappingStatuses = []MappingStatus{Mapped, Unmapped, Unusable}

// accountMapping and tagsMapping are how mappings are called in the audit log and in events.
const (
	accountMapping = "gl_mapping"
	tagsMapping    = "gl_tag_mapping"
)

// eventsOf returns the types of events about records of a type.
func eventsOf(resourceType string) []string {
	return []string{resourceType + ".created", resourceType + ".updated", resourceType + ".deleted"}
}

// MappingEvents returns the types of events about mappings.
func MappingEvents() []string { return eventsOf(accountMapping) }

// Mapping is a ledger account with the account of a general ledger that stands for it.
type Mapping struct {
	ID           string // empty if there is none
	ConnectionID string
	Ledger       account.Account
	Account      Account // without an id if there is none
	Suggestions  []Suggestion
	UpdatedAt    *time.Time
}

// Status returns whether entries with the account can be sent.
func (m Mapping) Status() MappingStatus {
	return statusOf(m.Account.ID, m.Account.Unusable())
}

// Warnings returns what speaks against the mapping. Entries are sent all the same.
func (m Mapping) Warnings() (out []string) {
	if m.Account.ID != "" && m.Account.Type != "" && m.Account.Type != string(m.Ledger.Type) {
		out = append(out, fmt.Sprintf("%s is of the type %s, but %s is of the type %s in the general ledger", m.Ledger.String(), m.Ledger.Type,
			m.Account.Label(), m.Account.Type))
	}
	return out
}

// statusOf returns the state of a mapping to something in a general ledger.
func statusOf(id, unusable string) MappingStatus {
	switch {
	case id == "":
		return Unmapped
	case unusable != "":
		return Unusable
	}
	return Mapped
}

// stored is a mapping as it is stored.
type stored struct {
	ID, ConnectionID, LedgerAccountID, AccountID string
	CreatedAt                                    time.Time
	UpdatedAt                                    *time.Time
}

func (m stored) facts() map[string]any {
	return map[string]any{"id": m.ID, "connection_id": m.ConnectionID, "ledger_account_id": m.LedgerAccountID, "gl_account_id": m.AccountID}
}

// record writes an audit record of a change to a mapping; the facts of one of the two are nil if it did not or does not exist.
func record(ctx context.Context, tx *db.Tx, resourceType, id string, before, after map[string]any) {
	c := audit.Change{Action: resourceType + ".updated", ResourceType: resourceType, ResourceID: id}
	if before != nil {
		c.Before = before
	} else {
		c.Action = resourceType + ".created"
	}
	if after != nil {
		c.After = after
	} else {
		c.Action = resourceType + ".deleted"
	}
	audit.Record(ctx, tx, c)
}

// MappingFilter narrows a list of mappings; empty fields match everything.
type MappingFilter struct {
	ConnectionID string
	Status       MappingStatus
}

// table is everything about the mappings of a general ledger.
type table struct {
	connectionID string
	ledger       []account.Account // by id
	accounts     map[string]Account
	mapped       map[string]stored // by ledger account
	finder       finder
}

// loadTable reads the mappings of a general ledger.
func loadTable(ctx context.Context, tx *db.Tx, connectionID string) (t table, err error) {
	t = table{connectionID: connectionID, accounts: map[string]Account{}, mapped: map[string]stored{}}
	all, err := account.All(ctx, tx)
	if err != nil {
		return t, err
	}
	t.ledger = slices.SortedFunc(slices.Values(all), func(x, y account.Account) int { return strings.Compare(x.ID, y.ID) })
	there, err := selectAccounts(ctx, tx, connectionID)
	if err != nil {
		return t, err
	}
	for _, a := range there {
		t.accounts[a.ID] = a
	}
	t.finder = newFinder(there)
	mappings, err := selectMappings(ctx, tx, connectionID)
	for _, m := range mappings {
		t.mapped[m.LedgerAccountID] = m
	}
	return t, err
}

// of returns the mapping of a ledger account.
func (t table) of(a account.Account) Mapping {
	out := Mapping{ConnectionID: t.connectionID, Ledger: a}
	if m, ok := t.mapped[a.ID]; ok {
		out.ID, out.Account, out.UpdatedAt = m.ID, t.accounts[m.AccountID], m.UpdatedAt
		if m.UpdatedAt == nil {
			out.UpdatedAt = &m.CreatedAt
		}
	}
	if out.Status() != Mapped {
		out.Suggestions = t.finder.suggest(a)
	}
	return out
}

// listed reports whether an account is shown: one that entries can have, or that is mapped.
func (t table) listed(a account.Account) bool {
	_, is := t.mapped[a.ID]
	return is || a.Postable && a.ArchivedAt == nil
}

// Mappings lists ledger accounts with what stands for them in a general ledger, in the order in which they were created.
func (s *Service) Mappings(ctx context.Context, f MappingFilter, p page.Request) (page.Page[Mapping], error) {
	return page.ListByKey("gl-mappings", f, p, "", func(m Mapping) string { return m.Ledger.ID },
		func(above string, limit int) (rows []Mapping, err error) {
			err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				c, err := s.only(ctx, tx, f.ConnectionID)
				if err != nil {
					return err
				}
				t, err := loadTable(ctx, tx, c.ID)
				if err != nil {
					return err
				}
				rows = nil
				for _, a := range t.ledger {
					if a.ID <= above || !t.listed(a) || len(rows) == limit {
						continue
					}
					if m := t.of(a); f.Status == "" || m.Status() == f.Status {
						rows = append(rows, m)
					}
				}
				return nil
			})
			return rows, err
		})
}

// Map maps a ledger account to an account of a general ledger, or to none if its id is empty. The connection may be omitted if there is one
// only.
func (s *Service) Map(ctx context.Context, ledgerAccountID, connectionID, accountID string) (out Mapping, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		a, err := account.Get(ctx, tx, ledgerAccountID)
		if err != nil {
			return err
		}
		var faults fault.List
		c, among, err := s.toUse(ctx, tx, connectionID, &faults)
		if err != nil {
			return err
		}
		if accountID != "" {
			found, err := selectSomeAccounts(ctx, tx, []string{accountID})
			if err != nil {
				return err
			}
			if len(found) == 0 || !slices.Contains(among, found[0].ConnectionID) {
				faults.AddMissing("general ledger account", "gl_account_id")
			} else if why := found[0].Unusable(); why != "" {
				faults.AddConflictf("gl_account_id", "%s cannot be used: %s", found[0].Label(), why)
			}
		}
		if err := faults.Err(); err != nil {
			return err
		}
		t, err := loadTable(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if err := t.set(ctx, tx, a.ID, accountID); err != nil {
			return err
		}
		out = t.of(a)
		return nil
	})
	return out, err
}

// set stores a mapping, or deletes it if the account is empty. It writes nothing if nothing changes.
func (t table) set(ctx context.Context, tx *db.Tx, ledgerAccountID, accountID string) error {
	before, was := t.mapped[ledgerAccountID]
	switch {
	case was && before.AccountID == accountID, !was && accountID == "":
		return nil
	case accountID == "":
		delete(t.mapped, ledgerAccountID)
		record(ctx, tx, accountMapping, before.ID, before.facts(), nil)
		return deleteMapping(ctx, tx, before.ID)
	case was:
		now, after := tx.Now(), before
		after.AccountID, after.UpdatedAt = accountID, &now
		t.mapped[ledgerAccountID] = after
		record(ctx, tx, accountMapping, after.ID, before.facts(), after.facts())
		return updateMapping(ctx, tx, after)
	}
	made := stored{ID: tx.NewID(id.GLMapping), ConnectionID: t.connectionID, LedgerAccountID: ledgerAccountID, AccountID: accountID,
		CreatedAt: tx.Now()}
	t.mapped[ledgerAccountID] = made
	record(ctx, tx, accountMapping, made.ID, nil, made.facts())
	return insertMapping(ctx, tx, made)
}

// Accept maps every ledger account that is not mapped and has a certain suggestion, and returns these mappings. A dry run writes nothing.
// If expected is not nil, there must be as many.
func (s *Service) Accept(ctx context.Context, connectionID string, dry bool, expected *int64) (out []Mapping, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out = []Mapping{}
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		var faults fault.List
		c, err := s.only(ctx, tx, connectionID)
		if err == nil {
			c, err = s.connections.FindLedgerToUse(ctx, tx, c.ID)
		}
		if err := faults.MergeMissing(err, "connection_id"); err != nil {
			return faults.With(err)
		}
		if err := faults.Err(); err != nil {
			return err
		}
		t, err := loadTable(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		for _, a := range t.ledger {
			if !t.listed(a) {
				continue
			}
			m := t.of(a)
			if m.Status() != Mapped && len(m.Suggestions) > 0 && m.Suggestions[0].Certain {
				m.Account = m.Suggestions[0].Account
				out = append(out, m)
			}
		}
		if n := int64(len(out)); expected != nil && *expected != n {
			return fault.ConflictAt([]fault.Field{{Name: "expected_count", Message: fmt.Sprintf("there are %d certain suggestions now", n)}},
				"%d accounts would be mapped, not %d: review them and send the new expected_count", n, *expected)
		}
		if dry {
			return nil
		}
		for n, m := range out {
			if err := t.set(ctx, tx, m.Ledger.ID, m.Account.ID); err != nil {
				return err
			}
			out[n] = t.of(m.Ledger)
		}
		return nil
	})
	return out, err
}
