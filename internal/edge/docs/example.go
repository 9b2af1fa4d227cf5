package docs

import (
	_ "embed" // the examples
	"encoding/json"
	"sync"
)

// Example is one request and its answer, captured from a running service with the demo company. Ids, keys and hashes are replaced by
// stable ones of the same form, and long lists are shortened.
type Example struct {
	Operation string          `json:"operation"`
	Method    string          `json:"method"`
	Path      string          `json:"path"`              // with the query
	Key       bool            `json:"key,omitempty"`     // it takes an Idempotency-Key
	Session   string          `json:"session,omitempty"` // how it uses the session of a browser; empty if it has a key
	Body      json.RawMessage `json:"body,omitempty"`    // of a request with JSON
	Form      []Part          `json:"form,omitempty"`    // of a request with a file
	Files     []File          `json:"files,omitempty"`   // what the form sends
	Status    int             `json:"status"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Shortened bool            `json:"shortened,omitempty"` // a list of the answer has more items
	Go        string          `json:"go,omitempty"`        // the request with the Go client; empty for those of browsers
}

// How an example uses the session of a browser.
const (
	BeginsSession = "begins"
	UsesSession   = "uses"
)

// Part is a field of a form. The value of a file is its name with a leading @.
type Part struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// File is a file that an example sends.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

//go:embed examples.json
var examplesText []byte

// Examples returns the examples by operation id.
var Examples = sync.OnceValue(func() map[string]Example {
	var list []Example
	if err := json.Unmarshal(examplesText, &list); err != nil {
		panic("examples.json is not valid: " + err.Error()) // it is part of the binary, and a test reads it
	}
	out := make(map[string]Example, len(list))
	for _, e := range list {
		out[e.Operation] = e
	}
	return out
})
