package wire

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// Record says how the events of a type of resource show it: as the operation that gets one does, without what Omits names.
type Record struct {
	ResourceType string // in the audit log
	Events       []string
	Path         string       // of the operation that gets one; empty if there is none
	Type         reflect.Type // of the view; that of the operation if it is nil

	// View returns the view of a resource as its package returns it. If it is nil, the operation is called.
	View func(ctx context.Context, tx *db.Tx, object any) (any, error)

	// MayBeDeleted means that an event that does not say so in its type may report that the resource was deleted.
	MayBeDeleted bool

	// Privileged means that only owners and admins may read the events.
	Privileged bool

	// Omits lists properties that are not part of events, because they say what is possible at the moment of reading.
	Omits []string
}

// guidance is not part of events: it depends on other records, and on what the reader may do.
var omitted = []string{"guidance"}

// RecordAt describes resources that an operation gets, with the events that report changes of them.
func RecordAt(resourceType, path string, events ...string) Record {
	return Record{ResourceType: resourceType, Path: path, Events: events, Omits: omitted}
}

// Viewed describes resources of which a view can be made without reading them again.
func Viewed[O, V any](r Record, view func(context.Context, O) V) Record {
	return ViewedIn(r, func(ctx context.Context, _ *db.Tx, o O) (V, error) { return view(ctx, o), nil })
}

// ViewedIn is Viewed for views that need something more from the database transaction.
func ViewedIn[O, V any](r Record, view func(context.Context, *db.Tx, O) (V, error)) Record {
	r.Type = reflect.TypeFor[V]()
	r.View = func(ctx context.Context, tx *db.Tx, object any) (any, error) {
		switch o := object.(type) {
		case O:
			return view(ctx, tx, o)
		case *O:
			return view(ctx, tx, *o)
		}
		return nil, fmt.Errorf("wire: the object of an event about a %s is a %T", r.ResourceType, object)
	}
	return r
}

// OnlyPrivileged lets only owners and admins read the events.
func (r Record) OnlyPrivileged() Record {
	r.Privileged = true
	return r
}

// OrDeleted says that events which do not say so in their type may report that the resource was deleted.
func (r Record) OrDeleted() Record {
	r.MayBeDeleted = true
	return r
}

// Without adds properties that are not part of events.
func (r Record) Without(names ...string) Record {
	r.Omits = slices.Concat(r.Omits, names)
	return r
}

// ReadOne calls the operation for the record with an id and returns the record, without the object around it.
func (r *Route) ReadOne(ctx context.Context, id string) (any, error) {
	in := reflect.New(r.input)
	if strings.Contains(r.Path, "{") && !setPath(in.Elem(), id) {
		panic(fmt.Sprintf("wire: %s takes no id", r))
	}
	out, err := r.Call(ctx, in.Interface())
	if err != nil {
		return nil, err
	}
	return reflect.ValueOf(out).FieldByName("Data").Interface(), nil
}

// RecordType returns the type of the record that the operation returns, without the object around it.
func (r *Route) RecordType() reflect.Type {
	field, ok := r.Output.FieldByName("Data")
	if !ok {
		panic(fmt.Sprintf("wire: %s does not return a single record", r))
	}
	return field.Type
}

// setPath sets the parameter of an input that is part of the path.
func setPath(in reflect.Value, id string) bool {
	for i := range in.NumField() {
		field := in.Type().Field(i)
		switch _, ok := field.Tag.Lookup("path"); {
		case ok:
			in.Field(i).SetString(id)
			return true
		case field.Anonymous && setPath(in.Field(i), id):
			return true
		}
	}
	return false
}

// EncodeWithout returns a view as JSON, which must be an object, without some of its properties.
func EncodeWithout(view any, names ...string) []byte {
	return cutProperties(bytes.TrimSuffix(Encode(view), []byte("\n")), names)
}

// cutProperties removes properties of an object that has no spaces between its parts.
func cutProperties(object []byte, names []string) []byte {
	for i := 1; i < len(object) && object[i] == '"'; {
		end := stringEnd(object, i)
		next := valueEnd(object, end+2) // after the colon
		if !slices.Contains(names, string(object[i+1:end])) {
			i = next
			continue
		}
		if object[next] == '}' && object[i-1] == ',' {
			i-- // the comma before the last property
		}
		object = slices.Delete(object, i, next)
	}
	return object
}

// stringEnd returns the position of the quote that ends the string at i.
func stringEnd(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// valueEnd returns where a value of an object that begins at i ends, including the comma after it.
func valueEnd(text []byte, i int) int {
	for depth := 0; ; i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case '"':
			i = stringEnd(text, i)
		case ',':
			if depth == 0 {
				return i + 1
			}
		}
	}
}
