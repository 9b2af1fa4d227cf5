package notation

import "strings"

// remarks is what the comments of a transaction, posting or directive say.
type remarks struct {
	lines []string // What is not a tag.
	tags  []Tag
}

// add reads one line of comment, without its semicolon. A tag is a word with a colon right after it; its value ends at a
// comma. Addresses and times of day have colons too, and stay text.
func (r *remarks) add(line string) {
	var text []string
	for rest := strings.TrimSpace(line); rest != ""; {
		start, colon := findTag(rest)
		if colon < 0 {
			text = append(text, rest)
			break
		}
		if before := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest[:start]), ",")); before != "" {
			text = append(text, before)
		}
		value, after, _ := strings.Cut(rest[colon+1:], ",")
		r.tags = append(r.tags, Tag{rest[start:colon], strings.TrimSpace(value)})
		rest = strings.TrimSpace(after)
	}
	if len(text) > 0 {
		r.lines = append(r.lines, strings.Join(text, ", "))
	}
}

// findTag gives where the name of the first tag begins and ends, or -1.
func findTag(s string) (start, colon int) {
	named := false // The word so far would do as a name.
	for i, r := range s {
		switch {
		case r == ' ' || r == '\t':
			start, named = i+1, false
		case r == ':' && named && !strings.HasPrefix(s[i+1:], "//"):
			return start, i
		default:
			named = named || tagRune(r)
		}
	}
	return -1, -1
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

// after joins what is not a tag to a text that comes first.
func (r *remarks) after(first string) string {
	if first == "" {
		return strings.Join(r.lines, "\n")
	}
	if len(r.lines) == 0 {
		return first
	}
	return first + "\n" + strings.Join(r.lines, "\n")
}

// decode undoes the percent escapes of all that is left.
func (r *remarks) decode(escaped bool) {
	if !escaped {
		return
	}
	for i, line := range r.lines {
		r.lines[i] = unescape(line)
	}
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
