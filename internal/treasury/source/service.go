package source

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// TransactionDeleter deletes every transaction of a source when the source is deleted. It is passed in because package
// transaction imports this one.
type TransactionDeleter func(ctx context.Context, tx *db.Tx, sourceID string) error

// Service implements the use cases of sources.
type Service struct {
	db                 *db.DB
	deleteTransactions TransactionDeleter
	aggregators        map[string]Aggregator
}

// NewService returns a Service. The aggregators are those that are configured, by the provider's name.
func NewService(d *db.DB, shelve TransactionDeleter, aggregators map[string]Aggregator) *Service {
	return &Service{d, shelve, aggregators}
}

// ForeignAccounts returns those of some ledger accounts that the actor cannot book to, because they belong to sources of legal entities
// outside its key.
func (s *Service) ForeignAccounts(ctx context.Context, accountIDs []string) (foreign map[string]bool, err error) {
	who := actor.From(ctx)
	if !who.Limited() || len(accountIDs) == 0 {
		return nil, nil
	}
	err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		foreign, err = ForeignAccounts(ctx, tx, accountIDs)
		return err
	})
	return foreign, err
}

// Filter restricts a list; empty fields do not.
type Filter struct {
	Type           Type
	LegalEntityIDs []string
	Chain          string
	Search         string // part of the name or address, in any case

	limited []string // the legal entities that the actor's key is restricted to
}

// List returns sources in the order of their creation.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Guided], error) {
	who := actor.From(ctx)
	f.Chain, f.limited = strings.ToLower(f.Chain), who.LegalEntityIDs
	key := func(g Guided) string { return g.ID }
	return page.ListByKey("sources", f, p, "", key, func(above string, limit int) (rows []Guided, err error) {
		err = s.db.Read(ctx, who.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			for _, legalEntityID := range f.LegalEntityIDs {
				if _, err := entity.Get(ctx, tx, legalEntityID); err != nil {
					return err
				}
			}
			found, err := f.read(ctx, tx, above, limit)
			if err != nil {
				return err
			}
			rows, err = guide(ctx, tx, found...)
			return err
		})
		return rows, err
	})
}

// searchBatch is how many sources are read at a time while searching.
const searchBatch = 100

// read returns up to limit sources that match. The search is done here, because the databases differ in folding the case
// of letters such as é.
func (f Filter) read(ctx context.Context, tx *db.Tx, above string, limit int) (found []Source, err error) {
	if f.Search == "" {
		return selectPage(ctx, tx, f, above, limit)
	}
	for {
		batch, err := selectPage(ctx, tx, f, above, searchBatch)
		if err != nil {
			return nil, err
		}
		for _, s := range batch {
			if above = s.ID; f.matches(s) {
				if found = append(found, s); len(found) == limit {
					return found, nil
				}
			}
		}
		if len(batch) < searchBatch {
			return found, nil
		}
	}
}

func (f Filter) matches(s Source) bool {
	wanted := strings.ToLower(f.Search)
	return strings.Contains(strings.ToLower(s.Name), wanted) || strings.Contains(AddressKey(s.Address), wanted)
}

// Get returns one source, by its id or that of its account.
func (s *Service) Get(ctx context.Context, sourceID string) (g Guided, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		found, err := Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		g, err = guideOne(ctx, tx, found)
		return err
	})
	return g, err
}

// Create creates a manual source, with a ledger account unless one is given.
func (s *Service) Create(ctx context.Context, p CreateParams) (g Guided, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		made, err := create(ctx, tx, p.source())
		if err != nil {
			return err
		}
		g, err = guideOne(ctx, tx, made)
		return err
	})
	return g, err
}

// Check returns a source as Create would store it, without its id and ledger account, or an error with every fault.
func (s *Service) Check(ctx context.Context, p CreateParams) (out Source, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out, err = resolve(ctx, tx, p.source(), Source{})
		return err
	})
	return out, err
}

// create resolves and stores a new source.
func create(ctx context.Context, tx *db.Tx, s Source) (Source, error) {
	if _, err := orgstate.Lock(ctx, tx); err != nil {
		return s, err
	}
	s, err := resolve(ctx, tx, s, Source{})
	if err != nil {
		return s, err
	}
	if s.LedgerAccountID == "" {
		if s.LedgerAccountID, err = createAccount(ctx, tx, s); err != nil {
			return s, err
		}
	}
	s.ID, s.CreatedAt = tx.NewID(id.MoneySource), tx.Now()
	if prefix := s.Type.accountPrefix(); prefix != "" {
		s.AccountID = tx.NewID(prefix)
	}
	if err := insert(ctx, tx, s); err != nil {
		return s, err
	}
	if err := requireHolders(ctx, tx, s.LedgerAccountID); err != nil {
		return s, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "source.created", ResourceType: noun, ResourceID: s.ID, After: s.facts()})
	return s, nil
}

// Update changes a source. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, sourceID string, p UpdateParams) (g Guided, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := Find(ctx, tx, sourceID)
		if err != nil {
			return err
		}
		after, err := resolve(ctx, tx, p.apply(before), before)
		if err != nil {
			return err
		}
		if after != before {
			if after, err = save(ctx, tx, before, after); err != nil {
				return err
			}
		}
		g, err = guideOne(ctx, tx, after)
		return err
	})
	return g, err
}

// save writes a changed source.
func save(ctx context.Context, tx *db.Tx, before, after Source) (Source, error) {
	if err := requireNoTransactions(ctx, tx, before, after); err != nil {
		return after, err
	}
	now := tx.Now()
	after.UpdatedAt = &now
	if err := update(ctx, tx, after); err != nil {
		return after, err
	}
	if before.LedgerAccountID != after.LedgerAccountID {
		if err := requireHolders(ctx, tx, before.LedgerAccountID, after.LedgerAccountID); err != nil {
			return after, err
		}
	}
	if before.LegalEntityID != after.LegalEntityID {
		if err := account.NameAfter(ctx, tx, before.LedgerAccountID, before.LegalEntityID, after.LegalEntityID); err != nil {
			return after, err
		}
	}
	audit.Record(ctx, tx, audit.Change{Action: "source.updated", ResourceType: noun, ResourceID: after.ID, Before: before.facts(),
		After: after.facts()})
	return after, nil
}

// requireNoTransactions returns a conflict for fields that cannot change once the source has transactions or, for its legal
// entity, assets.
func requireNoTransactions(ctx context.Context, tx *db.Tx, before, after Source) error {
	var fields []fault.Field
	for _, f := range []struct{ name, was, is string }{
		{"legal_entity_id", before.LegalEntityID, after.LegalEntityID}, {"chain", before.Chain, after.Chain},
		{"address", before.Address, after.Address}, {"currency", before.Currency, after.Currency},
	} {
		if f.was != f.is {
			fields = append(fields, fault.Field{Name: f.name, Message: "cannot change once the source has transactions"})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	uses, err := reference.Fixing(ctx, tx, table, fields[0].Name, after.ID)
	if err != nil || len(uses) == 0 {
		return err
	}
	if before.LegalEntityID != after.LegalEntityID {
		fields[0].Message = "cannot change once the source has transactions or assets"
		return fault.ConflictAt(fields, "the legal entity of a source cannot change once it has transactions or assets, and %s has %s: create a "+
			"source of the other legal entity, and move the assets there by an INTERCOMPANY TRANSFER", before.Name, uses)
	}
	return fault.ConflictAt(fields,
		"once a source has transactions, only its name and its ledger account can change, and this one has %s: create another source instead",
		uses)
}

// facts returns the fields for the audit log and events.
func (s Source) facts() map[string]any {
	return map[string]any{
		"id": s.ID, "account_id": db.OrNull(s.AccountID), "source_type": s.Type,
		"provider": s.Provider, "name": s.Name, "legal_entity_id": s.LegalEntityID,
		"ledger_account_id": s.LedgerAccountID, "chain": db.OrNull(s.Chain), "address": db.OrNull(s.Address), "currency": db.OrNull(s.Currency),
		"is_manual": s.Manual, "item_id": db.OrNull(s.ItemID), "external_id": db.OrNull(s.ExternalID),
	}
}

// displayName returns the name of a source, or an empty text if the actor may not see it.
func displayName(ctx context.Context, s Source) string {
	if !actor.From(ctx).Sees(s.LegalEntityID) {
		return ""
	}
	return fmt.Sprintf("%s (%s)", s.Name, s.ID)
}
