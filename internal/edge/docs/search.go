package docs

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// Result is something the search can find.
type Result struct {
	Kind  string `json:"kind"`  // operation, object, event, field, error, guide or topic
	Title string `json:"title"` // the heading or name
	Where string `json:"where"` // what it belongs to
	Text  string `json:"text"`
	URL   string `json:"url"`

	title, other, text []string // words in lower case, by how much they count
	base               float64
	order              int
}

const (
	resultsMax = 40
	queryMax   = 200 // characters; the rest is ignored
	textMax    = 220
	sameMax    = 3 // how often a field with the same description is listed
)

// How much it counts where a word of the query is found, and how much a kind is favoured.
const (
	inTitle, inOther, inText = 10.0, 4.0, 1.0
	wholeWord                = 2.0 // times as much as the beginning of a word
	wholeTitle               = 15.0
)

var favour = map[string]float64{"operation": 6, "guide": 3, "topic": 4, "error": 3, "object": 3, "event": 0, "field": 0}

// index is the full text of the reference.
type index []Result

func (x *index) add(r Result, other, text string) {
	r.title, r.other, r.text = tokens(r.Title), tokens(other), tokens(text)
	r.base, r.order = favour[r.Kind], len(*x)
	*x = append(*x, r)
}

// newIndex collects what can be found.
func newIndex(v view) (x index) {
	for _, g := range v.Groups {
		page := "/docs/" + g.Slug
		for _, o := range g.Operations {
			x.add(Result{Kind: "operation", Title: o.Title, Where: o.Method + " " + o.Path, Text: bare(o.Summary), URL: page + "#" + o.ID},
				o.ID+" "+o.Method+" "+o.Path+" "+strings.Join(wordsOf(o.ID), " ")+" "+g.Name, o.Summary+" "+o.Description)
			for _, b := range o.Blocks {
				x.fields(b.Fields, page, o.Title+", "+strings.ToLower(b.Title))
			}
		}
		for _, e := range g.Events {
			x.add(Result{Kind: "event", Title: e.Type, Where: "Type of event", Text: e.Title, URL: page + "#" + e.Type},
				strings.NewReplacer(".", " ", "_", " ").Replace(e.Type), e.Only)
		}
		for _, b := range g.Objects {
			x.add(Result{Kind: "object", Title: b.Title, Where: g.Name, Text: bare(b.Note), URL: page + "#" + b.ID},
				strings.Join(wordsOf(b.Title), " "), b.Note)
			x.fields(b.Fields, page, b.Title+" object")
		}
	}
	for _, e := range v.Errors {
		code, text, _ := strings.Cut(bare(e.Text), ": ")
		x.add(Result{Kind: "error", Title: code, Where: http.StatusText(e.Status), Text: text, URL: "/docs#errors"},
			plainText(e.Status)+" "+strings.ReplaceAll(code, "_", " "), text)
	}
	for _, g := range v.Guides {
		for _, s := range g.Sections {
			url, where := "/docs/guides/"+g.Slug, "Guide"
			if s.ID != "" {
				url, where = url+"#"+s.ID, "Guide: "+g.Title
			}
			x.add(Result{Kind: "guide", Title: s.Title, Where: where, Text: s.Text, URL: url}, g.Title, s.Text)
		}
	}
	for _, t := range v.Topics {
		text := strings.Join(t.Text, " ")
		x.add(Result{Kind: "topic", Title: t.Title, Where: "Conventions", Text: bare(text), URL: "/docs#" + t.ID}, "", text)
	}
	return x
}

func (x *index) fields(list []Field, page, where string) {
	for _, f := range list {
		if f.Name != "data" || f.Object == "" { // the wrapper of an answer is of no interest
			x.add(Result{Kind: "field", Title: f.Name, Where: where, Text: bare(f.Description), URL: page + "#" + f.ID},
				strings.ReplaceAll(f.Name, "_", " ")+" "+strings.Join(f.Values, " "), f.Description+" "+where)
		}
		x.fields(f.Fields, page, where)
	}
}

// tokens splits a text into words in lower case. A name with underscores is also a word as a whole.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
}

// stopWords are too common to tell anything about what is searched for.
var stopWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("a an and are as at be by can do does for from how i if in into is it its my of on or that the their " +
		"there this to was we what when where which who why will with you your") {
		out[w] = true
	}
	return out
}()

// significant returns the words that are neither stop words nor single characters, or all of them if there are no others.
func significant(words []string) []string {
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return stopWords[w] || len(w) == 1 })
	if len(kept) == 0 {
		return words
	}
	return kept
}

// hit is a result with how many words of the query it contains, and how well.
type hit struct {
	r       Result
	matched int
	score   float64
}

// find returns what contains every word of the query, or words that begin with them, the best first. If nothing contains all of them,
// it returns what contains the most.
func (x index) find(query string) []Result {
	query = strings.TrimSpace(query)
	if len(query) > queryMax {
		query = query[:queryMax]
	}
	words := significant(tokens(query))
	hits, most := x.match(query, words)
	hits = slices.DeleteFunc(hits, func(h hit) bool { return h.matched < most && most == len(words) })
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.matched, a.matched), cmp.Compare(b.score, a.score), cmp.Compare(a.r.order, b.r.order))
	})
	out, seen := make([]Result, 0, min(len(hits), resultsMax)), map[string]int{}
	for _, h := range hits {
		if key := h.r.Title + h.r.Text; h.r.Kind == "field" { // the same field of twenty operations is shown a few times
			if seen[key]++; seen[key] > sameMax {
				continue
			}
		}
		h.r.Text = excerpt(h.r.Text, words)
		if out = append(out, h.r); len(out) == resultsMax {
			break
		}
	}
	return out
}

// match returns what contains any of the words, and how many of them the best results contain.
func (x index) match(query string, words []string) (hits []hit, most int) {
	for _, r := range x {
		h := hit{r: r, score: r.base}
		for _, w := range words {
			if found := max(points(r.title, w)*inTitle, points(r.other, w)*inOther, points(r.text, w)*inText); found > 0 {
				h.score += found
				h.matched++
			}
		}
		if h.matched == 0 {
			continue
		}
		if strings.EqualFold(r.Title, query) || slices.Equal(significant(r.title), words) {
			h.score += wholeTitle
		}
		hits, most = append(hits, h), max(most, h.matched)
	}
	return hits, most
}

// points is how well a word is found in a text: not at all, as the beginning of a word, or as a whole word.
func points(text []string, word string) float64 {
	var best float64
	for _, t := range text {
		switch {
		case t == word || t == word+"s" || t+"s" == word:
			return wholeWord
		case strings.HasPrefix(t, word):
			best = 1
		}
	}
	return best
}

// excerpt returns the part of a text around the first word found.
func excerpt(text string, words []string) string {
	if len(text) <= textMax {
		return text
	}
	lower, at := strings.ToLower(text), len(text)
	for _, w := range words {
		if i := strings.Index(lower, w); i >= 0 {
			at = min(at, i)
		}
	}
	if at >= len(text) || at < textMax/2 || len(lower) != len(text) {
		at = 0
	} else {
		at = strings.LastIndex(text[:at-textMax/3], " ") + 1
	}
	end := min(at+textMax, len(text))
	if cut := strings.LastIndex(text[at:end], " "); cut > 0 && end < len(text) {
		end = at + cut
	}
	out := strings.ToValidUTF8(text[at:end], "")
	if at > 0 {
		out = "… " + out
	}
	if end < len(text) {
		out += " …"
	}
	return out
}
