package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// depthMax is how deep values may be nested.
	depthMax = 64
	// yamlMax bounds the size of YAML with all aliases expanded, in characters and values: a few lines of aliases can
	// expand to more than fits in memory.
	yamlMax = 2_000_000
)

// frontmatterOf validates the content of a document and returns the front matter of a Markdown document as JSON, or an
// empty text.
func frontmatterOf(path, content string) (string, error) {
	if isYAML(path) {
		_, err := parseYAML(content)
		return "", err
	}
	block, there, err := cutFrontmatter(content)
	if err != nil || !there {
		return "", err
	}
	documents, err := parseYAML(block)
	if err != nil {
		return "", err
	}
	out := any(map[string]any{})
	if len(documents) > 0 && documents[0] != nil { // it may consist of comments only
		out = documents[0]
	}
	if _, ok := out.(map[string]any); !ok || len(documents) > 1 {
		return "", errors.New("line 2: the front matter must be one mapping of names to values")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err = e.Encode(out)
	return strings.TrimSpace(b.String()), err
}

const fence = "---"

// cutFrontmatter returns the text between a first line of --- and the next one, preceded by an empty line so that line
// numbers stay correct.
func cutFrontmatter(content string) (block string, there bool, err error) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(content, "\ufeff"), "\n")
	if strings.TrimRight(first, " \t\r") != fence {
		return "", false, nil
	}
	var b strings.Builder
	b.WriteString("\n")
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\r\n") == fence {
			return b.String(), true, nil
		}
		b.WriteString(line)
	}
	return "", true, errors.New("line 1: the front matter that begins here does not end with another line of ---")
}

// parseYAML returns every document of a stream.
func parseYAML(text string) (out []any, err error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	w := &writer{yamlMax}
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
		v, err := w.value(&n, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

// writer converts YAML to values that JSON can represent, up to a limit on the size.
type writer struct{ left int }

func (w *writer) value(n *yaml.Node, depth int) (any, error) {
	if w.left -= 1 + len(n.Value); w.left < 0 {
		return nil, fmt.Errorf("line %d: the document is too large when its aliases are written out", n.Line)
	}
	if depth > depthMax {
		return nil, fmt.Errorf("line %d: values are nested more than %d levels deep", n.Line, depthMax)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.value(n.Content[0], depth)
	case yaml.AliasNode:
		return w.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if out[i], err = w.value(item, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.MappingNode:
		return w.mapping(n, depth)
	}
	return scalar(n), nil
}

func (w *writer) mapping(n *yaml.Node, depth int) (any, error) {
	out, merged := map[string]any{}, []any(nil)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		value, err := w.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a name must be a plain text", n.Content[i].Line)
		}
		if w.left -= len(key.Value); w.left < 0 {
			return w.value(n, depth) // which returns the error
		}
		if _, twice := out[key.Value]; twice {
			return nil, fmt.Errorf("line %d: the name %q occurs twice", n.Content[i].Line, key.Value)
		}
		out[key.Value] = value
	}
	for _, m := range merged {
		if !merge(out, m) {
			return nil, fmt.Errorf("line %d: << takes mappings only", n.Line)
		}
	}
	return out, nil
}

// merge adds the entries of a << key. Entries of the mapping itself and of earlier merges take precedence.
func merge(out map[string]any, from any) bool {
	switch from := from.(type) {
	case map[string]any:
		for name, value := range from {
			if _, there := out[name]; !there {
				out[name] = value
			}
		}
		return true
	case []any:
		for _, one := range from {
			if m, ok := one.(map[string]any); !ok || !merge(out, m) {
				return false
			}
		}
		return true
	}
	return false
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// scalar keeps numbers digit by digit. Times, and numbers that JSON cannot represent, stay text.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var v bool
		if n.Decode(&v) == nil {
			return v
		}
	case "!!int", "!!float":
		if jsonNumber.MatchString(n.Value) {
			return json.Number(n.Value)
		}
		var v int64 // YAML has further notations for integers
		if n.ShortTag() == "!!int" && n.Decode(&v) == nil {
			return v
		}
	}
	return n.Value
}
