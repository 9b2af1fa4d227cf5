package notation

import "strings"

// remarks is the content of the comments of a transaction, posting or directive.
type remarks struct {
	lines []string // Text other than tags.
	tags  []Tag
}

// add parses one line of comment, without its semicolon. A tag is a word directly followed by a colon; its value ends
// at a comma. URLs and times of day have colons too, and stay text.
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

// findTag returns the positions of the start and the colon of the first tag name, or -1.
func findTag(s string) (start, colon int) {
	named := false // The current word is a valid tag name.
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

// pop removes the first tag with a name and returns its value.
func (r *remarks) pop(name string) string {
	for i, tag := range r.tags {
		if tag.Kind == name {
			r.tags = append(r.tags[:i], r.tags[i+1:]...)
			return tag.Name
		}
	}
	return ""
}

// appendTo returns a text with the remarks that are not tags appended.
func (r *remarks) appendTo(first string) string {
	if first == "" {
		return strings.Join(r.lines, "\n")
	}
	if len(r.lines) == 0 {
		return first
	}
	return first + "\n" + strings.Join(r.lines, "\n")
}

// decode reverses the percent escapes of everything left.
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

// popEscaped removes the tag that says that the texts contain percent escapes, and reports whether it was there.
func (r *remarks) popEscaped() bool {
	for i, tag := range r.tags {
		if tag.Kind == keyEscaped && tag.Name == escapedPercent {
			r.tags = append(r.tags[:i], r.tags[i+1:]...)
			return true
		}
	}
	return false
}
