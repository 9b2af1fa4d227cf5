package mail

import (
	"errors"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/secure/precis"

	"github.com/bursarhq/bursar/internal/base/host"
)

// NormalAddress returns the one form of an address that is stored, compared and sent to, however it is written: letters are lower-case and
// composed, and a domain is in letters instead of in the code of the DNS. The error says what is wrong with an address, to follow the name
// of its field.
func NormalAddress(address string) (string, error) {
	name, domain, ok := cutAddress(address)
	if !ok {
		return "", errors.New("must have an @")
	}
	name = strings.ToLower(name)
	if !ascii(name) {
		var err error
		if name, err = precis.UsernameCaseMapped.String(name); err != nil {
			return "", errors.New("must have letters, digits and ordinary signs before the @")
		}
	}
	coded, err := idna.Lookup.ToASCII(domain)
	if err != nil || coded == "" {
		return "", errors.New("must have the name of a domain after the @")
	}
	if problem := host.Problem(coded); problem != "" {
		return "", errors.New("must have the name of a domain that can exist after the @: " + problem)
	}
	plain, err := idna.Lookup.ToUnicode(coded)
	if err != nil {
		return "", errors.New("must have the name of a domain after the @")
	}
	return name + "@" + plain, nil
}

// wire returns an address as it is sent. Its domain is in the code of the DNS, which every server understands, unless the part before the @
// has letters beyond ASCII as well: then only servers with SMTPUTF8 understand the address in any case.
func wire(address string) string {
	name, domain, ok := cutAddress(address)
	if !ok || !ascii(name) {
		return address
	}
	coded, err := idna.Lookup.ToASCII(domain)
	if err != nil {
		return address
	}
	return name + "@" + coded
}

// cutAddress returns the parts before and after the last @.
func cutAddress(address string) (name, domain string, ok bool) {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return "", "", false
	}
	return address[:at], address[at+1:], true
}

func ascii(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
