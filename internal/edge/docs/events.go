package docs

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// RecordOperation is the extension of the OpenAPI description that names, for a type of event, the operation that returns its data.
const RecordOperation = "x-bursar-record-operation"

// OfEvent ends the name of the schema of a record that lacks properties in events.
const OfEvent = "OfEvent"

// EventType is what the reference says about a type of event.
type EventType struct {
	Type   string
	Object string // the name of the schema of the data; empty if there is none
	URL    string // of the operation that returns the same; empty if there is none
	Title  string // of that operation

	Deleted bool     // the data are the id of a deleted record
	Maybe   bool     // they may be that as well
	Fields  []string // of data that no operation returns
	Note    string   // about data without a schema
	Only    string   // when it is sent, if it is not like most types
}

// addEventTypes adds the types of events to the page of the operations about them.
func addEventTypes(spec *huma.OpenAPI, groups []Group) {
	where := map[string]Operation{}
	pages := map[string]string{}
	for _, g := range groups {
		for _, o := range g.Operations {
			where[o.ID], pages[o.ID] = o, "/docs/"+g.Slug+"#"+o.ID
		}
	}
	usual := usualDescription(spec)
	m := model{registry: spec.Components.Schemas}
	for _, name := range slices.Sorted(maps.Keys(spec.Webhooks)) {
		op := spec.Webhooks[name].Post
		data := schemaOf(op.RequestBody.Content).Properties["data"]
		e := EventType{Type: name, Maybe: len(data.AnyOf) > 0}
		schema, object := m.resolve(data)
		e.Object = strings.TrimSuffix(object, OfEvent)
		e.Deleted = schema.Properties["deleted"] != nil && !e.Maybe
		if id, ok := op.Extensions[RecordOperation].(string); ok {
			e.URL, e.Title = pages[id], where[id].Title
		} else if !e.Deleted {
			e.Fields, e.Note = m.names(data), schema.Description
		}
		if op.Description != usual {
			e.Only = op.Description
		}
		for i := range groups {
			if slices.Contains(op.Tags, groups[i].Name) {
				groups[i].Events, groups[i].EventsNote = append(groups[i].Events, e), usual
			}
		}
	}
}

// usualDescription returns what most types of events have as their description.
func usualDescription(spec *huma.OpenAPI) (usual string) {
	counts := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(spec.Webhooks)) {
		text := spec.Webhooks[name].Post.Description
		if counts[text]++; counts[text] > counts[usual] {
			usual = text
		}
	}
	return usual
}
