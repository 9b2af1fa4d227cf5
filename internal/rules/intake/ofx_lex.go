package intake

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tag is an opening or closing tag with the text behind it, as SGML without closing tags and XML both have it.
type tag struct {
	name  string // Upper case.
	close bool
	value string
	line  int
}

// tagMax bounds the text of a tag itself.
const tagMax = 1024

// tags cuts OFX into tags.
type tags struct {
	*text
	at    int  // The line that the next byte is on.
	latin bool // Bytes that are not UTF-8 are letters of Windows.
	taken []byte
}

func newTags(t *text) *tags {
	head, _ := t.head()
	return &tags{text: t, at: 1, latin: !declaresUTF8(head)}
}

// declaresUTF8 reads the head of the file, which states the encoding in one of two ways.
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

// next gives the next tag; ok is false at the end.
func (t *tags) next() (tag, bool, error) {
	for {
		if _, err := t.until('<', fieldMax); err != nil {
			return tag{}, false, err
		}
		_, ok, err := t.peek()
		if err != nil || !ok {
			return tag{}, false, err
		}
		line := t.at
		t.pos++
		raw, err := t.until('>', tagMax)
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
		return t.finish(name, line)
	}
}

// finish reads the text behind a tag.
func (t *tags) finish(name string, line int) (tag, bool, error) {
	out := tag{line: line}
	empty := strings.HasSuffix(name, "/")
	name, out.close = strings.CutPrefix(strings.TrimSuffix(name, "/"), "/")
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
	out.name = strings.ToUpper(name)
	if out.close || empty {
		return out, true, nil
	}
	raw, err := t.until('<', fieldMax)
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

// until takes the bytes before a byte, which it leaves, or before the end of the file. CDATA is text.
func (t *tags) until(stop byte, limit int) ([]byte, error) {
	t.taken = t.taken[:0]
	line := t.at
	for {
		b, ok, err := t.peek()
		if err != nil {
			return nil, err
		}
		if !ok || b == stop {
			if ok && stop == '<' && t.skipped("<![CDATA[") {
				if err := t.cdata(limit); err != nil {
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
			return nil, t.errorf(line, "what begins here is longer than %d KiB; is this OFX?", max(1, limit>>10))
		}
	}
}

// skipped takes a text off the start of what comes.
func (t *tags) skipped(prefix string) bool {
	for len(t.buf)-t.pos < len(prefix) && t.end == nil {
		t.fill()
	}
	if !bytes.HasPrefix(t.buf[t.pos:], []byte(prefix)) {
		return false
	}
	t.pos += len(prefix)
	return true
}

func (t *tags) cdata(limit int) error {
	line := t.at
	for !t.skipped("]]>") {
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
		// What looks like an entity in CDATA is none.
		if t.taken = append(t.taken, b); b == '&' {
			t.taken = append(t.taken, "amp;"...)
		}
	}
	return nil
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&nbsp;", " ", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// unescape resolves entities, by name or by number.
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
