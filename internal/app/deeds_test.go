package app_test

import (
	"context"
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

// create makes one entry, or several at once, or says what would be made.
func (l *life) create(count int, dry bool) {
	var params []journal.CreateParams
	var made []*modelEntry
	out := verdict{kind: fine}
	for range count {
		e := l.someEntry()
		p := journal.CreateParams{
			LegalEntityID: l.entities[e.entity], AccountingDate: e.date.Format(time.RFC3339Nano), TagIDs: l.tagIDs(
				e.tags), Status: journal.Draft, OriginatedBy: journal.ByHand, Lines: l.lineParams(e.lines),
		}
		v := l.model.compose(e)
		if rapid.IntRange(0, 2).Draw(l.T, "posted") > 0 {
			p.Status = journal.Posted
			if v.kind == fine {
				v = l.model.post(e)
			}
		}
		out = worse(out, v)
		params, made = append(params, p), append(made, e)
	}
	var got []journal.Guided
	var err error
	if count == 1 && !dry {
		var one journal.Guided
		one, err = l.app.Journal.Create(l.ctx, params[0])
		got = []journal.Guided{one}
	} else {
		got, err = l.app.Journal.CreateBatch(l.ctx, params, dry)
	}
	if !l.same("create", err, out.kind) || dry {
		return
	}
	for i, e := range made {
		e.id = got[i].ID
		l.model.enter(e)
	}
}

// foretold compares what became of a deed with what the entry's guidance had said of it.
func (l *life) foretold(id, deed string, out verdict) {
	g, err := l.app.Journal.Get(l.ctx, id)
	if err != nil {
		l.Fatal(err)
	}
	if allowed := slices.Contains(g.Guidance.Allowed, deed); allowed != (out.kind == fine || out.wanting) {
		l.Fatalf("guidance of %s allows %v and warns of %v, but to %s comes to %v", g.SequenceNumber(), g.Guidance.Allowed,
			g.Guidance.Warnings, deed, out.kind)
	}
}

func isDraft(e *modelEntry) bool  { return e.status == "draft" }
func isPosted(e *modelEntry) bool { return e.status == "posted" }

// changes draws new parts of an entry, and gives the entry with them.
func (l *life) changes(e *modelEntry) (*modelEntry, journal.UpdateParams) {
	after, p := *e, journal.UpdateParams{}
	after.intended, after.prev, after.next, after.status = nil, 0, 0, "draft"
	if e.intended != nil {
		after.date = *e.intended
	}
	if rapid.Bool().Draw(l.T, "date") {
		after.date = l.someDate()
		p.AccountingDate = new(after.date.Format(time.RFC3339Nano))
	}
	if rapid.Bool().Draw(l.T, "tags") {
		after.tags = l.someTags()
		p.TagIDs = new(l.tagIDs(after.tags))
	}
	if rapid.Bool().Draw(l.T, "lines") {
		after.lines = l.someLines()
		p.Lines = new(l.lineParams(after.lines))
	}
	return &after, p
}

func (l *life) edit() {
	e, number := l.some(isDraft)
	after, p := l.changes(e)
	want := fault.Conflict
	if e.status == "draft" {
		want = l.model.compose(after).kind
		l.foretold(e.id, "edit", verdict{kind: fine})
	}
	if _, err := l.app.Journal.Update(l.ctx, e.id, p); l.same("edit", err, want) {
		l.model.entries[number-1] = after
	}
}

func (l *life) remove() {
	e, _ := l.some(isDraft)
	want := fault.Conflict
	if e.status == "draft" {
		want = fine
	}
	l.foretold(e.id, "delete", verdict{kind: want})
	if l.same("delete", l.app.Journal.Delete(l.ctx, e.id), want) {
		e.status = "deleted"
		_, err := l.app.Journal.Get(l.ctx, e.id)
		l.same("get what is deleted", err, fault.NotFound)
	}
}

func (l *life) post() {
	e, number := l.some(isDraft)
	after := *e
	out := verdict{kind: fault.Conflict}
	if e.status == "draft" {
		out = l.model.post(&after)
	}
	l.foretold(e.id, "post", out)
	if _, err := l.app.Journal.Post(l.ctx, e.id); l.same("post", err, out.kind) {
		l.model.entries[number-1] = &after
	}
}

func (l *life) unpost() {
	e, _ := l.some(isPosted)
	want := fault.Conflict
	if l.model.unpostable(e) {
		want = fine
	}
	l.foretold(e.id, "unpost", verdict{kind: want})
	if _, err := l.app.Journal.Unpost(l.ctx, e.id); l.same("unpost", err, want) {
		e.unpost()
	}
}

func (l *life) reverse() {
	e, number := l.some(l.model.undoable)
	date, p := e.date, journal.ReverseParams{}
	if rapid.Bool().Draw(l.T, "on a day") {
		date = l.someDate()
		p.AccountingDate = date.Format(time.RFC3339Nano)
	} else if l.model.monthOf(date) <= l.model.throughAll(e) {
		date = l.now.Now()
	}
	reversal, out := e.mirror(date), verdict{kind: fault.Conflict}
	if l.model.undoable(e) {
		out = l.model.post(reversal)
	}
	l.foretold(e.id, "reverse", out)
	if made, err := l.app.Journal.Reverse(l.ctx, e.id, p); l.same("reverse", err, out.kind) {
		reversal.id, reversal.prev = made.ID, number
		l.model.enter(reversal)
		e.next = len(l.model.entries)
	}
}

func (l *life) correct() {
	e, number := l.some(l.model.undoable)
	replacement, p := l.changes(e)
	replacement.origin = "correction"
	reversal, out := e.mirror(e.date), verdict{kind: fault.Conflict}
	if l.model.undoable(e) {
		if out = l.model.compose(replacement); out.kind == fine {
			if out = l.model.post(reversal); out.kind == fine {
				out = l.model.post(replacement)
			}
		} else {
			l.foretold(e.id, "correct", verdict{kind: fine})
		}
	}
	if out.kind == fine || out.wanting {
		l.foretold(e.id, "correct", out)
	}
	made, err := l.app.Journal.Correct(l.ctx, e.id, p)
	if !l.same("correct", err, out.kind) {
		return
	}
	tail, err := l.app.Journal.Get(l.ctx, made.PreviousID)
	if err != nil {
		l.Fatal(err)
	}
	reversal.id, replacement.id = tail.ID, made.ID
	l.model.enter(reversal)
	l.model.enter(replacement)
	n := len(l.model.entries)
	e.next, reversal.prev, reversal.next, replacement.prev = n-1, number, n, n-1
}

// months gives the periods there are, by key.
func (l *life) months() (ids map[string]string, keys []string) {
	ids = map[string]string{}
	err := l.app.DB.Read(l.ctx, l.org, func(ctx context.Context, tx *db.Tx) error {
		all, err := period.All(ctx, tx)
		for _, p := range all {
			ids[p.Key], keys = p.ID, append(keys, p.Key)
		}
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
	if len(keys) == 0 {
		l.Skip("no months")
	}
	return ids, keys
}

// someEntities are one legal entity or all of them, as a request says it.
func (l *life) someEntities() (id string, which []int) {
	if i := rapid.IntRange(-2, 1).Draw(l.T, "entity"); i >= 0 {
		return l.entities[i], []int{i}
	}
	return "", []int{0, 1}
}

func (l *life) close() {
	ids, keys := l.months()
	entity, which := l.someEntities()
	month := rapid.SampledFrom(keys).Draw(l.T, "month")
	if i := slices.IndexFunc(keys, func(k string) bool {
		return k > l.model.through(which[0])
	}); i >= 0 && rapid.IntRange(0, 4).Draw(l.T, "in turn") > 0 {
		month = keys[i]
	}
	_, err := period.NewService(l.app.DB).WithTransit(holdings.InTransit).Close(l.ctx, ids[month], entity) // The model measures nothing.
	l.same("close "+month, err, l.model.close(month, which, keys))
}

func (l *life) reopen() {
	ids, keys := l.months()
	entity, which := l.someEntities()
	month := rapid.SampledFrom(keys).Draw(l.T, "month")
	if through := l.model.through(which[0]); through != "" && rapid.IntRange(0, 4).Draw(l.T, "in turn") > 0 {
		month = through
	}
	_, err := l.app.Periods.Reopen(l.ctx, ids[month], period.ReopenParams{LegalEntityID: entity, Reason: "test"})
	l.same("reopen "+month, err, l.model.reopen(month, which))
}

func (l *life) zone() {
	name := rapid.SampledFrom([]string{"UTC", "America/New_York", "Asia/Tokyo", "Pacific/Auckland", "America/Asuncion"}).Draw(l.T, "zone")
	zone, err := time.LoadLocation(name)
	if err != nil {
		l.Fatal(err)
	}
	_, err = l.app.Org.Update(l.ctx, organization.UpdateParams{Timezone: &name})
	l.same("move to "+name, err, l.model.move(zone))
}

func (l *life) archive() {
	i := rapid.IntRange(2, len(l.accounts)-1).Draw(l.T, "account")
	want := fault.Conflict
	if l.model.archived[i] || l.model.archivable(i) {
		want = fine
	}
	_, err := l.app.Accounts.Archive(l.ctx, l.accounts[i])
	l.model.archived[i] = l.same("archive", err, want) || l.model.archived[i]
}

func (l *life) unarchive() {
	i := rapid.IntRange(2, len(l.accounts)-1).Draw(l.T, "account")
	_, err := l.app.Accounts.Unarchive(l.ctx, l.accounts[i])
	l.same("unarchive", err, fine)
	l.model.archived[i] = false
}
