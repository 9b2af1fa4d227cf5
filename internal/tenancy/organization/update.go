package organization

import (
	"context"
	"net/url"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/naming"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
)

// Maximum lengths in characters.
const (
	nameMax = 100
	urlMax  = 2048
)

// UpdateParams are the requested changes; nil leaves a field as it is, and an empty address or logo clears it.
type UpdateParams struct {
	Name       *string
	Timezone   *string
	TimeFormat *string
	WebAddress *string
	LogoURL    *string
}

// Update changes the profile. It writes nothing if nothing changes.
func (s *Service) Update(ctx context.Context, p UpdateParams) (after Organization, err error) {
	if err := p.validate(); err != nil {
		return after, err
	}
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		// Lock the organization state first: other writers hold that lock while they write rows that refer to the
		// organization, and would otherwise deadlock with this one.
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := lock(ctx, tx)
		if err != nil {
			return err
		}
		after = p.apply(before)
		if reflect.DeepEqual(before, after) {
			return nil
		}
		if before.Timezone != after.Timezone {
			moved, err := period.ChangeTimezone(ctx, tx, after.Timezone, journal.MoveToPeriod)
			if err != nil {
				return err
			}
			for _, fn := range s.periodsMoved {
				if err := fn(ctx, tx, moved); err != nil {
					return err
				}
			}
		}
		now := tx.Now()
		after.UpdatedAt = &now
		if err := orgstate.UpdateOrganization(ctx, tx, toRow(after)); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "organization.updated", ResourceType: "organization", ResourceID: after.ID,
			Before: before.facts(), After: after.facts()})
		return nil
	})
	return after, err
}

func (p UpdateParams) apply(o Organization) Organization {
	set := func(field *string, to *string) {
		if to != nil {
			*field = *to
		}
	}
	set(&o.Name, p.Name)
	set(&o.Timezone, p.Timezone)
	set(&o.TimeFormat, p.TimeFormat)
	set(&o.WebAddress, p.WebAddress)
	set(&o.LogoURL, p.LogoURL)
	return o
}

func (p UpdateParams) validate() error {
	var faults fault.List
	if p.Name != nil {
		ValidateName(&faults, "name", *p.Name)
	}
	if p.Timezone != nil {
		ValidateZone(&faults, "timezone", *p.Timezone)
	}
	if p.TimeFormat != nil && *p.TimeFormat != TimeFormat12 && *p.TimeFormat != TimeFormat24 {
		faults.Addf("time_format", "must be %s or %s", TimeFormat12, TimeFormat24)
	}
	for name, value := range map[string]*string{"web_address": p.WebAddress, "logo_url": p.LogoURL} {
		if value != nil {
			ValidateAddress(&faults, name, *value)
		}
	}
	return faults.Err()
}

// ValidateAddress accepts an empty text and addresses that are safe as a link on a page: those with the scheme javascript, for example, are
// not.
func ValidateAddress(faults *fault.List, field, address string) {
	if utf8.RuneCountInString(address) > urlMax {
		faults.Addf(field, "must have at most %d characters", urlMax)
		return
	}
	if address != "" && !isLink(address) {
		faults.Addf(field, "must be an address with http or https such as https://example.com, without a user name, but is %q", address)
	}
}

// isLink reports whether an address is safe as a link on a page.
func isLink(address string) bool {
	at, err := url.Parse(address)
	return err == nil && (at.Scheme == "http" || at.Scheme == "https") && at.Hostname() != "" && at.User == nil &&
		!strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// Link returns an address as it may be shown: nothing in place of one that was stored before addresses were required to be safe as a link.
// What is stored stays, because the audit log states it.
func Link(address string) string {
	if !isLink(address) {
		return ""
	}
	return address
}

// Validate collects every fault, before anything is created.
func (p CreateParams) Validate() error {
	var faults fault.List
	ValidateName(&faults, "organization", p.Name)
	ValidateZone(&faults, "timezone", p.Timezone)
	if !p.WithoutOwner {
		_, err := access.NormalEmail(p.Email)
		_ = faults.Merge(err)
	}
	if !money.IsFiat(p.Currency) {
		faults.Addf("currency", "must be an ISO 4217 currency such as USD")
	}
	return faults.Err()
}

// ValidateName collects the faults of the name of an organization, or of what is called like one.
func ValidateName(faults *fault.List, field, name string) {
	if problem := naming.Problem(name, nameMax); problem != "" {
		faults.Addf(field, "%s", problem)
	}
	if strings.TrimSpace(name) == "" {
		faults.Addf(field, "must not be empty")
	}
}

// ValidateZone accepts only names of the IANA database. Go also accepts "", "Local" and any file in the machine's zone
// folder.
func ValidateZone(faults *fault.List, field, zone string) {
	_, err := time.LoadLocation(zone)
	if err != nil || zone == "" || zone == "Local" || strings.HasPrefix(zone, "posix") || strings.HasPrefix(zone, "right/") {
		faults.Addf(field, "must be an IANA time zone such as Europe/Berlin")
	}
}
