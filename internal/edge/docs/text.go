package docs

import (
	"bytes"
	"encoding/json"
	"html/template"
	"regexp"
	"strings"
)

// slug makes a name fit for an address: "Ledger accounts" becomes "ledger-accounts".
func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

var backticks = regexp.MustCompile("`([^`]+)`")

// prose shows text between backticks as code; descriptions have no other markup.
func prose(text string) template.HTML {
	return template.HTML(backticks.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}

var sourceEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// source shows a program or JSON between tags. It leaves quotation marks as they are, which would make the page much larger.
func source(text string) template.HTML { return template.HTML(sourceEscapes.Replace(text)) }

// bare removes the backticks.
func bare(text string) string { return strings.ReplaceAll(text, "`", "") }

var joints = regexp.MustCompile("([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])")

// wordsOf takes a name in camel case apart: createAPIKey is create, API, Key.
func wordsOf(name string) []string { return strings.Fields(joints.ReplaceAllString(name, "$1$3 $2$4")) }

// titleOf makes a heading of an operation's id: "Create API key".
func titleOf(id string) string {
	words := wordsOf(strings.ToUpper(id[:1]) + id[1:])
	for i, w := range words[1:] {
		if len(w) < 2 || w != strings.ToUpper(w) {
			words[i+1] = strings.ToLower(w)
		}
	}
	return strings.Join(words, " ")
}

// plainText is a value as JSON, but a string without its quotes.
func plainText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// pretty indents JSON. The text is returned as it is when it is not JSON.
func pretty(text []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return strings.TrimSpace(b.String())
}
