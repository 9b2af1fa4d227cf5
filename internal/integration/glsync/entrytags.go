package glsync

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
)

// tagged is a tag and the value that stands for it.
type tagged struct {
	tag   tag.Tag
	value Value
}

// loadTagged reads the values that stand for tags in a general ledger, by tag. Tags that are not mapped are left out.
func loadTagged(ctx context.Context, tx *db.Tx, connectionID string) (map[string]tagged, error) {
	out := map[string]tagged{}
	mappings, err := selectTagMappings(ctx, tx, connectionID)
	if err != nil || len(mappings) == 0 {
		return out, err
	}
	var tagIDs, valueIDs []string
	for _, m := range mappings {
		tagIDs, valueIDs = append(tagIDs, m.TagID), append(valueIDs, m.ValueID)
	}
	found, err := selectSomeValues(ctx, tx, valueIDs)
	if err != nil {
		return out, err
	}
	values := make(map[string]Value, len(found))
	for _, v := range found {
		values[v.ID] = v
	}
	tags, err := tag.Some(ctx, tx, tagIDs)
	byID := make(map[string]tag.Tag, len(tags))
	for _, t := range tags {
		byID[t.ID] = t
	}
	for _, m := range mappings {
		out[m.TagID] = tagged{byID[m.TagID], values[m.ValueID]}
	}
	return out, err
}

// dimensions returns the values of dimensions that a line has because of its tags and those of its entry, and what speaks against them.
// Tags that are not mapped are ignored.
func (m *maker) dimensions(e journal.Entry, l journal.Line) (out map[string]string, problems []Blocker) {
	if len(m.tags) == 0 {
		return nil, nil
	}
	ids := slices.Concat(e.TagIDs, l.TagIDs)
	slices.Sort(ids)
	first := map[string]tagged{} // by dimension
	for _, id := range slices.Compact(ids) {
		t, is := m.tags[id]
		if !is {
			continue
		}
		if why := t.value.Unusable(); why != "" {
			problems = append(problems, Blocker{Code: UnusableValue, TagID: id,
				Message: "the tag " + t.tag.Name + " is mapped to " + t.value.Label() + ", which cannot be used: " + why})
		}
		other, has := first[t.value.Dimension]
		if has && other.value.ID != t.value.ID {
			problems = append(problems, Blocker{Code: ConflictingTags, TagID: id,
				Message: "a line has the tags " + other.tag.Name + " and " + t.tag.Name + ", which are mapped to the values " +
					other.value.Name + " and " + t.value.Name + " of " + t.value.DimensionName +
					", and a line can have only one: remove one of the tags, or map it to another dimension"})
		}
		if has {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		first[t.value.Dimension], out[t.value.Dimension] = t, t.value.ExternalID
	}
	return out, problems
}
