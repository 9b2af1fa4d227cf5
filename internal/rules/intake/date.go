package intake

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// dayOrder is the order of day and month in dates such as 02/03/2024.
type dayOrder byte

const (
	orderUnknown dayOrder = iota
	monthFirst
	dayFirst
)

const (
	yearMin = 1970
	yearMax = 2100
	// twoDigitPivot is the first two-digit year that belongs to the 20th century; exports do not contain dates before
	// 1970.
	twoDigitPivot = 70
)

var (
	errNotDate    = errors.New("is not a date; state its layout in the mapping")
	errImpossible = errors.New("is a day that does not exist")
)

// moment is a parsed date, with or without a time of day, before a time zone is applied.
type moment struct {
	year, month, day   int
	hour, minute, sec  int
	nanosecond         int
	timed, zoned, unix bool
	offset             int       // Seconds east of UTC, if zoned.
	instant            time.Time // Set if unix.
}

// clock parses the dates of a column, using the stated layouts and zone and the order inferred from the column.
type clock struct {
	layouts []layout
	zone    *time.Location
	order   dayOrder
}

// parse reads a date with an optional time of day. Its errors continue a sentence that begins with the text.
func (c *clock) parse(text string) (time.Time, error) {
	m, err := c.moment(text)
	if err != nil {
		return time.Time{}, err
	}
	return m.instantIn(c.zone)
}

// day reads a date as parse does, but returns the calendar day as it is written, whatever its time zone is.
func (c *clock) day(text string) (time.Time, error) {
	m, err := c.moment(text)
	if err != nil {
		return time.Time{}, err
	}
	m.zoned = false
	return m.instantIn(time.UTC)
}

func (c *clock) moment(text string) (moment, error) {
	if text = strings.TrimSpace(text); len(c.layouts) > 0 {
		return parseLayouts(text, c.layouts)
	}
	return parseMoment(text, c.order)
}

// instantIn applies the zone. A date without a time of day becomes the start of that day in UTC: it is a calendar day,
// and must not become the day before because the bank is east of Greenwich.
func (m moment) instantIn(zone *time.Location) (time.Time, error) {
	if m.unix {
		return validateYear(m.instant)
	}
	if m.month < 1 || m.month > 12 || m.day < 1 || m.day > daysIn(m.year, m.month) {
		return time.Time{}, errImpossible
	}
	if m.hour > 23 || m.minute > 59 || m.sec > 59 {
		return time.Time{}, errors.New("is a time of day that does not exist")
	}
	t := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, m.sec, m.nanosecond, time.UTC)
	switch {
	case m.zoned:
		t = t.Add(-time.Duration(m.offset) * time.Second)
	case m.timed && zone != time.UTC && zone != nil:
		return m.localInstant(zone)
	}
	return validateYear(t)
}

// localInstant returns the instant of a local time. A time that the clocks skipped is an error; of a time that occurred
// twice it returns the first.
func (m moment) localInstant(zone *time.Location) (time.Time, error) {
	t := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, m.sec, m.nanosecond, zone)
	same := func(t time.Time) bool {
		return t.Hour() == m.hour && t.Minute() == m.minute && t.Day() == m.day
	}
	if !same(t) {
		return time.Time{}, fmt.Errorf("is a time that does not exist in %s, because the clocks were set forward", zone)
	}
	for _, shift := range []time.Duration{time.Hour, 30 * time.Minute} {
		if earlier := t.Add(-shift); same(earlier) {
			t = earlier
			break
		}
	}
	return validateYear(t.UTC())
}

func validateYear(t time.Time) (time.Time, error) {
	if y := t.Year(); y < yearMin || y > yearMax {
		return time.Time{}, fmt.Errorf("is in the year %d; years are %d to %d", y, yearMin, yearMax)
	}
	return t, nil
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// parseMoment reads dates in the formats that need no stated layout.
func parseMoment(text string, order dayOrder) (moment, error) {
	if m, ok := parseISO(text); ok {
		return m, nil
	}
	if text == "" {
		return moment{}, errNotDate
	}
	digits := countDigits(text)
	if digits == len(text) || digits >= 10 && text[digits] == '.' {
		return parseDigits(text, digits)
	}
	m, rest, err := parseDay(text, order)
	if err != nil {
		return moment{}, err
	}
	err = parseClock(&m, rest)
	return m, err
}

// parseISO is the fast path for 2006-01-02, 2006-01-02 15:04:05 and 2006-01-02T15:04:05Z.
func parseISO(s string) (moment, bool) {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return moment{}, false
	}
	var m moment
	if !parseTwoDigits(s[0:], &m.day) || !parseTwoDigits(s[2:], &m.month) {
		return moment{}, false
	}
	m.year = m.day*100 + m.month
	if !parseTwoDigits(s[5:], &m.month) || !parseTwoDigits(s[8:], &m.day) {
		return moment{}, false
	}
	if len(s) == 10 {
		return m, true
	}
	if len(s) < 19 || s[10] != 'T' && s[10] != ' ' || s[13] != ':' || s[16] != ':' ||
		!parseTwoDigits(s[11:], &m.hour) || !parseTwoDigits(s[14:], &m.minute) || !parseTwoDigits(s[17:], &m.sec) {
		return moment{}, false
	}
	m.timed = true
	switch s[19:] {
	case "":
		return m, true
	case "Z", " UTC":
		m.zoned = true
		return m, true
	}
	return moment{}, false
}

func parseTwoDigits(s string, n *int) bool {
	if !isDigit(s[0]) || !isDigit(s[1]) {
		return false
	}
	*n = int(s[0]-'0')*10 + int(s[1]-'0')
	return true
}

// parseDigits reads seconds or milliseconds since 1970, 20060102 and 20060102150405.
func parseDigits(text string, digits int) (moment, error) {
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil {
		return moment{}, errNotDate
	}
	switch {
	case digits == len(text) && digits == 8:
		return moment{year: int(n / 10000), month: int(n / 100 % 100), day: int(n % 100)}, nil
	case digits == len(text) && digits == 14:
		m := moment{year: int(n / 1e10), month: int(n / 1e8 % 100), day: int(n / 1e6 % 100), timed: true}
		m.hour, m.minute, m.sec = int(n/1e4%100), int(n/100%100), int(n%100)
		return m, nil
	case digits == 10:
		nanosecond, rest, err := cutFraction(text[digits:])
		if err != nil || rest != "" {
			return moment{}, errNotDate
		}
		return moment{unix: true, instant: time.Unix(n, int64(nanosecond)).UTC()}, nil
	case digits == 13 && digits == len(text):
		return moment{unix: true, instant: time.UnixMilli(n).UTC()}, nil
	}
	return moment{}, errNotDate
}

// parseDay reads the date at the start of a text.
func parseDay(text string, order dayOrder) (moment, string, error) {
	parts, marks, rest := splitDate(text)
	if len(parts) != 3 {
		return moment{}, "", errNotDate
	}
	if month, at := findMonthName(parts); at >= 0 {
		return parseNamedDay(parts, month, at, rest)
	}
	a, b, c := atoi(parts[0]), atoi(parts[1]), atoi(parts[2])
	if a < 0 || b < 0 || c < 0 || marks[0] != marks[1] || marks[0] == ' ' {
		return moment{}, "", errNotDate
	}
	switch {
	case len(parts[0]) == 4 && len(parts[1]) <= 2 && len(parts[2]) <= 2:
		return moment{year: a, month: b, day: c}, rest, nil
	case len(parts[0]) > 2 || len(parts[1]) > 2:
		return moment{}, "", errNotDate
	case marks[0] == '.' && len(parts[2]) == 2:
		return moment{day: a, month: b, year: century(c)}, rest, nil
	case len(parts[2]) != 4:
		return moment{}, "", errors.New("has a year of two digits; state the layout in the mapping")
	case marks[0] == '.':
		return moment{day: a, month: b, year: c}, rest, nil
	}
	return resolveOrder(a, b, c, order, rest)
}

// resolveOrder decides which of the first two numbers is the month.
func resolveOrder(a, b, year int, order dayOrder, rest string) (moment, string, error) {
	if order == orderUnknown {
		order = inferOrder(a, b)
	}
	switch {
	case order == dayFirst || a == b:
		return moment{day: a, month: b, year: year}, rest, nil
	case order == monthFirst:
		return moment{month: a, day: b, year: year}, rest, nil
	case a > 12 || b > 12:
		return moment{}, "", errImpossible
	}
	return moment{}, "", fmt.Errorf("may mean %d %s %d or %d %s %d; state the date layout in the mapping",
		b, time.Month(a), year, a, time.Month(b), year)
}

// inferOrder returns the order that two numbers imply by themselves: a number above 12 is a day.
func inferOrder(a, b int) dayOrder {
	switch {
	case a > 12 && b <= 12:
		return dayFirst
	case b > 12 && a <= 12:
		return monthFirst
	}
	return orderUnknown
}

func century(year int) int {
	if year >= twoDigitPivot {
		return 1900 + year
	}
	return 2000 + year
}

func atoi(s string) int {
	if s == "" || len(s) > 4 || !allDigits(s) {
		return -1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// splitDate splits the three parts of a date and the separators between them off a text. It drops a leading weekday.
func splitDate(text string) (parts []string, marks []byte, rest string) {
	for len(parts) < 3 && text != "" {
		end := countDigits(text)
		if end == 0 {
			end = countLetters(text)
		}
		if end == 0 {
			return nil, nil, ""
		}
		if len(parts) == 0 && isWeekday(text[:end]) {
			text = strings.TrimLeft(text[end:], "., ")
			continue
		}
		parts = append(parts, text[:end])
		text = text[end:]
		if len(parts) == 3 {
			break
		}
		if text == "" {
			return nil, nil, ""
		}
		mark := text[0]
		trimmed := strings.TrimLeft(text[1:], " ")
		if strings.IndexByte("/-., ", mark) < 0 {
			return nil, nil, ""
		}
		marks, text = append(marks, mark), trimmed
	}
	// Ordinals such as "2nd" are not supported; a comma after the year is.
	return parts, marks, strings.TrimLeft(strings.TrimPrefix(text, ","), " ")
}

// countLetters returns the length in bytes of the letters at the start of a text.
func countLetters(s string) int {
	if end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		return end
	}
	return len(s)
}

// findMonthName finds the part that is the name of a month.
func findMonthName(parts []string) (month, at int) {
	for i, p := range parts {
		if m := monthNames[fold(p)]; m > 0 {
			return m, i
		}
	}
	return 0, -1
}

func parseNamedDay(parts []string, month, at int, rest string) (moment, string, error) {
	m := moment{month: month}
	switch at {
	case 0: // Jan 2, 2006
		m.day, m.year = atoi(parts[1]), atoi(parts[2])
	case 1: // 2 Jan 2006, or 2006 Jan 2
		m.day, m.year = atoi(parts[0]), atoi(parts[2])
		if len(parts[0]) == 4 {
			m.day, m.year = m.year, m.day
		}
	}
	if m.day < 0 || m.year < 1000 || m.day > 31 {
		return moment{}, "", errNotDate
	}
	return m, rest, nil
}

// dateEvidence counts what the dates of a column imply about their order.
type dateEvidence struct{ dayFirst, monthFirst, dates, open, notDates int }

func (e *dateEvidence) observe(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	if _, err := parseMoment(text, dayFirst); err != nil {
		if _, err := parseMoment(text, monthFirst); err != nil {
			e.notDates++
			return
		}
	}
	e.dates++
	parts, marks, _ := splitDate(text)
	if len(parts) != 3 || len(parts[2]) != 4 || marks[0] == '.' {
		return
	}
	a, b := atoi(parts[0]), atoi(parts[1])
	if a < 1 || b < 1 || a > 31 || b > 31 {
		return
	}
	switch inferOrder(a, b) {
	case dayFirst:
		e.dayFirst++
	case monthFirst:
		e.monthFirst++
	default:
		if a != b {
			e.open++
		}
	}
}

func (e *dateEvidence) order() dayOrder {
	switch {
	case e.dayFirst > 0 && e.monthFirst == 0:
		return dayFirst
	case e.monthFirst > 0 && e.dayFirst == 0:
		return monthFirst
	}
	return orderUnknown
}
