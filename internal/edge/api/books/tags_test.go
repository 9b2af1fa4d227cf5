package books_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func tagNames(t *testing.T, n *apitest.Tenant, query url.Values) []string {
	t.Helper()
	out := []string{}
	for tag, err := range n.Client.Tags(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tag.Name)
	}
	return out
}

func TestATagIsCreatedFoundChangedAndDeleted(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		made, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: "  Hetzner Online\t", Kind: "supplier"})
		if err != nil || made.Name != "Hetzner Online" || made.Kind != "supplier" || made.UpdatedAt != nil ||
			!strings.HasPrefix(made.ID, "tag_") {
			t.Fatalf("%+v %v", made, err)
		}
		if got, err := n.Client.Tag(t.Context(), made.ID); err != nil || apitest.JSON(t, got) != apitest.JSON(t, made) {
			t.Errorf("%+v %v", got, err)
		}
		changed, err := n.Client.UpdateTag(t.Context(), made.ID, client.UpdateTag{Name: new(" Hetzner "), Kind: new("customer")})
		if err != nil || changed.Name != "Hetzner" || changed.Kind != "customer" || changed.UpdatedAt == nil || changed.ID != made.ID {
			t.Errorf("%+v %v", changed, err)
		}
		if got := tagNames(t, n, url.Values{"search": {"HETZNER"}}); !slices.Equal(got, []string{"Hetzner"}) {
			t.Errorf("searched by its new name: %q", got)
		}
		before := n.AuditCount(t)
		if again, err := n.Client.UpdateTag(t.Context(), made.ID, client.UpdateTag{Name: new("Hetzner")}); err != nil ||
			apitest.JSON(t, again) != apitest.JSON(t, changed) || n.AuditCount(t) != before {
			t.Errorf("%+v %v, %d changes", again, err, n.AuditCount(t)-before)
		}
		if a, data := s.SendJSON(t, n.Key, "DELETE", "/v1/tags/"+made.ID, ""); a.Status != 200 || string(data["id"]) != `"`+made.ID+`"` ||
			string(data["deleted"]) != "true" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if _, err := n.Client.Tag(t.Context(), made.ID); !client.IsNotFound(err) {
			t.Errorf("%v", err)
		}
	})
}

func TestNoTwoTagsOfAKindHaveTheSameName(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		create := func(name, kind string) (client.Tag, error) {
			return n.Client.CreateTag(t.Context(), client.CreateTag{Name: name, Kind: kind})
		}
		first, err := create("Acme", "supplier")
		if err != nil {
			t.Fatal(err)
		}
		_, err = create(" Acme ", "supplier")
		apitest.WantConflict(t, err, "supplier", first.ID)
		second, err := create("Acme", "customer")
		if err != nil {
			t.Errorf("another kind: %v", err)
		}
		if _, err := create("acme", "supplier"); err != nil {
			t.Errorf("another name: %v", err)
		}
		_, err = n.Client.UpdateTag(t.Context(), second.ID, client.UpdateTag{Kind: new("supplier")})
		apitest.WantConflict(t, err, first.ID)
		if _, err := n.Client.UpdateTag(t.Context(), first.ID, client.UpdateTag{Name: new("Other")}); err != nil {
			t.Error(err)
		}
		if _, err := n.Client.UpdateTag(t.Context(), second.ID, client.UpdateTag{Kind: new("supplier")}); err != nil {
			t.Errorf("the name is free again: %v", err)
		}
	})
}

func TestATagsFaultsAreNamed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		tag := n.NewTag(t)
		for body, field := range map[string]string{`{"name":"   ","kind":"supplier"}`: "name", `{"name":"x","kind":"Supplier"}`: "kind",
			`{"name":"` + strings.Repeat("é", 101) + `","kind":"supplier"}`: "name"} {
			for _, path := range []string{"POST /v1/tags", "PATCH /v1/tags/" + tag.ID} {
				method, path, _ := strings.Cut(path, " ")
				if a, _ := s.SendJSON(t, n.Key, method, path, body); a.Status != 400 || !a.Blames(t, field) {
					t.Errorf("%s %s: %d %s", method, body, a.Status, a.Body)
				}
			}
		}
		if a, _ := s.SendJSON(t, n.Key, "POST", "/v1/tags", `{"name":"`+strings.Repeat("é", 100)+`","kind":"supplier"}`); a.Status != 201 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestTagsAreFilteredByKindAndName(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		for _, line := range []string{"supplier Zürich Versicherung", "supplier AWS_EMEA", "customer 100% Organic", "project Über!",
			"supplier awsxemea"} {
			kind, name, _ := strings.Cut(line, " ")
			if _, err := n.Client.CreateTag(t.Context(), client.CreateTag{Name: name, Kind: kind}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			kind, search string
			want         []string
		}{
			{"", "", []string{"Zürich Versicherung", "AWS_EMEA", "100% Organic", "Über!", "awsxemea"}},
			{"supplier", "", []string{"Zürich Versicherung", "AWS_EMEA", "awsxemea"}},
			{"", "ZÜRICH", []string{"Zürich Versicherung"}},
			{"", "über", []string{"Über!"}},
			{"", "aws", []string{"AWS_EMEA", "awsxemea"}},
			{"", "s_e", []string{"AWS_EMEA"}},
			{"", "0%", []string{"100% Organic"}},
			{"", "%", []string{"100% Organic"}},
			{"", "!", []string{"Über!"}},
			{"customer", "aws", []string{}},
			{"department", "", []string{}},
		} {
			query := url.Values{"limit": {"2"}}
			if c.kind != "" {
				query.Set("kind", c.kind)
			}
			if c.search != "" {
				query.Set("search", c.search)
			}
			if got := tagNames(t, n, query); !slices.Equal(got, c.want) {
				t.Errorf("%s %s: %q, want %q", c.kind, c.search, got, c.want)
			}
		}
	})
}

func TestATagInUseStaysAndSaysWhere(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		l := openLedger(t, n)
		drafted, posted, free := n.NewTag(t).ID, n.NewTag(t).ID, n.NewTag(t).ID
		l.Draft(t, "2026-01-05", "Dr 1010 1 "+drafted+"; Cr 4010 1")
		for range 2 {
			l.Post(t, "2026-01-06", "Dr 1010 1 "+posted+"; Cr 4010 1")
		}
		before := n.AuditCount(t)
		apitest.WantConflict(t, n.Client.DeleteTag(t.Context(), drafted), "1 journal entry, for example JE-1")
		apitest.WantConflict(t, n.Client.DeleteTag(t.Context(), posted), "2 journal entries, for example JE-2")
		if n.AuditCount(t) != before {
			t.Error("something was changed")
		}
		if err := n.Client.DeleteTag(t.Context(), free); err != nil {
			t.Error(err)
		}
	})
}

func TestATagWithABalanceStaysEvenWithoutAnEntry(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		tag := n.NewTag(t).ID
		openLedger(t, n).Post(t, "2026-01-06", "Dr 1010 1 "+tag+"; Cr 4010 1")
		damage(t, s, "UPDATE journal_tags SET tag_id = ? WHERE tag_id = ?", n.NewTag(t).ID, tag)
		apitest.WantConflict(t, n.Client.DeleteTag(t.Context(), tag), "1 balance of an accounting period")
		damage(t, s, "UPDATE journal_tags SET tag_id = ? WHERE organization_id = ?", tag, n.Organization.ID)
	})
}

func TestATagWhoseBookingsWereUndoneCanGo(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Service) {
		n := s.Found(t, "mine")
		tag := n.NewTag(t).ID
		posted := openLedger(t, n).Post(t, "2026-01-05", "Dr 1010 1 "+tag+"; Cr 4010 1")
		if _, err := n.Client.UnpostJournalEntry(t.Context(), posted.ID); err != nil {
			t.Fatal(err)
		}
		apitest.WantConflict(t, n.Client.DeleteTag(t.Context(), tag), "1 journal entry, for example JE-1")
		if err := n.Client.DeleteJournalEntry(t.Context(), posted.ID); err != nil {
			t.Fatal(err)
		}
		if err := n.Client.DeleteTag(t.Context(), tag); err != nil {
			t.Error(err)
		}
	})
}
