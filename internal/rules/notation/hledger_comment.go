package notation

import "strings"

// remarks is what the comments of a transaction, posting or directive say.
type remarks struct {
	text string // What is not a tag, a line for each line.
	tags []Tag
}

// add reads one line of comment, without its semicolon. A tag is a word with a colon right after it; its value ends at a
// comma. Addresses and times of day have colons too, and stay text.
func (r *remarks) add(line string) {
	var text []string
	for rest := strings.TrimSpace(line); rest != ""; {
		at := tagColon(rest)
		if at < 0 {
			text = append(text, rest)
			break
		}
		start := strings.LastIndexAny(rest[:at], " \t") + 1
		if before := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest[:start]), ",")); before != "" {
			text = append(text, before)
		}
		value, after, _ := strings.Cut(rest[at+1:], ",")
		r.tags = append(r.tags, Tag{rest[start:at], strings.TrimSpace(value)})
		rest = strings.TrimSpace(after)
	}
	if len(text) == 0 {
		return
	}
	if r.text != "" {
		r.text += "\n"
	}
	r.text += strings.Join(text, ", ")
}

// tagColon finds the colon of the first tag, or -1.
func tagColon(s string) int {
	for from := 0; ; {
		at := strings.IndexByte(s[from:], ':')
		if at < 0 {
			return -1
		}
		at += from
		name := s[strings.LastIndexAny(s[:at], " \t")+1 : at]
		if tagLike(name) && !strings.HasPrefix(s[at+1:], "//") {
			return at
		}
		from = at + 1
	}
}

// take removes the first tag of a name and gives its value.
func (r *remarks) take(name string) string {
	for i, tag := range r.tags {
		if tag.Kind == name {
			r.tags = append(r.tags[:i], r.tags[i+1:]...)
			return tag.Name
		}
	}
	return ""
}

// decode undoes the percent escapes of all that is left.
func (r *remarks) decode(escaped bool) {
	if !escaped {
		return
	}
	r.text = unescape(r.text)
	for i, tag := range r.tags {
		r.tags[i] = Tag{unescape(tag.Kind), unescape(tag.Name)}
	}
}

// takeEscaped removes the mark that the texts hold percent escapes.
func (r *remarks) takeEscaped() bool {
	for i, tag := range r.tags {
		if tag.Kind == keyEscaped && tag.Name == escapedPercent {
			r.tags = append(r.tags[:i], r.tags[i+1:]...)
			return true
		}
	}
	return false
}
