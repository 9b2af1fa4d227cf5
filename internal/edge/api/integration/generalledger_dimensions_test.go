package integration_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/provider"
	"github.com/bursarhq/bursar/internal/provider/ledgertest"
)

// value returns a value of a dimension of the general ledger.
func (b *books) value(name string) client.GLDimensionValue {
	b.Helper()
	for v, err := range b.Client.GLDimensions(b.T.Context(), nil) {
		b.must(err)
		if v.Name == name {
			return v
		}
	}
	b.Fatalf("there is no value %s", name)
	return client.GLDimensionValue{}
}

// mapTag maps a tag to a value of a dimension, or to none if the name is empty.
func (b *books) mapTag(tagID, name string) (client.GLTagMapping, error) {
	b.Helper()
	var to client.SetGLTagMapping
	if name != "" {
		v := b.value(name)
		to = client.SetGLTagMapping{DimensionID: &v.DimensionID, ValueID: &v.ValueID}
	}
	return b.Client.SetGLTagMapping(b.T.Context(), tagID, to)
}

// tagMapping returns the mapping of a tag.
func (b *books) tagMapping(tagID string) client.GLTagMapping {
	b.Helper()
	for m, err := range b.Client.GLTagMappings(b.T.Context(), nil) {
		b.must(err)
		if m.TagID == tagID {
			return m
		}
	}
	b.Fatalf("the tag %s is not listed", tagID)
	return client.GLTagMapping{}
}

// valuesOf returns the values of the lines of an entry in the general ledger, those of a line by dimension.
func (b *books) valuesOf(e client.JournalEntry) (out []string) {
	b.Helper()
	dimensions := b.s.Rillet.Books().Dimensions
	for _, l := range b.stored(e)[0].Lines {
		var names []string
		for _, d := range dimensions {
			for _, v := range d.Values {
				if l.Dimensions[d.ID] == v.ID {
					names = append(names, v.Name)
				}
			}
		}
		out = append(out, strings.Join(names, "+"))
	}
	return out
}

func TestTheDimensionsOfGeneralLedgersAreListed(t *testing.T) {
	eachBooks(t, func(b *books) {
		names := func(q url.Values) (out []string) {
			for v, err := range b.Client.GLDimensions(b.T.Context(), q) {
				b.must(err)
				if v.ConnectionID != b.connection.ID || v.DimensionID == "" || v.ExternalID == "" {
					b.Errorf("%+v", v)
				}
				out = append(out, v.DimensionName+" "+v.Name)
			}
			return out
		}
		b.says("all", names(url.Values{"limit": {"1"}}), "Department Operations", "Department Sales", "Project Alpha")
		b.says("active", names(url.Values{"active": {"true"}}), "Department Operations", "Project Alpha")
		b.says("inactive", names(url.Values{"active": {"false"}}), "Department Sales")
		b.says("name", names(url.Values{"search": {"OPER"}}), "Department Operations")
		b.says("dimension", names(url.Values{"search": {"project"}, "connection_id": {b.connection.ID}}), "Project Alpha")
		before := b.value("Alpha")
		b.change(func(l *ledgertest.Books) { l.Dimensions[1].Values[0].Name = "Ägäis" })
		b.reread()
		if after := b.value("Ägäis"); after.ValueID != before.ValueID || after.ExternalID != before.ExternalID {
			b.Errorf("%+v, before %+v", after, before)
		}
		b.says("renamed", names(url.Values{"search": {"ägä"}}), "Project Ägäis")
		b.change(func(l *ledgertest.Books) { l.Dimensions[1].Values = nil })
		b.reread()
		if v := b.value("Ägäis"); v.Active {
			b.Errorf("it is gone: %+v", v)
		}
	})
}

func TestTagsAreSuggestedByNameAndMapped(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx := b.T.Context()
		b.change(func(l *ledgertest.Books) {
			l.Dimensions[0].Values = append(l.Dimensions[0].Values, provider.DimensionValue{ID: "x1", Name: "alpha", Active: true})
		})
		b.reread()
		alpha, err := b.Client.CreateTag(ctx, client.CreateTag{Name: " Alpha ", Kind: "department"})
		b.must(err)
		other := b.AddTag(b.T, "#other")
		m := b.tagMapping(alpha.ID)
		if m.Status != "unmapped" || m.DimensionValue != nil || m.UpdatedAt != nil || len(m.Suggestions) != 2 ||
			m.Suggestions[0].DimensionName != "Department" || m.Suggestions[1].DimensionName != "Project" || m.Kind != "department" {
			b.Fatalf("%+v", m)
		}
		if m := b.tagMapping(other); len(m.Suggestions) != 0 {
			b.Errorf("%+v", m)
		}
		m, err = b.mapTag(alpha.ID, "Alpha")
		if err != nil || m.Status != "mapped" || m.DimensionValue.Name != "Alpha" || len(m.Suggestions) != 0 || m.UpdatedAt == nil {
			b.Errorf("%+v %v", m, err)
		}
		if m := b.tagMapping(alpha.ID); m.Status != "mapped" || m.DimensionValue.DimensionName != "Project" {
			b.Errorf("%+v", m)
		}
		err = b.Client.DeleteTag(ctx, alpha.ID)
		apitest.WantConflict(b.T, err, "used by 1 mapping to a dimension of a general ledger")
		b.change(func(l *ledgertest.Books) { l.Dimensions[1].Values[0].Active = false })
		b.reread()
		if m := b.tagMapping(alpha.ID); m.Status != "unusable" || m.DimensionValue.Active || len(m.Suggestions) != 1 {
			b.Errorf("%+v", m)
		}
		m, err = b.mapTag(alpha.ID, "")
		if err != nil || m.Status != "unmapped" || b.tagMapping(alpha.ID).DimensionValue != nil {
			b.Errorf("%+v %v", m, err)
		}
		b.must(b.Client.DeleteTag(ctx, alpha.ID))
		var types []string
		for e, err := range b.Client.Events(ctx, nil) {
			b.must(err)
			if strings.HasPrefix(e.Type, "gl_tag_mapping.") {
				types = append(types, e.Type)
			}
		}
		slices.Sort(types)
		b.says("events", types, "gl_tag_mapping.created", "gl_tag_mapping.deleted")
	})
}

func TestAMappingOfATagThatCannotBeIsRefused(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx := b.T.Context()
		tag, alpha, sales := b.AddTag(b.T, "#a"), b.value("Alpha"), b.value("Sales")
		for name, c := range map[string]struct {
			tag    string
			to     client.SetGLTagMapping
			status int
			fields []string
			says   string
		}{
			"unknown tag":        {apitest.UnknownID(tag), client.SetGLTagMapping{}, http.StatusNotFound, nil, ""},
			"no value":           {tag, client.SetGLTagMapping{DimensionID: &alpha.DimensionID}, http.StatusBadRequest, []string{"value_id"}, "required"},
			"no dimension":       {tag, client.SetGLTagMapping{ValueID: &alpha.ValueID}, http.StatusBadRequest, []string{"dimension_id"}, "required"},
			"both unknown":       {tag, client.SetGLTagMapping{DimensionID: new("x"), ValueID: new("x")}, http.StatusNotFound, []string{"dimension_id", "value_id"}, ""},
			"another dimension":  {tag, client.SetGLTagMapping{DimensionID: &sales.DimensionID, ValueID: &alpha.ValueID}, http.StatusNotFound, []string{"value_id"}, ""},
			"inactive":           {tag, client.SetGLTagMapping{DimensionID: &sales.DimensionID, ValueID: &sales.ValueID}, http.StatusConflict, []string{"value_id"}, "inactive"},
			"unknown connection": {tag, client.SetGLTagMapping{ConnectionID: apitest.UnknownID(b.connection.ID), ValueID: new("x")}, http.StatusBadRequest, []string{"connection_id", "dimension_id", "value_id"}, ""},
		} {
			_, err := b.Client.SetGLTagMapping(ctx, c.tag, c.to)
			apitest.WantError(b.T, name, err, c.status, c.fields, c.says)
		}
		b.AddEntity(b.T, "DE", "EUR")
		_, err := client.New(b.s.URL, b.Limited(b.T, b.Names["DE"])).SetGLTagMapping(ctx, tag, client.SetGLTagMapping{})
		if statusOf(err) != http.StatusForbidden {
			b.Errorf("a limited key: %v", err)
		}
		if m := b.tagMapping(tag); m.Status != "unmapped" {
			b.Errorf("%+v", m)
		}
	})
}

func TestLinesAreSentWithTheValuesOfTheirTags(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx := b.T.Context()
		ops, project, same, unmapped := b.AddTag(b.T, "#ops"), b.AddTag(b.T, "#project"), b.AddTag(b.T, "#same"), b.AddTag(b.T, "#unmapped")
		for tag, name := range map[string]string{ops: "Operations", project: "Alpha", same: "Alpha"} {
			_, err := b.mapTag(tag, name)
			b.must(err)
		}
		plain := b.Post(b.T, "2026-01-15", apitest.Sale)
		lines := b.Post(b.T, "2026-01-15", "Dr 1010 5.00 #unmapped; Cr 4010 5.00 #ops #project #same #unmapped")
		whole := b.Entry("2026-01-15", "posted", "Dr 1010 6.00; Cr 4010 6.00 #project")
		whole.TagIDs = []string{ops, unmapped}
		entry := b.Create(b.T, whole)
		if r := b.execute(client.CreateGLSyncRun{}); r.Status != "completed" || r.Counts["succeeded"] != 3 {
			b.Errorf("%+v", r)
		}
		b.once(plain, lines, entry)
		b.says("no tags", b.valuesOf(plain), "", "")
		b.says("tags of lines", b.valuesOf(lines), "", "Operations+Alpha")
		b.says("tags of the entry", b.valuesOf(entry), "Operations", "Operations+Alpha")
		if r := b.execute(client.CreateGLSyncRun{}); r.Counts["unchanged"] != 3 || r.Total != 0 {
			b.Errorf("%+v", r.Counts)
		}
		_, err := b.Client.SetGLTagMapping(ctx, ops, client.SetGLTagMapping{})
		b.must(err)
		if r := b.execute(client.CreateGLSyncRun{}); r.Counts["replace"] != 2 || r.Counts["unchanged"] != 1 || r.Counts["succeeded"] != 2 {
			b.Errorf("%+v", r.Counts)
		}
		b.once(plain, lines, entry)
		b.says("replaced", append(b.valuesOf(lines), b.valuesOf(entry)...), "", "Alpha", "", "Alpha")
	})
}

func TestTagsThatContradictEachOtherKeepTheirEntryBack(t *testing.T) {
	eachBooks(t, func(b *books) {
		ctx := b.T.Context()
		b.change(func(l *ledgertest.Books) { l.Dimensions[0].Values[1].Active = true })
		b.reread()
		first, err := b.Client.CreateTag(ctx, client.CreateTag{Name: "Mining", Kind: "department"})
		b.must(err)
		second, err := b.Client.CreateTag(ctx, client.CreateTag{Name: "Desk", Kind: "department"})
		b.must(err)
		for tag, name := range map[string]string{first.ID: "Operations", second.ID: "Sales"} {
			_, err := b.mapTag(tag, name)
			b.must(err)
		}
		b.Names["#first"], b.Names["#second"] = first.ID, second.ID
		apart := b.Post(b.T, "2026-01-15", "Dr 1010 5.00 #first; Cr 4010 5.00 #second")
		both := b.Post(b.T, "2026-01-15", "Dr 1010 6.00; Cr 4010 6.00 #first #second")
		r := b.execute(client.CreateGLSyncRun{})
		b.says("results", b.results(r.ID), "JE-1 create succeeded", "JE-2 create failed")
		if len(r.Blockers) != 1 || r.Blockers[0].Code != "conflicting_tags" || r.Blockers[0].StopsRun || r.Blockers[0].TagID == nil {
			b.Fatalf("%+v", r.Blockers)
		}
		for _, part := range []string{"Mining", "Desk", "Operations", "Sales", "Department"} {
			if !strings.Contains(r.Blockers[0].Message, part) {
				b.Errorf("%q does not name %s", r.Blockers[0].Message, part)
			}
		}
		b.once(apart)
		if len(b.stored(both)) != 0 {
			b.Error("it was sent")
		}
		if a := b.Find(b.T, both.ID).LatestGLSyncAttempt; a == nil || a.ErrorCode == nil || *a.ErrorCode != "conflicting_tags" {
			b.Errorf("%s", apitest.JSON(b.T, a))
		}
		_, err = b.Client.SyncJournalEntry(ctx, both.ID, client.SyncJournalEntry{})
		apitest.WantConflict(b.T, err, both.SequenceNumber, "Mining", "Desk")
		_, err = b.mapTag(second.ID, "Alpha")
		b.must(err)
		b.execute(client.CreateGLSyncRun{})
		b.once(apart, both)
		b.says("sent", b.valuesOf(both), "", "Operations+Alpha")
	})
}

func TestAValueThatIsInactiveOrGoneStopsTheRun(t *testing.T) {
	eachBooks(t, func(b *books) {
		tag := b.AddTag(b.T, "#a")
		_, err := b.mapTag(tag, "Alpha")
		b.must(err)
		all := []client.JournalEntry{b.Post(b.T, "2026-01-15", "Dr 1010 5.00 #a; Cr 4010 5.00"), b.Post(b.T, "2026-01-15", apitest.Sale)}
		values := b.s.Rillet.Books().Dimensions[1].Values
		for name, set := range map[string]func(l *ledgertest.Books){
			"inactive": func(l *ledgertest.Books) { l.Dimensions[1].Values[0].Active = false },
			"gone":     func(l *ledgertest.Books) { l.Dimensions[1].Values = nil },
		} {
			b.change(set)
			r := b.execute(client.CreateGLSyncRun{})
			if r.Status != "blocked" || len(r.Blockers) != 1 || r.Blockers[0].Code != "unusable_dimension_value" || !r.Blockers[0].StopsRun ||
				*r.Blockers[0].TagID != tag || !strings.Contains(r.Blockers[0].Message, "Alpha (Project)") || r.Blockers[0].Count != 1 {
				b.Errorf("%s: %+v", name, r)
			}
			if len(b.s.Rillet.Books().Entries) != 0 {
				b.Errorf("%s: something was sent", name)
			}
			values[0].Active = true
			b.change(func(l *ledgertest.Books) { l.Dimensions[1].Values = values })
		}
		b.execute(client.CreateGLSyncRun{})
		b.once(all...)
	})
}

func TestACheckComparesTheValuesThatWereSent(t *testing.T) {
	eachBooks(t, func(b *books) {
		_, err := b.mapTag(b.AddTag(b.T, "#a"), "Operations")
		b.must(err)
		made := b.Post(b.T, "2026-01-15", "Dr 1010 5.00 #a; Cr 4010 5.00")
		b.execute(client.CreateGLSyncRun{})
		check := func(what, want string) {
			b.Helper()
			b.says(what, b.results(b.execute(client.CreateGLSyncRun{Check: true}).ID), want)
		}
		check("as sent", "JE-1 check equal")
		department, project := b.value("Operations").DimensionID, b.value("Alpha")
		set := func(values map[string]string) {
			b.change(func(l *ledgertest.Books) { l.Entries[0].Lines[0].Dimensions = values })
		}
		sent := b.stored(made)[0].Lines[0].Dimensions
		set(map[string]string{department: sent[department], project.DimensionID: project.ExternalID})
		check("a dimension that was not sent", "JE-1 check equal")
		set(map[string]string{department: b.value("Sales").ExternalID})
		check("another value", "JE-1 check changed lines")
		set(nil)
		check("no value", "JE-1 check changed lines")
	})
}
