package intake

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// layout is a stated date format, such as DD/MM/YYYY HH:mm.
type layout struct {
	name string
	text string // As package time writes it.
	kind layoutKind
}

type layoutKind byte

const (
	layoutPlain layoutKind = iota
	layoutAuto
	layoutUnix
	layoutUnixMilli
)

// layoutTokens are the tokens of a layout and their equivalents in package time, longer tokens first.
var layoutTokens = [][2]string{
	{"YYYY", "2006"}, {"YY", "06"}, {"MMMM", "January"}, {"MMM", "Jan"}, {"MM", "01"}, {"M", "1"}, {"DD", "02"}, {"D", "2"},
	{"HH", "15"}, {"H", "15"}, {"hh", "03"}, {"h", "3"}, {"mm", "04"}, {"ss", "05"}, {".SSS", ".999999999"},
	{"AM", "PM"}, {"A", "PM"}, {"ZZ", "Z0700"}, {"Z", "Z07:00"},
}

// parseLayout parses a stated layout: auto, unix, unix_ms, or tokens.
func parseLayout(name string) (layout, error) {
	switch name {
	case "auto":
		return layout{name: name, kind: layoutAuto}, nil
	case "unix":
		return layout{name: name, kind: layoutUnix}, nil
	case "unix_ms":
		return layout{name: name, kind: layoutUnixMilli}, nil
	}
	var text strings.Builder
	seen := map[string]bool{}
	for rest := name; rest != ""; {
		token, standard := nextToken(rest)
		if token == "" {
			c := rest[0]
			if c == 'T' || strings.IndexByte(" -/.,:", c) >= 0 {
				text.WriteByte(c)
				rest = rest[1:]
				continue
			}
			return layout{}, fmt.Errorf("has %q at %q; use YYYY, YY, MM, M, MMM, DD, D, HH, hh, mm, ss, .SSS, A, Z, or auto, unix, unix_ms", c, rest)
		}
		text.WriteString(standard)
		seen[token[:1]] = true
		rest = rest[len(token):]
	}
	if !seen["Y"] || !seen["M"] || !seen["D"] {
		return layout{}, errors.New("must have a year, a month and a day, such as DD.MM.YYYY")
	}
	return layout{name: name, text: text.String()}, nil
}

func nextToken(text string) (token, standard string) {
	for _, t := range layoutTokens {
		if strings.HasPrefix(text, t[0]) {
			return t[0], t[1]
		}
	}
	return "", ""
}

func parseLayouts(text string, layouts []layout) (moment, error) {
	for _, l := range layouts {
		if m, err := l.parse(text); err == nil {
			return m, nil
		}
	}
	names := make([]string, len(layouts))
	for i, l := range layouts {
		names[i] = l.name
	}
	return moment{}, fmt.Errorf("is not a date of the layout %s", strings.Join(names, " or "))
}

func (l layout) parse(text string) (moment, error) {
	switch l.kind {
	case layoutAuto:
		return parseMoment(text, orderUnknown)
	case layoutUnix, layoutUnixMilli:
		digits := countDigits(text)
		if digits == 0 || digits > 16 {
			return moment{}, errNotDate
		}
		return l.parseUnix(text, digits)
	}
	t, err := time.Parse(l.text, text)
	if err != nil {
		return moment{}, err
	}
	m := moment{year: t.Year(), month: int(t.Month()), day: t.Day(), hour: t.Hour(), minute: t.Minute(), sec: t.Second(),
		nanosecond: t.Nanosecond(), timed: strings.Contains(l.text, "15") || strings.Contains(l.text, "3")}
	if strings.Contains(l.text, "Z07") {
		_, m.offset = t.Zone()
		m.zoned = true
	}
	if !strings.Contains(l.text, "2006") {
		m.year = century(m.year % 100)
	}
	return m, nil
}

func (l layout) parseUnix(text string, digits int) (moment, error) {
	var n int64
	for _, c := range []byte(text[:digits]) {
		n = n*10 + int64(c-'0')
	}
	if l.kind == layoutUnixMilli {
		if digits != len(text) {
			return moment{}, errNotDate
		}
		return moment{unix: true, instant: time.UnixMilli(n).UTC()}, nil
	}
	nanosecond, rest, err := cutFraction(text[digits:])
	if err != nil || rest != "" {
		return moment{}, errNotDate
	}
	return moment{unix: true, instant: time.Unix(n, int64(nanosecond)).UTC()}, nil
}
