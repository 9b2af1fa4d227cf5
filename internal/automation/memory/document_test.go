package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// client creates an organization that is a client of the firm.
func (h fixture) client(t *testing.T) fixture {
	t.Helper()
	firms := firm.NewService(h.d, organization.NewService(h.d))
	firms.QueueFollow = func(context.Context, *db.Tx, firm.Follow) error { return nil } // it runs at once, too
	f, err := firms.CreateForOwner(t.Context(), h.id, organization.CreateParams{Name: "client", Email: "c@example.com", Currency: "USD",
		Timezone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return fixture{Service: h.Service, ctx: actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID,
		UserID: f.Owner.UserID}), d: h.d, id: f.Organization.ID}
}

// write creates a file, or replaces one at a version.
func (h fixture) write(t *testing.T, path, content, version string) {
	t.Helper()
	p := memory.PutParams{Path: path, Content: content, Rationale: "because"}
	if version != "" {
		p.ExpectedVersion = &version
	}
	if err := h.Put(h.ctx, p); err != nil {
		t.Fatal(err)
	}
}

// all reads every page and returns the documents of each.
func (h fixture) all(t *testing.T, path string) (pages []string) {
	t.Helper()
	for cursor := ""; ; {
		found, err := h.List(h.ctx, path, cursor)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range found.Items {
			name := d.Path + "@" + fmt.Sprint(d.Version)
			if d.Layer == memory.Firm {
				name = "firm:" + name
			}
			if d.Suppressed {
				name = "(" + name + ")"
			}
			names = append(names, name)
		}
		text := strings.Join(names, " ")
		if found.Truncated {
			text += " ..."
		}
		pages = append(pages, text)
		if len(found.NextCursor) > 256 {
			t.Errorf("a cursor of %d characters", len(found.NextCursor))
		}
		if cursor = found.NextCursor; cursor == "" {
			return pages
		}
	}
}

func TestAClientReadsItsFirmsDocumentsBesideItsOwn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		firm := found(t, d)
		firm.write(t, "notes/old.md", "from before it was a firm", "")
		c, other := firm.client(t), firm.client(t)
		for _, path := range []string{"policy/a.md", "knowledge/k.md", "skills/s/SKILL.md", "profile.md", "clients.yaml"} {
			firm.write(t, path, "firm: "+path, "")
		}
		c.write(t, "profile.md", "mine", "")
		c.write(t, "policy/b.md", "mine", "")
		c.write(t, "notes/old.md", "mine", "")
		if got, want := c.all(t, ""), "firm:knowledge/k.md@1 notes/old.md@1 firm:policy/a.md@1 policy/b.md@1 (firm:profile.md@1) "+
			"profile.md@1 firm:skills/s/SKILL.md@1"; strings.Join(got, "|") != want {
			t.Errorf("%q\nwant %q", got, want)
		}
		for path, want := range map[string]string{
			"profile.md": "(firm:profile.md@1) profile.md@1", "policy/": "firm:policy/a.md@1 policy/b.md@1", "clients.yaml": "",
			"notes/": "notes/old.md@1", "policy": "", "policy/a.md": "firm:policy/a.md@1",
			"skills/": "firm:skills/s/SKILL.md@1", "nothing/": "",
		} {
			if got := c.all(t, path); strings.Join(got, "|") != want {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
		}
		if got := strings.Join(other.all(t, "profile.md"), "|"); got != "firm:profile.md@1" {
			t.Errorf("another client sees %q", got)
		}
		if got := strings.Join(firm.all(t, ""),
			"|"); got != "clients.yaml@1 knowledge/k.md@1 notes/old.md@1 policy/a.md@1 profile.md@1 skills/s/SKILL.md@1" {
			t.Errorf("the firm sees %q", got)
		}
		if err := c.Delete(c.ctx, "profile.md", "1", ""); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.all(t, "profile.md"), "|"); got != "firm:profile.md@1" {
			t.Errorf("without its own a client sees %q", got)
		}
		// A client cannot change or delete its firm's documents, nor read their history.
		if err := c.Delete(c.ctx, "policy/a.md", "1", ""); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		if _, err := c.History(c.ctx, memory.HistoryParams{Path: "policy/a.md"}, page.Request{Limit: 10}); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		// A firm can have no other documents.
		for _, path := range []string{"notes/new.md", "Policy/a.md", "clients.yml", "profile.yaml", "x.md"} {
			if err := firm.Put(firm.ctx, memory.PutParams{Path: path, Rationale: "x"}); fault.KindOf(err) != fault.Invalid || blamed(err) != "path" {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}

func TestPagesEndByNumberAndBySizeAndLoseNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		firm := found(t, d)
		c := firm.client(t)
		long := strings.Repeat("é", memory.ContentMax)
		firm.write(t, "policy/000.md", "x", "") // so that the page ends between a file of the firm's and the client's own
		want := []string{"firm:policy/000.md@1"}
		for i := range 60 {
			path := fmt.Sprintf("policy/%s%02d.md", strings.Repeat("ü", 400), i)
			firm.write(t, path, "x", "")
			want = append(want, "firm:"+path+"@1")
			if i%2 == 0 {
				c.write(t, path, "y", "")
				want[len(want)-1] = "(" + want[len(want)-1] + ")"
				want = append(want, path+"@1")
			}
		}
		pages := c.all(t, "")
		if len(pages) != 2 || strings.Join(pages, " ") != strings.Join(want, " ") || len(strings.Fields(pages[0])) != 50 ||
			!strings.HasSuffix(pages[0], "@1)") {
			t.Errorf("%d pages\n%.300q\n%.300q", len(pages), pages, want)
		}
		want = nil
		for i := range 12 {
			path := fmt.Sprintf("knowledge/%02d.md", i)
			if i%2 == 0 {
				firm.write(t, path, long, "")
				want = append(want, "firm:"+path+"@1")
			} else {
				c.write(t, path, long, "")
				want = append(want, path+"@1")
			}
		}
		pages = c.all(t, "knowledge/")
		got := strings.Fields(strings.ReplaceAll(strings.Join(pages, " "), "...", ""))
		if len(pages) != 3 || !strings.HasSuffix(pages[0], "...") || !strings.HasSuffix(pages[1], "...") ||
			strings.HasSuffix(pages[2], "...") || !slices.Equal(got, want) {
			t.Errorf("%q", pages)
		}
		// A cursor is bound to its filter and to its organization.
		first, err := c.List(c.ctx, "knowledge/", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.List(c.ctx, "", first.NextCursor); blamed(err) != "cursor" {
			t.Errorf("another filter: %v", err)
		}
		if _, err := found(t, d).List(found(t, d).ctx, "knowledge/", first.NextCursor); blamed(err) != "cursor" {
			t.Errorf("another organization: %v", err)
		}
		// Deleting a document between pages does not end the list.
		last := first.Items[len(first.Items)-1]
		whose := map[memory.Layer]fixture{memory.Firm: firm, memory.Org: c}[last.Layer]
		if err := whose.Delete(whose.ctx, last.Path, "1", ""); err != nil {
			t.Fatal(err)
		}
		if next, err := c.List(c.ctx, "knowledge/", first.NextCursor); err != nil || len(next.Items) != 5 ||
			next.Items[0].Path != "knowledge/05.md" {
			t.Errorf("%v", err)
		}
	})
}

func TestEveryVersionIsKept(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := found(t, d)
		h.write(t, "a.md", "one\n", "")
		h.write(t, "a.md", "one\ntwo\n", "1")
		if err := h.Delete(h.ctx, "a.md", "2", "no longer true"); err != nil {
			t.Fatal(err)
		}
		if err := h.Put(h.ctx, memory.PutParams{Path: "a.md", Rationale: "x", ExpectedVersion: new("2")}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("writing to what was deleted: %v", err)
		}
		if err := h.Delete(h.ctx, "a.md", "3", ""); fault.KindOf(err) != fault.NotFound {
			t.Errorf("deleting twice: %v", err)
		}
		h.write(t, "a.md", "again\n", "")
		want := []string{
			"4 because false --- /dev/null|+++ version 4|@@ -0,0 +1 @@|+again|",
			"3 no longer true true --- version 2|+++ /dev/null|@@ -1,2 +0,0 @@|-one|-two|",
			"2 because false --- version 1|+++ version 2|@@ -1 +1,2 @@| one|+two|",
			"1 because false --- /dev/null|+++ version 1|@@ -0,0 +1 @@|+one|",
		}
		for _, limit := range []int{1, 2, 3, 4, 100} {
			var got []string
			for cursor := ""; ; {
				p, err := h.History(h.ctx, memory.HistoryParams{Path: "a.md"}, page.Request{Limit: limit, Cursor: cursor})
				if err != nil || len(p.Items) > limit {
					t.Fatal(err, len(p.Items))
				}
				for _, v := range p.Items {
					if got = append(got, fmt.Sprint(v.Number, " ", v.Rationale, " ", v.Deleted, " ", strings.ReplaceAll(v.Diff, "\n",
						"|"))); v.UserID == "" {
						t.Error("nobody wrote it")
					}
				}
				if cursor = p.NextCursor; cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d a page: %q", limit, got)
			}
		}
		one, err := h.History(h.ctx, memory.HistoryParams{Path: "a.md", Version: "2"}, page.Request{Limit: 10})
		if err != nil || len(one.Items) != 1 || one.HasMore || one.Items[0].Content != "one\ntwo\n" ||
			!strings.Contains(one.Items[0].Diff, "+two") {
			t.Errorf("%+v %v", one, err)
		}
		for _, version := range []string{"0", "5", "02", "x", "-1", "99999999999999999999"} {
			if _, err := h.History(h.ctx, memory.HistoryParams{Path: "a.md", Version: version},
				page.Request{Limit: 10}); fault.KindOf(err) != fault.NotFound {
				t.Errorf("version %s: %v", version, err)
			}
		}
		// Long versions make short pages.
		h.write(t, "long.md", strings.Repeat("a", memory.ContentMax), "")
		for i := range 12 {
			h.write(t, "long.md", strings.Repeat(string(rune('b'+i)), memory.ContentMax), fmt.Sprint(i+1))
		}
		p, err := h.History(h.ctx, memory.HistoryParams{Path: "long.md"}, page.Request{Limit: 100})
		if err != nil || len(p.Items) != 5 || !p.HasMore {
			t.Errorf("%d versions on a page, more %v: %v", len(p.Items), p.HasMore, err)
		}
	})
}

func TestVerifyFindsEveryKindOfDamageInMemory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := found(t, d)
		h.write(t, "a.md", "one\n", "")
		h.write(t, "a.md", "two\n", "1")
		rule := h.put(t, memory.PutRuleParams{Rule: memory.RuleParams{Type: memory.Classification, MemoContains: new("x"),
			LedgerAccountID: new(h.accounts["plain"].ID), TagID: &h.tag.ID}})
		for statement, says := range map[string]string{
			"DELETE FROM memory_versions WHERE organization_id = @org AND item_id <> ? AND version = 1":             "it has 1 versions, numbered from 2 to 2",
			"UPDATE memory_versions SET version = 5 WHERE organization_id = @org AND item_id <> ? AND version = 2":  "it has 2 versions, numbered from 1 to 5",
			"UPDATE memory_versions SET revision = 9 WHERE organization_id = @org AND item_id <> ? AND version = 2": "the last revision is 9",
			"UPDATE memory_documents SET version = 1 WHERE organization_id = @org AND document_id <> ?":             "it is at version 1, but its last version is 2",
			"UPDATE memory_documents SET revision = 1 WHERE organization_id = @org AND document_id <> ?":            "the document does not match its last version",
			"UPDATE memory_documents SET size = 1 WHERE organization_id = @org AND document_id <> ?":                "the document does not match its last version",
			"DELETE FROM memory_documents WHERE organization_id = @org AND document_id <> ?":                        "its versions belong to no document",
			"DELETE FROM memory_rules WHERE organization_id = @org AND rule_id = ?":                                 "it was not deleted, but does not exist",
			"UPDATE memory_rules SET tag_id = NULL WHERE organization_id = @org AND rule_id = ?":                    "its stored account or tag is not the one of its last version",
			"UPDATE memory_versions SET content = 'x' WHERE organization_id = @org AND item_id = ?":                 "cannot be read",
			"DELETE FROM memory_versions WHERE organization_id = @org AND item_id = ?":                              "it has no version",
			"UPDATE memory_rules SET version = 3 WHERE organization_id = @org AND rule_id = ?":                      "it is at version 3, but its last version is 1",
			"UPDATE memory_versions SET deleted = (1 = 1) WHERE organization_id = @org AND item_id = ?":             "it exists, but its last version is deleted or missing",
		} {
			err := d.Write(h.ctx, h.id, func(ctx context.Context, tx *db.Tx) error {
				if found := dbtest.Damage(ctx, t, tx, memory.Verify, statement, rule.ID); !strings.Contains(strings.Join(found, "; "), says) {
					t.Errorf("%s: %q does not say %q", statement, found, says)
				}
				return dbtest.ErrUndo
			})
			if !errors.Is(err, dbtest.ErrUndo) {
				t.Errorf("the damage was kept: %v", err)
			}
		}
	})
}
