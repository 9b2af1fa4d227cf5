package glsync

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// TagMappingEvents returns the types of events about mappings of tags.
func TagMappingEvents() []string { return eventsOf(tagsMapping) }

// TagMapping is a tag with the value of a dimension of a general ledger that stands for it.
type TagMapping struct {
	ConnectionID string
	Tag          tag.Tag
	Value        Value   // without an id if there is none
	Suggestions  []Value // of the same name, unless it is mapped
	UpdatedAt    *time.Time
}

// Status returns whether lines with the tag can be sent with a value. Those with an unmapped tag are sent without one.
func (m TagMapping) Status() MappingStatus {
	return statusOf(m.Value.ID, m.Value.Unusable())
}

// storedTag is a mapping of a tag as it is stored.
type storedTag struct {
	ID, ConnectionID, TagID, ValueID string
	CreatedAt                        time.Time
	UpdatedAt                        *time.Time
}

func (m storedTag) facts() map[string]any {
	return map[string]any{"id": m.ID, "connection_id": m.ConnectionID, "tag_id": m.TagID, "gl_dimension_value_id": m.ValueID}
}

// tagTable is what the tags of lines become in a general ledger.
type tagTable struct {
	connectionID string
	values       map[string]Value
	mapped       map[string]storedTag // by tag
}

// loadTagTable reads all values of a general ledger, and the mappings of some tags to it.
func loadTagTable(ctx context.Context, tx *db.Tx, connectionID string, tagIDs []string) (tagTable, error) {
	t := tagTable{connectionID: connectionID, values: map[string]Value{}, mapped: map[string]storedTag{}}
	values, err := selectValues(ctx, tx, connectionID)
	if err != nil {
		return t, err
	}
	for _, v := range values {
		t.values[v.ID] = v
	}
	mappings, err := selectMappingsOfTags(ctx, tx, connectionID, tagIDs)
	for _, m := range mappings {
		t.mapped[m.TagID] = m
	}
	return t, err
}

// usableByName returns the values that lines can have, by their names.
func (t tagTable) usableByName() map[string][]Value {
	out := map[string][]Value{}
	for _, v := range t.values {
		if v.Unusable() == "" {
			out[normal(v.Name)] = append(out[normal(v.Name)], v)
		}
	}
	return out
}

// of returns the mapping of a tag. Values of a dimension that is called as the kind of the tag are suggested first.
func (t tagTable) of(one tag.Tag, byName map[string][]Value) TagMapping {
	out := TagMapping{ConnectionID: t.connectionID, Tag: one}
	if m, ok := t.mapped[one.ID]; ok {
		out.Value, out.UpdatedAt = t.values[m.ValueID], cmp.Or(m.UpdatedAt, &m.CreatedAt)
	}
	if out.Status() == Mapped {
		return out
	}
	rank := func(v Value) int {
		if normal(v.DimensionName) == string(one.Kind) {
			return 0
		}
		return 1
	}
	found := slices.SortedFunc(slices.Values(byName[normal(one.Name)]), func(x, y Value) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.ID, y.ID))
	})
	out.Suggestions = found[:min(len(found), suggestionsMax)]
	return out
}

// TagMappingFilter narrows a list of mappings of tags.
type TagMappingFilter struct{ ConnectionID string }

// TagMappings lists tags with what stands for them in a general ledger, in the order in which they were created. The connection may be
// omitted if there is one only.
func (s *Service) TagMappings(ctx context.Context, f TagMappingFilter, p page.Request) (page.Page[TagMapping], error) {
	return page.ListByKey("gl-tag-mappings", f, p, "", func(m TagMapping) string { return m.Tag.ID },
		func(above string, limit int) (rows []TagMapping, err error) {
			err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
				c, err := s.only(ctx, tx, f.ConnectionID)
				if err != nil {
					return err
				}
				tags, err := tag.After(ctx, tx, above, limit)
				if err != nil {
					return err
				}
				ids := make([]string, len(tags))
				for n, one := range tags {
					ids[n] = one.ID
				}
				t, err := loadTagTable(ctx, tx, c.ID, ids)
				if err != nil {
					return err
				}
				rows = make([]TagMapping, len(tags))
				byName := t.usableByName()
				for n, one := range tags {
					rows[n] = t.of(one, byName)
				}
				return nil
			})
			return rows, err
		})
}

// MapTagParams say what stands for a tag: a value of a dimension, or nothing if both are empty. The connection may be omitted if there is
// one only.
type MapTagParams struct {
	ConnectionID, Dimension, ValueID string
}

// MapTag maps a tag to a value of a dimension of a general ledger, or to none.
func (s *Service) MapTag(ctx context.Context, tagID string, p MapTagParams) (out TagMapping, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		one, err := tag.Get(ctx, tx, tagID)
		if err != nil {
			return err
		}
		var faults fault.List
		if p.ValueID != "" && p.Dimension == "" {
			faults.Addf("dimension_id", "is required with value_id")
		} else if p.ValueID == "" && p.Dimension != "" {
			faults.Addf("value_id", "is required with dimension_id")
		}
		c, among, err := s.toUse(ctx, tx, p.ConnectionID, &faults)
		if err != nil {
			return err
		}
		if err := p.check(ctx, tx, among, &faults); err != nil {
			return err
		}
		if err := faults.Err(); err != nil {
			return err
		}
		t, err := loadTagTable(ctx, tx, c.ID, []string{tagID})
		if err != nil {
			return err
		}
		if err := t.set(ctx, tx, tagID, p.ValueID); err != nil {
			return err
		}
		out = t.of(one, t.usableByName())
		return nil
	})
	return out, err
}

// check collects the faults of the value that is to stand for a tag, which must be one of some connections.
func (p MapTagParams) check(ctx context.Context, tx *db.Tx, connections []string, faults *fault.List) error {
	if p.Dimension != "" {
		known, err := hasDimension(ctx, tx, connections, p.Dimension)
		if err != nil {
			return err
		}
		if !known {
			faults.AddMissing("dimension", "dimension_id")
		}
	}
	if p.ValueID == "" {
		return nil
	}
	found, err := selectSomeValues(ctx, tx, []string{p.ValueID})
	if err != nil {
		return err
	}
	if len(found) == 0 || !slices.Contains(connections, found[0].ConnectionID) || p.Dimension != "" && found[0].Dimension != p.Dimension {
		faults.AddMissing("value of the dimension", "value_id")
	} else if why := found[0].Unusable(); why != "" {
		faults.AddConflictf("value_id", "%s cannot be used: %s", found[0].Label(), why)
	}
	return nil
}

// set stores a mapping, or deletes it if the value is empty. It writes nothing if nothing changes.
func (t tagTable) set(ctx context.Context, tx *db.Tx, tagID, valueID string) error {
	before, was := t.mapped[tagID]
	switch {
	case was && before.ValueID == valueID, !was && valueID == "":
		return nil
	case valueID == "":
		delete(t.mapped, tagID)
		record(ctx, tx, tagsMapping, before.ID, before.facts(), nil)
		return deleteTagMapping(ctx, tx, before.ID)
	case was:
		now, after := tx.Now(), before
		after.ValueID, after.UpdatedAt = valueID, &now
		t.mapped[tagID] = after
		record(ctx, tx, tagsMapping, after.ID, before.facts(), after.facts())
		return updateTagMapping(ctx, tx, after)
	}
	made := storedTag{ID: tx.NewID(id.GLTagMapping), ConnectionID: t.connectionID, TagID: tagID, ValueID: valueID, CreatedAt: tx.Now()}
	t.mapped[tagID] = made
	record(ctx, tx, tagsMapping, made.ID, nil, made.facts())
	return insertTagMapping(ctx, tx, made)
}
