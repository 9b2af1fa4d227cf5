package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// Appender is a view that writes its own JSON, because encoding/json would take most of the time of the request.
type Appender interface{ AppendJSON(b []byte) []byte }

// Encode returns a view as JSON with a newline at the end. It does not escape HTML, because answers are not pages. It panics when a
// view cannot be encoded, which is a defect of the view.
func Encode(v any) []byte {
	if a, ok := v.(Appender); ok {
		return append(a.AppendJSON(nil), '\n')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// recordBytes is the approximate size of a record in JSON; it is used to allocate memory once.
const recordBytes = 1500

// AppendJSON writes a page. Records that implement Appender write themselves.
func (l List[T]) AppendJSON(b []byte) []byte {
	if _, ok := any(*new(T)).(Appender); ok {
		b = append(slices.Grow(b, recordBytes*len(l.Data)), `{"data":[`...)
		for i, item := range l.Data {
			if i > 0 {
				b = append(b, ',')
			}
			b = any(item).(Appender).AppendJSON(b)
		}
		b = append(b, ']')
	} else {
		b = AppendProperty(b, `{"data":`, l.Data)
	}
	b = strconv.AppendBool(append(b, `,"has_more":`...), l.HasMore)
	b = AppendStringOrNull(b, `,"next_cursor":`, l.NextCursor)
	if l.TotalCount != nil {
		b = strconv.AppendInt(append(b, `,"total_count":`...), *l.TotalCount, 10)
	}
	return append(b, '}')
}

// AppendJSON writes a single record.
func (d Data[T]) AppendJSON(b []byte) []byte {
	if a, ok := any(d.Data).(Appender); ok {
		return append(a.AppendJSON(append(b, `{"data":`...)), '}')
	}
	return append(AppendProperty(b, `{"data":`, d.Data), '}')
}

// AppendProperty appends a name, which includes its punctuation, and a value encoded by encoding/json.
func AppendProperty(b []byte, name string, v any) []byte {
	return append(append(b, name...), bytes.TrimSuffix(Encode(v), []byte("\n"))...)
}

// AppendString appends a name and a string. Only strings that need escaping go through encoding/json.
func AppendString(b []byte, name, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return AppendProperty(b, name, text)
		}
	}
	return append(append(append(append(b, name...), '"'), text...), '"')
}

// AppendStringOrNull appends a name and a string or null.
func AppendStringOrNull(b []byte, name string, text *string) []byte {
	if text == nil {
		return append(append(b, name...), "null"...)
	}
	return AppendString(b, name, *text)
}

// AppendStrings appends a name and a list of strings.
func AppendStrings(b []byte, name string, texts []string) []byte {
	if len(texts) == 0 {
		return append(append(b, name...), "[]"...)
	}
	b = append(b, name...)
	for i, text := range texts {
		sep := ","
		if i == 0 {
			sep = "["
		}
		b = AppendString(b, sep, text)
	}
	return append(b, ']')
}
