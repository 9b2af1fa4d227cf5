package intake

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tag is an opening or closing tag with the text after it, in SGML without closing tags or in XML.
type tag struct {
	name  string // In upper case.
	close bool
	value string
	line  int
}

// tagMax bounds the length of a tag name.
const tagMax = 1024

// tags splits OFX into tags.
type tags struct {
	*text
	at    int  // The line of the next byte.
	latin bool // Bytes that are not UTF-8 are Windows-1252.
	taken []byte
}

func newTags(t *text) *tags {
	head, _ := t.head()
	return &tags{text: t, at: 1, latin: !declaresUTF8(head)}
}

// declaresUTF8 reports whether the OFX or XML header declares UTF-8.
func declaresUTF8(head []byte) bool {
	start := bytes.ToUpper(head[:min(len(head), 2048)])
	if before, _, ok := bytes.Cut(start, []byte("<OFX>")); ok {
		start = before
	}
	if bytes.Contains(start, []byte("OFXHEADER:")) {
		return bytes.Contains(start, []byte("ENCODING:UTF-8")) || bytes.Contains(start, []byte("ENCODING:UNICODE"))
	}
	return !bytes.Contains(start, []byte("ISO-8859-1")) && !bytes.Contains(start, []byte("WINDOWS-1252"))
}

// next returns the next tag; ok is false at the end of the file.
func (t *tags) next() (tag, bool, error) {
	for {
		if _, err := t.readUntil('<', fieldMax); err != nil {
			return tag{}, false, err
		}
		_, ok, err := t.peek()
		if err != nil || !ok {
			return tag{}, false, err
		}
		line := t.at
		t.pos++
		raw, err := t.readUntil('>', tagMax)
		if err != nil {
			return tag{}, false, err
		}
		if _, ok, err = t.peek(); err != nil {
			return tag{}, false, err
		}
		if !ok {
			return tag{}, false, t.errorf(line, "the tag that begins here has no end")
		}
		t.pos++
		name := string(raw)
		if strings.HasPrefix(name, "?") || strings.HasPrefix(name, "!") {
			continue
		}
		return t.readValue(name, line)
	}
}

// readValue reads the text after a tag.
func (t *tags) readValue(name string, line int) (tag, bool, error) {
	out := tag{line: line}
	empty := strings.HasSuffix(name, "/")
	name, out.close = strings.CutPrefix(strings.TrimSuffix(name, "/"), "/")
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
	out.name = strings.ToUpper(name)
	if out.close || empty {
		return out, true, nil
	}
	raw, err := t.readUntil('<', fieldMax)
	if err != nil {
		return tag{}, false, err
	}
	value := bytes.TrimSpace(raw)
	if !utf8.Valid(value) && t.latin {
		var decoded []byte
		for _, b := range value {
			decoded = appendWindows(decoded, b)
		}
		value = decoded
	}
	out.value = unescape(string(value))
	return out, true, nil
}

// readUntil returns the bytes before stop, which it does not consume, or before the end of the file. CDATA counts as
// text.
func (t *tags) readUntil(stop byte, limit int) ([]byte, error) {
	t.taken = t.taken[:0]
	line := t.at
	for {
		b, ok, err := t.peek()
		if err != nil {
			return nil, err
		}
		if !ok || b == stop {
			if ok && stop == '<' && t.skipPrefix("<![CDATA[") {
				if err := t.readCDATA(limit); err != nil {
					return nil, err
				}
				continue
			}
			return t.taken, nil
		}
		if b == '\n' {
			t.at++
		}
		t.pos++
		if t.taken = append(t.taken, b); len(t.taken) > limit {
			return nil, t.errorf(line, "the text that begins here is longer than %d KiB; is this OFX?", max(1, limit>>10))
		}
	}
}

// skipPrefix consumes a prefix of the remaining text and reports whether it was there.
func (t *tags) skipPrefix(prefix string) bool {
	for len(t.buf)-t.pos < len(prefix) && t.end == nil {
		t.fill()
	}
	if !bytes.HasPrefix(t.buf[t.pos:], []byte(prefix)) {
		return false
	}
	t.pos += len(prefix)
	return true
}

func (t *tags) readCDATA(limit int) error {
	line := t.at
	for !t.skipPrefix("]]>") {
		b, ok, err := t.peek()
		if err != nil {
			return err
		}
		if !ok || len(t.taken) > limit {
			return t.errorf(line, "the text that begins here has no end")
		}
		if b == '\n' {
			t.at++
		}
		t.pos++
		// Escaped, because CDATA contains no entities.
		if t.taken = append(t.taken, b); b == '&' {
			t.taken = append(t.taken, "amp;"...)
		}
	}
	return nil
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&nbsp;", " ", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// unescape replaces entities, named or numeric.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "&#")
		out.WriteString(entities.Replace(before))
		if !found {
			return out.String()
		}
		digits, after, closed := strings.Cut(rest, ";")
		base := 10
		if strings.HasPrefix(strings.ToLower(digits), "x") {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 21)
		if !closed || err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
			out.WriteString("&#")
			s = rest
			continue
		}
		out.WriteRune(rune(n))
		s = after
	}
}
