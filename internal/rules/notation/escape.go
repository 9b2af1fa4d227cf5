package notation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Percent escapes: %3A stands for a colon, and so on, always with two capital hexadecimal digits for each byte. A
// percent sign is itself escaped only where such digits follow it, so that "10% off" stays readable.

// emptyName represents an empty name. It is the escape of a byte that is not valid UTF-8, so no text is written like
// this.
const emptyName = "%FF"

const hexDigits = "0123456789ABCDEF"

// appendEscaped appends s with some characters escaped, and reports whether there were any. mark decides which, by
// position; unprintable characters are always escaped.
func appendEscaped(buf []byte, s string, mark func(s string, i int) bool) ([]byte, bool) {
	changed := false
	for i, r := range s {
		size := utf8.RuneLen(r)
		if !unprintable(r) && !ambiguous(s, i) && !mark(s, i) {
			buf = append(buf, s[i:i+size]...)
			continue
		}
		changed = true
		for _, b := range []byte(s[i : i+size]) {
			buf = append(buf, '%', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return buf, changed
}

// unprintable reports whether programs drop or normalize a character or treat it as a line end: control characters, and
// spaces other than the usual one.
func unprintable(r rune) bool {
	return r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r)) || r == '\ufeff'
}

// ambiguous reports whether a percent sign would be read as the start of an escape.
func ambiguous(s string, i int) bool {
	return s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
}

// edge reports whether i is a space at either end of a text, which programs trim.
func edge(s string, i int) bool {
	return s[i] == ' ' && (i == 0 || i == len(s)-1)
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b >= 'A' && b <= 'F' }

// unescape reverses appendEscaped. Anything that is not an escape stays unchanged.
func unescape(s string) string {
	return unescapeOnly(s, func(byte) bool { return true })
}

// unescapeOnly reverses the escapes of the given bytes and leaves all others.
func unescapeOnly(s string, which func(b byte) bool) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	if s == emptyName {
		return ""
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if ambiguous(s, i) {
			if b := fromHex(s[i+1])<<4 | fromHex(s[i+2]); which(b) {
				out = append(out, b)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	if !utf8.Valid(out) {
		return s
	}
	return string(out)
}

func fromHex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b - 'A' + 10
}

// joinPath joins a path with colons; a colon inside a name becomes %3A.
func joinPath(path []string) string {
	var buf []byte
	for i, name := range path {
		if i > 0 {
			buf = append(buf, ':')
		}
		buf = appendPart(buf, name, func(i int) bool { return name[i] == ':' })
	}
	return string(buf)
}

// splitPath reverses joinPath.
func splitPath(s string) []string {
	path := strings.Split(s, ":")
	for i, name := range path {
		path[i] = unescapeOnly(name, func(b byte) bool { return b == ':' || b == '%' })
	}
	return path
}

// joinTags formats tags as Kind:Name separated by semicolons; colons and semicolons inside become %3A and %3B.
func joinTags(tags []Tag) string {
	var buf []byte
	for i, tag := range tags {
		if i > 0 {
			buf = append(buf, ';')
		}
		buf = appendPart(buf, tag.Kind, func(i int) bool {
			return tag.Kind[i] == ':' || tag.Kind[i] == ';' || tag.Kind[i] == ' ' && i == 0
		})
		buf = append(buf, ':')
		buf = appendPart(buf, tag.Name, func(i int) bool { return tag.Name[i] == ';' })
	}
	return string(buf)
}

// splitTags reverses joinTags. It accepts a space after the semicolon, and a label without a kind gets the kind "tag".
func splitTags(s string) []Tag {
	if s == "" {
		return nil
	}
	parts := strings.Split(s, ";")
	tags := make([]Tag, len(parts))
	which := func(b byte) bool { return b == ':' || b == ';' || b == '%' || b == ' ' }
	for i, part := range parts {
		kind, name, ok := strings.Cut(strings.TrimLeft(part, " "), ":")
		if !ok {
			kind, name = "tag", kind
		}
		tags[i] = Tag{unescapeOnly(kind, which), unescapeOnly(name, which)}
	}
	return tags
}

// appendPart appends a name with the marked bytes and ambiguous percent signs escaped.
func appendPart(buf []byte, name string, mark func(i int) bool) []byte {
	if name == "" {
		return append(buf, emptyName...)
	}
	for i := range len(name) {
		if b := name[i]; mark(i) || ambiguous(name, i) {
			buf = append(buf, '%', hexDigits[b>>4], hexDigits[b&15])
		} else {
			buf = append(buf, b)
		}
	}
	return buf
}
