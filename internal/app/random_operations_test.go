package app_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// createEntries creates entries, or does so in a database transaction that is rolled back, as a dry run does.
func (h *history) createEntries(count int, discard bool) {
	var params []journal.CreateParams
	var made []*modelEntry
	out := verdict{kind: fine}
	for range count {
		e := h.randomEntry()
		p := journal.CreateParams{
			LegalEntityID: h.entities[e.entity], AccountingDate: e.date.Format(time.RFC3339Nano), TagIDs: h.tagIDs(e.tags),
			Status: journal.Draft, OriginatedBy: journal.ByHand, Lines: h.lineParams(e.lines),
		}
		v := h.model.compose(e)
		if rapid.IntRange(0, 2).Draw(h.T, "posted") > 0 {
			p.Status = journal.Posted
			if v.kind == fine {
				v = h.model.post(e)
			}
		}
		out = worse(out, v)
		params, made = append(params, p), append(made, e)
	}
	var got []journal.Guided
	var err error
	switch {
	case discard:
		unused := errors.New("the effect is not wanted")
		err = h.app.DB.Write(h.ctx, h.org, func(ctx context.Context, _ *db.Tx) error {
			if _, err := h.app.Journal.CreateBatch(ctx, params); err != nil {
				return err
			}
			return unused
		})
		if errors.Is(err, unused) {
			err = nil
		}
	case count == 1:
		var one journal.Guided
		one, err = h.app.Journal.Create(h.ctx, params[0])
		got = []journal.Guided{one}
	default:
		got, err = h.app.Journal.CreateBatch(h.ctx, params)
	}
	if !h.expect("create", err, out.kind) || discard {
		return
	}
	for i, e := range made {
		e.id = got[i].ID
		h.model.enter(e)
	}
}

func (h *history) findEntry(id string) (g journal.Guided, err error) {
	err = h.app.DB.Read(h.ctx, h.org, func(ctx context.Context, tx *db.Tx) error {
		g, _, err = journal.FindGuided(ctx, tx, id)
		return err
	})
	return g, err
}

// expectGuidance compares the guidance of an entry about an action with the outcome that the model predicts.
func (h *history) expectGuidance(id, action string, out verdict) {
	g, err := h.findEntry(id)
	if err != nil {
		h.Fatal(err)
	}
	if allowed := slices.Contains(g.Guidance.Allowed, action); allowed != (out.kind == fine || out.wanting) {
		h.Fatalf("the guidance of %s allows %v and warns of %v, but the outcome of %s is %v", g.SequenceNumber(), g.Guidance.Allowed,
			g.Guidance.Warnings, action, out.kind)
	}
}

func isDraft(e *modelEntry) bool  { return e.status == "draft" }
func isPosted(e *modelEntry) bool { return e.status == "posted" }

// randomUpdate returns random changes to an entry, and a copy of the entry to which they were applied.
func (h *history) randomUpdate(e *modelEntry) (*modelEntry, journal.UpdateParams) {
	after, p := *e, journal.UpdateParams{}
	after.intended, after.prev, after.next, after.status = nil, 0, 0, "draft"
	if e.intended != nil {
		after.date = *e.intended
	}
	if rapid.Bool().Draw(h.T, "date") {
		after.date = h.randomDate()
		p.AccountingDate = new(after.date.Format(time.RFC3339Nano))
	}
	if rapid.Bool().Draw(h.T, "tags") {
		after.tags = h.randomTags()
		p.TagIDs = new(h.tagIDs(after.tags))
	}
	if rapid.Bool().Draw(h.T, "lines") {
		after.lines = h.randomLines()
		p.Lines = new(h.lineParams(after.lines))
	}
	return &after, p
}

func (h *history) edit() {
	e, number := h.pickEntry(isDraft)
	after, p := h.randomUpdate(e)
	want := fault.Conflict
	if e.status == "draft" {
		want = h.model.compose(after).kind
		h.expectGuidance(e.id, "edit", verdict{kind: fine})
	}
	if _, err := h.app.Journal.Update(h.ctx, e.id, p); h.expect("edit", err, want) {
		h.model.entries[number-1] = after
	}
}

func (h *history) deleteEntry() {
	e, _ := h.pickEntry(isDraft)
	want := fault.Conflict
	if e.status == "draft" {
		want = fine
	}
	h.expectGuidance(e.id, "delete", verdict{kind: want})
	if h.expect("delete", h.app.Journal.Delete(h.ctx, e.id), want) {
		e.status = "deleted"
		_, err := h.findEntry(e.id)
		h.expect("get what is deleted", err, fault.NotFound)
	}
}

func (h *history) post() {
	e, number := h.pickEntry(isDraft)
	after := *e
	out := verdict{kind: fault.Conflict}
	if e.status == "draft" {
		out = h.model.post(&after)
	}
	h.expectGuidance(e.id, "post", out)
	if _, err := h.app.Journal.Post(h.ctx, e.id); h.expect("post", err, out.kind) {
		h.model.entries[number-1] = &after
	}
}

func (h *history) unpost() {
	e, _ := h.pickEntry(isPosted)
	want := fault.Conflict
	if h.model.unpostable(e) {
		want = fine
	}
	h.expectGuidance(e.id, "unpost", verdict{kind: want})
	if _, err := h.app.Journal.Unpost(h.ctx, e.id); h.expect("unpost", err, want) {
		e.unpost()
	}
}

func (h *history) reverse() {
	e, number := h.pickEntry(h.model.undoable)
	date, p := e.date, journal.ReverseParams{}
	if rapid.Bool().Draw(h.T, "on a day") {
		date = h.randomDate()
		p.AccountingDate = date.Format(time.RFC3339Nano)
	} else if h.model.monthOf(date) <= h.model.throughAll(e) {
		date = h.now.Now()
	}
	reversal, out := e.mirror(date), verdict{kind: fault.Conflict}
	if h.model.undoable(e) {
		out = h.model.post(reversal)
	}
	h.expectGuidance(e.id, "reverse", out)
	if made, err := h.app.Journal.Reverse(h.ctx, e.id, p); h.expect("reverse", err, out.kind) {
		reversal.id, reversal.prev = made.ID, number
		h.model.enter(reversal)
		e.next = len(h.model.entries)
	}
}

func (h *history) correct() {
	e, number := h.pickEntry(h.model.undoable)
	replacement, p := h.randomUpdate(e)
	replacement.origin = "correction"
	reversal, out := e.mirror(e.date), verdict{kind: fault.Conflict}
	if h.model.undoable(e) {
		if out = h.model.compose(replacement); out.kind == fine {
			if out = h.model.post(reversal); out.kind == fine {
				out = h.model.post(replacement)
			}
		} else {
			h.expectGuidance(e.id, "correct", verdict{kind: fine})
		}
	}
	if out.kind == fine || out.wanting {
		h.expectGuidance(e.id, "correct", out)
	}
	made, err := h.app.Journal.Correct(h.ctx, e.id, p)
	if !h.expect("correct", err, out.kind) {
		return
	}
	tail, err := h.findEntry(made.PreviousID)
	if err != nil {
		h.Fatal(err)
	}
	reversal.id, replacement.id = tail.ID, made.ID
	h.model.enter(reversal)
	h.model.enter(replacement)
	n := len(h.model.entries)
	e.next, reversal.prev, reversal.next, replacement.prev = n-1, number, n, n-1
}

// periods returns the ids of the accounting periods by key, and the keys in order.
func (h *history) periods() (ids map[string]string, keys []string) {
	ids = map[string]string{}
	err := h.app.DB.Read(h.ctx, h.org, func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		for _, p := range all {
			ids[p.Key], keys = p.ID, append(keys, p.Key)
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	if len(keys) == 0 {
		h.Skip("no months")
	}
	return ids, keys
}

// randomEntities returns one legal entity or all of them: the id for a request, which is empty for all, and the indexes.
func (h *history) randomEntities() (id string, which []int) {
	if i := rapid.IntRange(-2, 1).Draw(h.T, "entity"); i >= 0 {
		return h.entities[i], []int{i}
	}
	return "", []int{0, 1}
}

func (h *history) close() {
	ids, keys := h.periods()
	entity, which := h.randomEntities()
	month := rapid.SampledFrom(keys).Draw(h.T, "month")
	if i := slices.IndexFunc(keys, func(k string) bool {
		return k > h.model.through(which[0])
	}); i >= 0 && rapid.IntRange(0, 4).Draw(h.T, "in turn") > 0 {
		month = keys[i]
	}
	_, err := period.NewService(h.app.DB).WithTransit(holdings.InTransit).Close(h.ctx, ids[month], entity) // The model measures nothing.
	h.expect("close "+month, err, h.model.close(month, which, keys))
}

func (h *history) reopen() {
	ids, keys := h.periods()
	entity, which := h.randomEntities()
	month := rapid.SampledFrom(keys).Draw(h.T, "month")
	if through := h.model.through(which[0]); through != "" && rapid.IntRange(0, 4).Draw(h.T, "in turn") > 0 {
		month = through
	}
	_, err := h.app.Periods.Reopen(h.ctx, ids[month], period.ReopenParams{LegalEntityID: entity, Reason: "test"})
	h.expect("reopen "+month, err, h.model.reopen(month, which))
}

func (h *history) changeZone() {
	name := rapid.SampledFrom([]string{"UTC", "America/New_York", "Asia/Tokyo", "Pacific/Auckland", "America/Asuncion"}).Draw(h.T, "zone")
	zone, err := time.LoadLocation(name)
	if err != nil {
		h.Fatal(err)
	}
	_, err = h.app.Org.Update(h.ctx, organization.UpdateParams{Timezone: &name})
	h.expect("move to "+name, err, h.model.move(zone))
}

func (h *history) archive() {
	i := rapid.IntRange(2, len(h.accounts)-1).Draw(h.T, "account")
	want := fault.Conflict
	if h.model.archived[i] || h.model.archivable(i) {
		want = fine
	}
	_, err := h.app.Accounts.Archive(h.ctx, h.accounts[i])
	h.model.archived[i] = h.expect("archive", err, want) || h.model.archived[i]
}

func (h *history) unarchive() {
	i := rapid.IntRange(2, len(h.accounts)-1).Draw(h.T, "account")
	_, err := h.app.Accounts.Unarchive(h.ctx, h.accounts[i])
	h.expect("unarchive", err, fine)
	h.model.archived[i] = false
}
