package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// Service holds the use cases.
type Service struct {
	db        *db.DB
	subledger Subledger
	protected map[string]Explain // by origin
}

// NewService returns a Service without a subledger.
func NewService(d *db.DB) *Service { return &Service{d, noSubledger{}, map[string]Explain{}} }

// Guided is an entry with its guidance.
type Guided struct {
	Entry
	Guidance Guidance
}

// AddSynced adds what general ledgers have of the entry.
func (g *Guided) AddSynced(s *Synced) {
	if g.Synced = s; s == nil || g.Partial {
		return
	}
	if s.Drift != "" && g.Status == Posted {
		g.Guidance.Warnings = append(g.Guidance.Warnings, s.Drift)
	}
	if s.Present && g.Status == Draft {
		g.Guidance.Warnings = append(g.Guidance.Warnings, "the entry is in the general ledger: the next sync run removes it there, "+
			"unless it is posted again as it was")
	}
}

// withGuidance adds what is not stored to an entry: guidance, base currencies and, for a draft, the period of its date, which may
// have been created after the draft.
func withGuidance(e Entry, b *snapshot.Books) Guided {
	e = e.complete(b)
	return Guided{e, e.Guide(b)}
}

// complete adds base currencies and, for a draft, the period of its date.
func (e Entry) complete(b *snapshot.Books) Entry {
	if e.Status == Draft {
		e.PeriodID = periodOf(b, e.AccountingDate)
	}
	for i := range e.Lines {
		e.Lines[i].BaseCurrency = b.Entities[e.Lines[i].LegalEntityID].BaseCurrency
	}
	return e
}

// Shown adds what is not stored to an entry, except the guidance, for views that have none.
func Shown(e Entry, b *snapshot.Books) Guided { return Guided{Entry: e.complete(b)} }

// ForbidUndoing removes reversing and unposting from the guidance of entries where the subledger would refuse it: because of what legal
// entities owe each other, or of what happened to their lots since. It runs in the caller's transaction.
func (s *Service) ForbidUndoing(ctx context.Context, tx *db.Tx, b *snapshot.Books, all []Guided) error {
	owed := func(l Line) bool { return account.IsIntercompany(b.Accounts[l.LedgerAccountID].Role) }
	var asked []Undo
	for _, g := range all {
		if !slices.Contains(g.Guidance.Allowed, "reverse") || g.TransactionID == "" && !slices.ContainsFunc(g.Lines, owed) {
			continue
		}
		u := Undo{Entry: g.Entry, At: g.AccountingDate}
		if calendar.MonthOf(u.At, b.Zone).Key() <= b.ClosedThrough(g.entities()...) {
			u.At = tx.Now() // where the reversal of an entry in a closed period is posted
		}
		asked = append(asked, u)
	}
	if len(asked) == 0 {
		return nil
	}
	refused, err := s.subledger.UndoRefusals(ctx, tx, b, asked)
	for i := range all {
		why := refused[all[i].ID]
		if why.Undo != "" {
			all[i].Guidance.forbid(why.Undo, "reverse", "unpost")
		}
		if why.Unpost != "" {
			all[i].Guidance.forbid(why.Unpost, "unpost")
		}
	}
	return err
}

// guide adds what is not stored to entries, as withGuidance does. Drafts that the subledger would refuse cannot be posted.
func (s *Service) guide(ctx context.Context, tx *db.Tx, b *snapshot.Books, entries []Entry) ([]Guided, error) {
	out := make([]Guided, len(entries))
	var drafts []string
	for i, e := range entries {
		if out[i] = withGuidance(e, b); e.Status == Draft && e.followsFromTransaction() && !e.Partial {
			drafts = append(drafts, e.ID)
		}
	}
	if err := s.ForbidUndoing(ctx, tx, b, out); err != nil {
		return nil, err
	}
	if err := blankNeighbors(ctx, tx, out); err != nil || len(drafts) == 0 {
		return out, err
	}
	refused, err := s.subledger.PostRefusals(ctx, tx, drafts)
	for i := range out {
		if why := refused[out[i].ID]; why != "" {
			out[i].Guidance.ForbidPosting(why)
		}
	}
	return out, err
}

// Create creates an entry, as a draft or posted.
func (s *Service) Create(ctx context.Context, p CreateParams) (Guided, error) {
	made, err := s.create(ctx, []CreateParams{p}, func(int) string { return "" })
	if err != nil {
		return Guided{}, err
	}
	return made[0], nil
}

// CreateBatch creates several entries, all or none.
func (s *Service) CreateBatch(ctx context.Context, ps []CreateParams) ([]Guided, error) {
	if n := len(ps); n < 1 || n > batchMax {
		return nil, fault.Invalidf("journal_entries", "must have 1 to %d entries", batchMax)
	}
	return s.create(ctx, ps, func(i int) string { return fmt.Sprintf("journal_entries[%d].", i) })
}

func (s *Service) create(ctx context.Context, ps []CreateParams, at func(int) string) (out []Guided, err error) {
	err = s.db.GroupWrite(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		out = nil
		entries, b, err := s.composeInPeriods(ctx, tx, ps, at)
		if err != nil {
			return err
		}
		state, err := orgstate.Lock(ctx, tx)
		if err != nil {
			return err
		}
		for i := range entries {
			entries[i].assignIdentity(tx, state.EntryNumber+1)
			addEntry(ctx, tx, state, entries[i], nil)
			out = append(out, withGuidance(entries[i], b))
		}
		return nil
	})
	return out, err
}

// CreateInTx creates entries in the caller's database transaction, all or none and in the order given. An entry that
// follows another one in a chain must come after it.
func (s *Service) CreateInTx(ctx context.Context, tx *db.Tx, ps []CreateParams, at func(int) string) ([]Entry, error) {
	entries, _, err := s.composeInPeriods(ctx, tx, ps, at)
	if err != nil {
		return nil, err
	}
	state, err := orgstate.Lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	made := map[string]Entry{}
	for i := range entries {
		entries[i].assignIdentity(tx, state.EntryNumber+1)
		previous, err := linkPrevious(ctx, tx, entries[i], made)
		if err != nil {
			return nil, err
		}
		addEntry(ctx, tx, state, entries[i], previous)
		made[entries[i].ID] = entries[i]
	}
	return entries, nil
}

// CreateGuidedInTx is CreateInTx and returns the entries with their guidance.
func (s *Service) CreateGuidedInTx(ctx context.Context, tx *db.Tx, ps []CreateParams, at func(int) string) ([]Guided, error) {
	entries, err := s.CreateInTx(ctx, tx, ps, at)
	if err != nil {
		return nil, err
	}
	b, err := snapshot.Lock(ctx, tx)
	out := make([]Guided, len(entries))
	for i, e := range entries {
		out[i] = withGuidance(e, b)
	}
	return out, err
}

// Validate returns the faults for which CreateInTx would refuse entries, and writes nothing. It runs in the caller's transaction.
func (s *Service) Validate(ctx context.Context, tx *db.Tx, ps []CreateParams, at func(int) string) error {
	_, _, _, err := s.compose(ctx, tx, ps, at)
	return err
}

// linkPrevious returns the entry before e in its chain, linked to e, or nil if there is none. If e is a reversal it writes
// an audit record for the previous entry. Entries that were created in the same call are in made.
func linkPrevious(ctx context.Context, tx *db.Tx, e Entry, made map[string]Entry) (*Entry, error) {
	if e.PreviousID == "" {
		return nil, nil
	}
	before, there := made[e.PreviousID]
	if !there {
		var err error
		if before, err = FindToChange(ctx, tx, e.PreviousID); err != nil {
			return nil, err
		}
	}
	after := before
	after.NextID, after.UpdatedAt = e.ID, tx.Now()
	recordLink(ctx, tx, e, before, after)
	return &after, nil
}

// composeInPeriods turns requests into entries as compose does, and creates the periods they need, all at once.
func (s *Service) composeInPeriods(ctx context.Context, tx *db.Tx, ps []CreateParams, at func(int) string) ([]Entry,
	*snapshot.Books, error) {
	entries, b, wanting, err := s.compose(ctx, tx, ps, at)
	if err != nil || len(wanting) == 0 {
		return entries, b, err
	}
	if err := requirePeriods(ctx, tx, wanting); err != nil {
		return nil, nil, err
	}
	if b, err = snapshot.Lock(ctx, tx); err != nil {
		return nil, nil, err
	}
	for i := range entries {
		entries[i].PeriodID = periodOf(b, entries[i].AccountingDate)
	}
	return entries, b, nil
}

// compose turns requests into entries, drafts or posted, and returns every fault of all of them, and the months of entries to be posted
// that have no period yet.
func (s *Service) compose(ctx context.Context, tx *db.Tx, ps []CreateParams, at func(int) string) ([]Entry, *snapshot.Books,
	[]calendar.Month, error) {
	b, err := snapshot.Lock(ctx, tx)
	if err != nil {
		return nil, nil, nil, err
	}
	all := &validation{}
	entries := make([]Entry, len(ps))
	var wanting []calendar.Month
	for i, p := range ps {
		c := &composer{b, actor.From(ctx), tx.Now(), &validation{at: at(i)}}
		entries[i] = c.compose(p)
		if p.Status == Posted && c.ok() {
			months, err := c.post(ctx, tx, &entries[i])
			if err != nil {
				return nil, nil, nil, err
			}
			wanting = append(wanting, months...)
		}
		all.add(c.validation)
	}
	if err := resolveTags(ctx, tx, all, entries, at); err != nil {
		return nil, nil, nil, err
	}
	if err := s.requireOwnAccounts(ctx, tx, all, entries, at); err != nil {
		return nil, nil, nil, err
	}
	return entries, b, wanting, all.err()
}

// assignIdentity gives a composed entry its number, ids and times.
func (e *Entry) assignIdentity(tx *db.Tx, number int64) {
	if e.ID == "" {
		e.ID = tx.NewID(id.JournalEntry)
	}
	e.Number, e.CreatedAt, e.UpdatedAt = number, tx.Now(), tx.Now()
	for i := range e.Lines {
		e.Lines[i].ID = tx.NewID(id.JournalLine)
	}
}

// addEntry adds an entry that has the next number to the journal and links the previous entry of its chain, if any.
func addEntry(ctx context.Context, tx *db.Tx, state *orgstate.State, e Entry, previous *Entry) {
	state.EntryNumber = e.Number
	pendingOf(tx).add(tx, e, previous)
	action := "journal_entry.created"
	if e.Status == Posted {
		action = "journal_entry.posted"
	}
	audit.Record(ctx, tx, audit.Change{Action: action, ResourceType: "journal_entry", ResourceID: e.ID, After: e.facts(), State: e.state(),
		Dependents: e.hasDependents(), Object: e})
}

// requireOwnAccounts reports lines of entries by hand on accounts that belong to sources of legal entities outside the actor's key, as if
// the accounts did not exist.
func (s *Service) requireOwnAccounts(ctx context.Context, tx *db.Tx, all *validation, entries []Entry, at func(int) string) error {
	if !actor.From(ctx).Limited() {
		return nil
	}
	var asked []string
	for _, e := range entries {
		for _, l := range e.Lines {
			asked = append(asked, l.LedgerAccountID)
		}
	}
	foreign, err := s.subledger.ForeignAccounts(ctx, tx, asked)
	for i, e := range entries {
		r := &validation{at: at(i)}
		for n, l := range e.Lines {
			if foreign[l.LedgerAccountID] && !e.followsFromTransaction() {
				r.notFound("ledger account", fmt.Sprintf("lines[%d].ledger_account_id", n))
			}
		}
		all.add(r)
	}
	return err
}

// resolveTags looks up the tags of all entries in one query and reports those that do not exist.
func resolveTags(ctx context.Context, tx *db.Tx, all *validation, entries []Entry, at func(int) string) error {
	var asked []string
	for _, e := range entries {
		asked = append(asked, e.tags()...)
	}
	if len(asked) == 0 {
		return nil
	}
	known, err := tag.ExistingIDs(ctx, tx, asked)
	if err != nil {
		return err
	}
	for i, e := range entries {
		r := &validation{at: at(i)}
		reportUnknownTags(r, "", e.TagIDs, known)
		for n, l := range e.Lines {
			reportUnknownTags(r, fmt.Sprintf("lines[%d].", n), l.TagIDs, known)
		}
		all.add(r)
	}
	return nil
}

func reportUnknownTags(r *validation, at string, ids, known []string) {
	for i, tagID := range ids {
		if !slices.Contains(known, tagID) {
			r.notFound("tag", fmt.Sprintf("%stag_ids[%d]", at, i))
		}
	}
}

// FindGuided returns an entry as Find does, with its guidance, and the books that the guidance follows from. It
// runs in the caller's transaction.
func FindGuided(ctx context.Context, tx *db.Tx, entryID string) (Guided, *snapshot.Books, error) {
	e, err := Find(ctx, tx, entryID)
	if err != nil {
		return Guided{}, nil, err
	}
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return Guided{}, nil, err
	}
	out := []Guided{withGuidance(e, b)}
	err = blankNeighbors(ctx, tx, out)
	return out[0], b, err
}

// Find returns an entry with its lines. Of an entry that also concerns legal entities outside the actor's key it returns the part that
// the actor may see; if that is nothing, the error is the same as for an entry that does not exist. It runs in the caller's transaction.
func Find(ctx context.Context, tx *db.Tx, entryID string) (Entry, error) {
	e, err := selectEntry(ctx, tx, entryID)
	if err != nil {
		return e, err
	}
	e, visible := e.shownTo(actor.From(ctx))
	if !visible {
		return Entry{}, fault.Missing(noun)
	}
	return e, nil
}

// FindToChange is Find for an entry that is about to be changed, with all its lines. The error is of kind Forbidden if the actor may see
// only a part of the entry, because a change would affect the books of other legal entities. It runs in the caller's transaction.
func FindToChange(ctx context.Context, tx *db.Tx, entryID string) (Entry, error) {
	e, err := Find(ctx, tx, entryID)
	if err == nil && e.Partial {
		return Entry{}, fault.Forbiddenf("the entry %s %s", e.SequenceNumber(), actor.NeedsUnlimited)
	}
	return e, err
}

const noun = "journal entry"

// Each calls do for every entry, drafts included, in the order of their numbers, with the number of the last one. It runs
// in the caller's transaction.
func Each(ctx context.Context, tx *db.Tx, do func(e Entry, last int64) error) error {
	state, err := orgstate.Read(ctx, tx)
	if err != nil {
		return err
	}
	for next := int64(1); ; {
		rows, err := selectFromNumber(ctx, tx, next, verifyChunk)
		if err != nil {
			return err
		}
		for _, r := range rows {
			next = r.Entry.Number + 1
			if r.Entry.Status == deleted {
				continue
			}
			if err := do(r.Entry, state.EntryNumber); err != nil {
				return err
			}
		}
		if len(rows) < verifyChunk {
			return nil
		}
	}
}

// Link is the part of an entry that decides which entry may follow it in a chain.
type Link struct {
	ID           string
	Number       int64
	Status       Status
	OriginatedBy string
	NextID       string
}

// AcceptsNext reports whether an entry of some origin may come next in the chain: after an original its reversal, after
// that its replacement.
func (l Link) AcceptsNext(originatedBy string) bool {
	return l.Status == Posted && l.NextID == "" && (originatedBy == ByReversal) != (l.OriginatedBy == ByReversal)
}

// FindLinks returns the given entries that exist, deleted ones included, by id. It runs in the caller's transaction.
func FindLinks(ctx context.Context, tx *db.Tx, ids []string) (map[string]Link, error) {
	links, err := selectLinks(ctx, tx, ids)
	out := make(map[string]Link, len(links))
	for _, l := range links {
		out[l.ID] = l
	}
	return out, err
}
