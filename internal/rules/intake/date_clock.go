package intake

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// parseClock reads an optional time of day and zone after a date.
func parseClock(m *moment, text string) error {
	text = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(text, "T"), ","), " ")
	if text == "" {
		return nil
	}
	if cut, ok := cutWord(text, "at"); ok {
		text = cut
	}
	rest, err := cutTime(m, text)
	if err != nil {
		return err
	}
	m.timed = true
	rest = strings.TrimLeft(rest, " \u00a0\u202f")
	if rest, err = cutMeridiem(m, rest); err != nil {
		return err
	}
	return parseZone(m, strings.TrimSpace(rest))
}

// cutTime reads 15:04, 15:04:05 or 15:04:05.999.
func cutTime(m *moment, text string) (string, error) {
	places := []*int{&m.hour, &m.minute, &m.sec}
	for i, index := range places {
		n := countDigits(text)
		if n < 1 || n > 2 || i > 0 && n != 2 {
			return "", errNotDate
		}
		*index = atoi(text[:n])
		text = text[n:]
		if i == len(places)-1 || !strings.HasPrefix(text, ":") {
			if i == 0 {
				return "", errNotDate
			}
			break
		}
		text = text[1:]
	}
	var err error
	m.nanosecond, text, err = cutFraction(text)
	return text, err
}

// cutFraction reads .999 at the start of a text, to the nanosecond.
func cutFraction(text string) (int, string, error) {
	if text == "" || text[0] != '.' && text[0] != ',' {
		return 0, text, nil
	}
	n := countDigits(text[1:])
	if n == 0 {
		return 0, "", errNotDate
	}
	nanosecond := 0
	for i := range 9 {
		nanosecond *= 10
		if i < n {
			nanosecond += int(text[1+i] - '0')
		}
	}
	return nanosecond, text[1+n:], nil
}

// cutMeridiem reads AM or PM.
func cutMeridiem(m *moment, text string) (string, error) {
	for _, half := range []string{"AM", "PM", "a.m.", "p.m."} {
		rest, ok := cutWord(text, half)
		if !ok {
			continue
		}
		if m.hour < 1 || m.hour > 12 {
			return "", fmt.Errorf("has the hour %d, which does not fit %s", m.hour, half)
		}
		m.hour %= 12
		if half[0]|0x20 == 'p' {
			m.hour += 12
		}
		return rest, nil
	}
	return text, nil
}

// cutWord removes a word from the start of a text, ignoring case.
func cutWord(text, word string) (string, bool) {
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return text, false
	}
	rest := text[len(word):]
	if rest != "" && rest[0] != ' ' && rest[0] != '(' {
		return text, false
	}
	return strings.TrimLeft(rest, " "), true
}

// zones are abbreviations that mean the same offset everywhere. CST, IST and BST do not and are refused.
var zones = map[string]int{
	"Z": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CDT": -5, "MDT": -6, "PST": -8, "PDT": -7,
	"CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "EEST": 3, "WET": 0, "WEST": 1, "JST": 9, "HKT": 8, "SGT": 8, "KST": 9,
}

func parseZone(m *moment, text string) error {
	if text == "" {
		return nil
	}
	m.zoned = true
	if hours, ok := zones[strings.ToUpper(text)]; ok {
		m.offset = hours * 3600
		return nil
	}
	for _, prefix := range []string{"UTC", "GMT"} {
		text = strings.TrimPrefix(text, prefix)
	}
	if text[0] != '+' && text[0] != '-' && !strings.HasPrefix(text, "−") {
		return fmt.Errorf("has the time zone %q, which is unknown or ambiguous; export with an offset such as +01:00, or in UTC",
			shorten(text))
	}
	sign := 1
	if text[0] != '+' {
		sign = -1
	}
	_, n := utf8.DecodeRuneInString(text)
	digits := strings.Replace(text[n:], ":", "", 1)
	if len(digits) == 1 || len(digits) == 3 {
		digits = "0" + digits
	}
	if len(digits) == 2 {
		digits += "00"
	}
	clock := atoi(digits)
	if len(digits) != 4 || clock < 0 || clock/100 > 14 || clock%100 > 59 {
		return errors.New("has a time zone that does not exist")
	}
	m.offset = sign * (clock/100*3600 + clock%100*60)
	return nil
}

func isWeekday(word string) bool { return weekdays[fold(word)] }

var weekdays = words("mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday " +
	"mo montag di dienstag mi mittwoch do donnerstag fr freitag sa samstag so sonntag " +
	"lun lundi mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche " +
	"lunes martes mie miercoles jue jueves vie viernes sab sabado dom domingo")

// monthNames maps month names in English, German, French and Spanish, folded, to their numbers.
var monthNames = func() map[string]int {
	names := map[string]int{}
	for i, line := range []string{
		"jan january januar janv janvier ene enero", "feb february februar fev fevr fevrier febrero",
		"mar march maerz marz mrz mars marzo", "apr april avr avril abr abril", "may mai mayo",
		"jun june juni juin junio", "jul july juli juil juillet julio", "aug august aou aout ago agosto",
		"sep sept september septembre septiembre", "oct october okt oktober octobre octubre",
		"nov november novembre noviembre", "dec december dez dezember decembre dic diciembre",
	} {
		for name := range strings.FieldsSeq(line) {
			names[name] = i + 1
		}
	}
	return names
}()

func words(line string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(line) {
		set[w] = true
	}
	return set
}

// accentFolder removes the accents used in those languages.
var accentFolder = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "à", "a", "â", "a", "á", "a", "ç", "c", "é", "e",
	"è", "e", "ê", "e", "ë", "e", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ó", "o", "ô", "o", "ú", "u", "ù", "u", "û", "u")

// fold normalizes a word for comparison: lower case, without accents.
func fold(word string) string { return accentFolder.Replace(strings.ToLower(word)) }

// quoteMax bounds how much of a file's text a message quotes.
const quoteMax = 80

// shorten truncates a text for use in a message.
func shorten(text string) string {
	if len(text) <= quoteMax {
		return text
	}
	return strings.ToValidUTF8(text[:quoteMax], "") + "…"
}
