package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/bursarhq/bursar/docs/guides"
)

// Guide is a text about a common task.
type Guide struct {
	Slug, Title, Lead string
	HTML              template.HTML
	Sections          []section
}

// section is a part of a guide with a heading of its own; the search finds sections.
type section struct{ ID, Title, Text string }

var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	fileLink = regexp.MustCompile(`href="([a-z-]+)\.md(#[a-z0-9-]+)?"`)
	heading  = regexp.MustCompile(`<h2 id="([^"]+)">(.*)</h2>`)
	inline   = regexp.MustCompile(`</?(?:code|a|em|strong)\b[^>]*>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
)

// readGuides renders all guides.
func readGuides() (out []Guide) {
	for _, name := range guides.Order {
		text, err := guides.Files.ReadFile(name + ".md")
		if err != nil {
			panic(fmt.Sprintf("guide %s: %v", name, err)) // it is part of the binary
		}
		out = append(out, readGuide(name, text))
	}
	return out
}

func readGuide(name string, text []byte) Guide {
	var b bytes.Buffer
	if err := markdown.Convert(text, &b); err != nil {
		panic(fmt.Sprintf("guide %s: %v", name, err)) // writing to memory does not fail
	}
	page := fileLink.ReplaceAllString(b.String(), `href="/docs/guides/$1$2"`)
	title, rest, _ := strings.Cut(page, "</h1>")
	g := Guide{Slug: name, Title: plainOf(title)}
	if lead, _, ok := strings.Cut(rest, "</p>"); ok {
		g.Lead = plainOf(lead)
	}
	shown := heading.ReplaceAllString(page, `<h2 id="$1">$2<a class="anchor" href="#$1" aria-label="Link to this section">#</a></h2>`)
	shown = strings.ReplaceAll(shown, "<pre>", `<figure><button type="button" class="copy" hidden>Copy</button><pre tabindex="0">`)
	g.HTML = template.HTML(strings.ReplaceAll(shown, "</pre>", "</pre></figure>"))
	at := heading.FindAllStringSubmatchIndex(page, -1)
	begin, current := 0, section{Title: g.Title}
	for _, m := range at {
		current.Text = plainOf(page[begin:m[0]])
		g.Sections = append(g.Sections, current)
		begin, current = m[1], section{ID: page[m[2]:m[3]], Title: plainOf(page[m[4]:m[5]])}
	}
	current.Text = plainOf(page[begin:])
	g.Sections = append(g.Sections, current)
	return g
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&")

// plainOf returns the text of a piece of HTML.
func plainOf(html string) string {
	return strings.Join(strings.Fields(entities.Replace(tags.ReplaceAllString(inline.ReplaceAllString(html, ""), " "))), " ")
}
