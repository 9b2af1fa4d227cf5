package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// VerifyOptions say what Verify verifies.
type VerifyOptions struct {
	// OrganizationID is the only organization to verify; empty means all.
	OrganizationID string

	// Since leaves out what has not changed after an audit record, or since a time: only the audit log from there on is verified, and
	// the resources that its records state.
	Since Since

	// AnchorFiles are compared with the audit logs of their organizations.
	AnchorFiles

	// Progress is called with how much is done, of a total; nil means that it is not.
	Progress func(done, total int64)

	// Verified is called for each organization with the number of audit records that were read; nil means that it is not.
	Verified func(organizationID string, records int64)
}

// Since is where a verification starts in the audit log; the zero value is its beginning. Each organization numbers its records by
// itself, so a sequence number is for one organization only.
type Since struct {
	Sequence int64
	Time     time.Time
}

// Finding is one broken invariant.
type Finding struct {
	OrganizationID string // empty if it concerns no organization
	Text           string
}

// concerns reports whether an organization is to be verified.
func (o *VerifyOptions) concerns(organizationID string) bool {
	return o.OrganizationID == "" || o.OrganizationID == organizationID
}

// Compared returns the anchors of the organizations that are verified.
func (o *VerifyOptions) Compared() (out []audit.Anchor) {
	for _, anchor := range o.Anchors {
		if o.concerns(anchor.OrganizationID) {
			out = append(out, anchor)
		}
	}
	return out
}

// Verify recomputes every invariant of every organization, or what the options say. It returns an Invalid fault for a start by sequence
// number if there are several organizations and none is named, and a NotFound fault if the one that is named has left no trace.
func (a *App) Verify(ctx context.Context, o *VerifyOptions) ([]Finding, error) {
	if o == nil {
		o = &VerifyOptions{}
	}
	ids, err := a.Org.IDs(ctx)
	if err != nil {
		return nil, err
	}
	if o.Since.Sequence > 0 && o.OrganizationID == "" && len(ids) > 1 {
		return nil, fault.Invalidf("since", "is the number of an audit record, and each of the %d organizations numbers its own: name one of "+
			"them, such as %s, or give a date or a time", len(ids), ids[0])
	}
	out, err := a.findDeleted(ctx, o, ids)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 && o.OrganizationID != "" && !slices.Contains(ids, o.OrganizationID) {
		return nil, fault.Missing("organization")
	}
	for _, text := range o.Damaged {
		out = append(out, Finding{"", text})
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !o.concerns(id) })
	for i, id := range ids {
		v := verifier{VerifyOptions: *o, organizationID: id, base: int64(i) * stepsEach, total: int64(len(ids)) * stepsEach}
		err := a.DB.Read(ctx, id, v.run)
		if fault.KindOf(err) == fault.NotFound {
			v.found = append(v.found, Finding{id, "the row of the organization in organization_state does not exist: it was deleted outside " +
				"Bursar, and nothing else of the organization can be verified"})
			err = nil
		}
		if out = append(out, v.found...); err != nil {
			return out, err
		}
	}
	return out, nil
}

// findDeleted returns a finding for each anchor and each audit log of an organization that does not exist.
func (a *App) findDeleted(ctx context.Context, o *VerifyOptions, ids []string) (out []Finding, err error) {
	for _, anchor := range o.Compared() {
		if !slices.Contains(ids, anchor.OrganizationID) {
			out = append(out, Finding{anchor.OrganizationID, fmt.Sprintf("the organization, %s, is not in this database, but %s was kept: it was "+
				"deleted outside Bursar, or the anchor is of another database", anchor.Organization, anchor)})
		}
	}
	recorded, err := a.Audit.OrganizationIDs(ctx)
	for _, id := range recorded {
		if o.concerns(id) && !slices.Contains(ids, id) {
			out = append(out, Finding{id, "the organization is not in this database, but its audit log is: it was deleted outside Bursar"})
		}
	}
	return out, err
}

// VerifyOrganization recomputes every invariant of an organization.
func (a *App) VerifyOrganization(ctx context.Context, organizationID string) ([]Finding, error) {
	v := verifier{organizationID: organizationID}
	err := a.DB.Read(ctx, organizationID, v.run)
	return v.found, err
}

// stepsEach is how finely the progress of one organization is reported.
const stepsEach = 1000

// verifier verifies one organization.
type verifier struct {
	VerifyOptions
	organizationID string
	found          []Finding
	base, total    int64 // of the progress
}

// report reports the progress within one of the checks.
func (v *verifier) report(check int, done, of int64) {
	if v.Progress != nil {
		v.Progress(v.base+(int64(check)*stepsEach+stepsEach*done/max(of, 1))/int64(len(checks)+1), v.total)
	}
}

func (v *verifier) run(ctx context.Context, tx *db.Tx) error {
	for _, anchor := range v.Anchors {
		if anchor.OrganizationID == v.organizationID {
			if err := v.check(ctx, tx, anchor.Verify); err != nil {
				return err
			}
		}
	}
	after, err := v.start(ctx, tx)
	if err != nil || after < 0 {
		return err
	}
	err = v.check(ctx, tx, func(ctx context.Context, tx *db.Tx) ([]string, error) {
		return audit.VerifySince(ctx, tx, after, func(done, of int64) { v.report(0, done, of) })
	})
	if err != nil || v.Since != (Since{}) {
		return err
	}
	for i, check := range checks {
		if err := v.check(ctx, tx, check); err != nil {
			return err
		}
		v.report(i+1, 1, 1)
	}
	return nil
}

// start returns the number of the audit record after which to verify, or -1 if there is nothing to verify.
func (v *verifier) start(ctx context.Context, tx *db.Tx) (after int64, err error) {
	s, err := orgstate.Read(ctx, tx)
	if err != nil {
		return 0, err
	}
	if after = v.Since.Sequence; !v.Since.Time.IsZero() {
		if after, err = audit.SequenceBefore(ctx, tx, v.Since.Time); err != nil {
			return 0, err
		}
	}
	if after > s.AuditSequence {
		v.found = append(v.found, Finding{v.organizationID, fmt.Sprintf("audit log: the last record is %d, before the record %d from which to "+
			"verify: records were removed, or the number is wrong", s.AuditSequence, after)})
		return -1, nil
	}
	if v.Verified != nil {
		v.Verified(v.organizationID, s.AuditSequence-after)
	}
	return after, nil
}

// check runs a check. Data that it cannot even read, because somebody has damaged them, are a finding like others.
func (v *verifier) check(ctx context.Context, tx *db.Tx, check func(context.Context, *db.Tx) ([]string, error)) (err error) {
	add := func(texts ...string) {
		for _, text := range texts {
			v.found = append(v.found, Finding{v.organizationID, text})
		}
	}
	defer func() {
		if p := recover(); p != nil {
			add(fmt.Sprintf("something stored cannot be read: %v", p))
			err = nil
		}
	}()
	texts, err := check(ctx, tx)
	add(texts...)
	if err == nil || ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable {
		return err
	}
	add(fmt.Sprintf("something stored cannot be read: %v", err))
	return nil
}
