package webhook

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/host"
	"github.com/bursarhq/bursar/internal/base/outbound"
	"github.com/bursarhq/bursar/internal/kernel/outbox"
)

const (
	// EndpointsMax is how many endpoints an organization can have.
	EndpointsMax = 100
	// TypesMax is how many types of events an endpoint can list.
	TypesMax = 100
	// URLMax and DescriptionMax are maximum lengths in characters.
	URLMax         = 2048
	DescriptionMax = 500

	typeMax = 100
)

// CreateParams describe a new endpoint.
type CreateParams struct {
	URL         string
	Description string
	Types       []string
	Ordered     bool
}

// UpdateParams are the requested changes; nil leaves a field as it is.
type UpdateParams struct {
	URL         *string
	Description *string
	Types       *[]string
	Ordered     *bool
}

// eventType matches a type of events, or all types of a group.
var eventType = regexp.MustCompile(`^[a-z][a-z0-9_]*\.([a-z][a-z0-9_]*|\*)$`)

// apply changes an endpoint and collects the faults of the changes.
func (s *Service) apply(faults *fault.List, e *Endpoint, p UpdateParams) {
	if p.URL != nil {
		e.URL = *p.URL
		s.checkURL(faults, e.URL)
	}
	if p.Description != nil {
		e.Description = strings.TrimSpace(*p.Description)
		if utf8.RuneCountInString(e.Description) > DescriptionMax {
			faults.Addf("description", "must have at most %d characters, not counting leading and trailing spaces", DescriptionMax)
		}
	}
	if p.Types != nil {
		e.Types = s.checkTypes(faults, *p.Types)
	}
	if p.Ordered != nil {
		e.Ordered = *p.Ordered
	}
}

// checkTypes collects the faults of a list of types, and returns it without repetitions.
func (s *Service) checkTypes(faults *fault.List, types []string) (out []string) {
	if len(types) > TypesMax {
		faults.Addf("types", "must have at most %d items", TypesMax)
		return nil
	}
	var known []string
	if s.types != nil {
		known = s.types()
	}
	for i, t := range types {
		stands := func(k string) bool { return outbox.Matches(t, k) }
		if len(t) > typeMax || !eventType.MatchString(t) {
			faults.Addf(fmt.Sprintf("types[%d]", i), "must be a type of events such as invoice.voided, or invoice.* for all of a kind, but is %q",
				cut(t, typeMax))
		} else if len(known) > 0 && !slices.ContainsFunc(known, stands) {
			faults.Addf(fmt.Sprintf("types[%d]", i), "there are no events of the type %q; /docs/events#types lists all types", t)
		} else if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// checkURL collects the faults of an address. A name is checked when a connection is made, because it may stand for another address then.
func (s *Service) checkURL(faults *fault.List, text string) {
	u, err := url.Parse(text)
	switch {
	case utf8.RuneCountInString(text) > URLMax:
		faults.Addf("url", "must have at most %d characters", URLMax)
	case err != nil || u.Hostname() == "" || u.Opaque != "" || !printable(text):
		faults.Addf("url", "must be an address such as https://example.com/webhooks")
	case u.Scheme != "https" && (u.Scheme != "http" || !s.config.AllowPrivate):
		faults.Addf("url", "must begin with https:// (http is for private networks, where the service is started with --allow-private-networks)")
	case u.User != nil:
		faults.Addf("url", "must not contain a user name or a password: what is sent is signed")
	case u.Fragment != "" || strings.Contains(text, "#"):
		faults.Addf("url", "must not contain a fragment (#)")
	default:
		if problem := host.URLProblem(u); problem != "" {
			faults.Addf("url", "%s", problem)
		} else if err := outbound.CheckHost(u.Hostname(), s.config.AllowPrivate); err != nil {
			faults.Addf("url", "%v", err)
		}
	}
}

// printable reports whether a text consists of ASCII characters that may be part of an address.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
