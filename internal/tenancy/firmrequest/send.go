package firmrequest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/naming"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/wording"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/tenancy/access"
	"github.com/bursarhq/bursar/internal/tenancy/firm"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

const (
	// MailsPerHour is how many messages a request may cause within an hour.
	MailsPerHour = 3

	// MailsPerDay is how many messages an address may get from one firm within a day, and mailsOfAll from all firms together, so that no firm
	// keeps another from asking.
	MailsPerDay = 20
	mailsOfAll  = 100
)

// CreateParams describe a request.
type CreateParams struct {
	ClientID     string
	Integrations []AskParams
	Message      string // to the client; may be empty
}

// AskParams describe an account that is asked for. The name is that of the provider unless it is given.
type AskParams struct{ Provider, Name string }

// Sent is a message with a new link of a request. It is sent first, and what came of it is stored with the request then.
type Sent struct {
	requestID string
	link      identity.Link
	at        time.Time
	accepted  bool
	stored    bool
}

// Check returns an error with every fault of a request. It reads two organizations, and must not run inside a database transaction.
func (s *Service) Check(ctx context.Context, p CreateParams) error {
	var faults fault.List
	var c firm.Client
	err := s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		_, err := s.check(ctx, tx, p)
		if err := faults.Merge(err); err != nil {
			return err
		}
		if c, err = firm.FindClient(ctx, tx, p.ClientID); fault.KindOf(err) == fault.NotFound {
			err = nil // it is among the faults
		}
		return err
	})
	if err == nil && c.Status == firm.Active && len(p.Integrations) == 0 {
		err = s.db.Read(ctx, c.OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			owners, err := access.OwnerEmails(ctx, tx)
			if err == nil && len(owners) > 0 {
				faults.Addf("integrations", "must have at least one item: the client %s has given access already", c.ID)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	return faults.Err()
}

// check returns a request as it is to be stored, or an error with every fault.
func (s *Service) check(ctx context.Context, tx *db.Tx, p CreateParams) (r Request, err error) {
	if _, err := firm.RequireFirm(ctx, tx); err != nil {
		return r, err
	}
	var faults fault.List
	p.Message = strings.ReplaceAll(strings.TrimSpace(p.Message), "\r\n", "\n")
	if utf8.RuneCountInString(p.Message) > messageMax {
		faults.Addf("message", "must have at most %d characters", messageMax)
	}
	if strings.ContainsFunc(p.Message, breaksQuote) {
		faults.Addf("message", "must have no control characters besides line feeds")
	}
	r = Request{ClientID: p.ClientID, Message: p.Message, Integrations: s.checkIntegrations(&faults, p.Integrations), Status: Pending,
		CreatedBy: actor.From(ctx).UserID}
	c, err := firm.FindClient(ctx, tx, p.ClientID)
	if err := faults.MergeMissing(err, "client_id"); err != nil {
		return r, err
	}
	if err == nil {
		r.Email = c.Email
		if err := checkClient(ctx, tx, &faults, c); err != nil {
			return r, err
		}
	}
	return r, faults.Err()
}

func checkClient(ctx context.Context, tx *db.Tx, faults *fault.List, c firm.Client) error {
	if c.Status == firm.Ended {
		faults.AddConflictf("client_id", "the client %s has ended: add it again as a new client to ask it for something", c.ID)
		return nil
	}
	pending, err := selectPendingOf(ctx, tx, c.ID)
	n := 0
	for _, r := range pending {
		if r.at(tx.Now()).Status == Pending {
			n++
		}
	}
	if n >= pendingMax {
		faults.AddConflictf("client_id", "the client %s has %d requests that are pending, which is the maximum: cancel some first", c.ID, n)
	}
	return err
}

// breaksQuote reports whether a character could end a line of the message without being a line feed, so that what follows would not look
// quoted in the mail.
func breaksQuote(r rune) bool {
	return unicode.IsControl(r) && r != '\n' || r == '\u2028' || r == '\u2029'
}

func (s *Service) checkIntegrations(faults *fault.List, asked []AskParams) []Integration {
	out := make([]Integration, len(asked))
	if len(asked) > integrationsMax {
		faults.Addf("integrations", "must have at most %d items", integrationsMax)
		return nil
	}
	for n, a := range asked {
		at := fmt.Sprintf("integrations[%d].", n)
		title, why := s.provider(a.Provider)
		if why != "" {
			faults.Addf(at+"provider", "%s", why)
		}
		name := strings.TrimSpace(a.Name)
		if problem := naming.Problem(name, nameMax); problem != "" { // it is in the text of the mail
			faults.Addf(at+"name", "%s", problem)
		}
		out[n] = Integration{Provider: a.Provider, Name: cmp.Or(name, title), Status: Waiting}
	}
	return out
}

// provider returns what people call a provider, or why nothing can be asked for there.
func (s *Service) provider(name string) (title, why string) {
	if name == source.File {
		return "Files", ""
	}
	names := []string{}
	for _, p := range s.Connections.Available() {
		switch {
		case p.Name == name && p.Unavailable != "":
			return p.Title, p.Unavailable
		case p.Name == name:
			return p.Title, ""
		case p.Unavailable == "":
			names = append(names, p.Name)
		}
	}
	return "", "must be file, or one of the providers of GET /v1/connections/providers: " + strings.Join(names, ", ")
}

// Prepare checks a request, makes its link and mails it. It must not run inside a database transaction, because the mail server may be
// slow. If the request is not created then, Discard must be called.
func (s *Service) Prepare(ctx context.Context, p CreateParams) (*Sent, error) {
	if err := s.Check(ctx, p); err != nil {
		return nil, err
	}
	return s.send(ctx, func(ctx context.Context, tx *db.Tx) (Request, error) {
		r, err := s.check(ctx, tx, p)
		r.ID = s.db.IDs().New(id.FirmRequest)
		return r, err
	})
}

// PrepareResend is Prepare for a request that exists. It returns a Conflict fault for one that has ended.
func (s *Service) PrepareResend(ctx context.Context, requestID string) (*Sent, error) {
	return s.send(ctx, func(ctx context.Context, tx *db.Tx) (Request, error) { return checkResend(ctx, tx, requestID) })
}

// CheckResend returns an error if a request cannot be sent again.
func (s *Service) CheckResend(ctx context.Context, requestID string) error {
	return s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		_, err := checkResend(ctx, tx, requestID)
		return err
	})
}

// checkResend returns a request with the address that it is to be sent to now.
func checkResend(ctx context.Context, tx *db.Tx, requestID string) (Request, error) {
	r, err := selectRequest(ctx, tx, requestID)
	if err != nil {
		return r, err
	}
	r = r.at(tx.Now())
	if err := r.requirePending("be sent again"); err != nil {
		return r, err
	}
	c, err := firm.FindClient(ctx, tx, r.ClientID)
	r.Email = c.Email
	return r, err
}

// send makes a link of the request that a function returns, and mails it.
func (s *Service) send(ctx context.Context, find func(context.Context, *db.Tx) (Request, error)) (*Sent, error) {
	out := &Sent{}
	var m mail.Message
	err := s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		r, err := find(ctx, tx)
		if err != nil {
			return err
		}
		if err := allowMail(ctx, tx, r); err != nil {
			return err
		}
		link, address, err := s.newLink(ctx, tx, r)
		if err != nil {
			return err
		}
		*out = Sent{requestID: r.ID, link: link}
		m, err = s.message(ctx, tx, r, link, address)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.accepted = s.Deliver != nil && s.Deliver(ctx, m)
	out.at = s.db.Clock().Now()
	return out, nil
}

func (s *Service) newLink(ctx context.Context, tx *db.Tx, r Request) (identity.Link, secret.Text, error) {
	return s.people.StoreLink(ctx, tx, identity.Link{Purpose: identity.FirmRequest, OrganizationID: tx.Organization(), InvitationID: r.ID,
		Email: r.Email}, Lifetime)
}

// allowMail returns a RateLimited fault if too many messages were sent for a request, or to its address. What other firms send is not told.
func allowMail(ctx context.Context, tx *db.Tx, r Request) error {
	for _, one := range []struct {
		identity.Allowance
		why string
	}{
		{identity.Allowance{Subject: "firm request\n" + r.ID, Most: MailsPerHour, Within: time.Hour},
			fmt.Sprintf("the request %s was sent %d times within an hour, which is the maximum", r.ID, MailsPerHour)},
		{identity.Allowance{Subject: "asked by\n" + tx.Organization() + "\n" + r.Email, Most: MailsPerDay, Within: 24 * time.Hour},
			fmt.Sprintf("you have sent %d requests to %s within a day, which is the maximum", MailsPerDay, r.Email)},
		{identity.Allowance{Subject: "asked\n" + r.Email, Most: mailsOfAll, Within: 24 * time.Hour},
			fmt.Sprintf("no request can be sent to %s at present", r.Email)},
	} {
		switch wait, err := one.Use(ctx, tx); {
		case err != nil:
			return err
		case wait > 0:
			return fault.RateLimitedf(wait, "%s: wait %s, then try again", one.why, wording.Duration(wait))
		}
	}
	return nil
}

// message returns the message with the link of a request.
func (s *Service) message(ctx context.Context, tx *db.Tx, r Request, link identity.Link, address secret.Text) (m mail.Message, err error) {
	f, err := firm.FindSettings(ctx, tx)
	if err != nil {
		return m, err
	}
	by, err := describeMember(ctx, tx, r.CreatedBy)
	if err != nil {
		return m, err
	}
	c, err := firm.FindClient(ctx, tx, r.ClientID)
	if err != nil {
		return m, err
	}
	if by != "" {
		by += " of "
	}
	var b strings.Builder
	asks := r.asks(c)
	fmt.Fprintf(&b, "%s%s %s at %s.\n", by, f.FirmName, asks.sentence(c.Name), s.people.PublicURL())
	switch {
	case len(r.Integrations) == 0:
	case asks == AsksAccess:
		b.WriteString("\nThen it asks you to connect:\n")
	default:
		b.WriteString("\nIt asks for:\n")
	}
	for _, i := range r.Integrations {
		fmt.Fprintf(&b, "- %s\n", i.described(s))
	}
	if r.Message != "" {
		fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(r.Message, "\n", "\n> "))
	}
	fmt.Fprintf(&b, "\nTo answer, open this link until %s:\n%s\n\nKeep the link to yourself: whoever has it can connect accounts to your "+
		"books. If you do not know what this is about, do nothing.\n", link.ExpiresAt.UTC().Format(time.RFC1123), address.Reveal())
	return mail.Message{To: []string{r.Email}, Subject: asks.title(f.FirmName), ExpiresAt: link.ExpiresAt, Text: b.String()}, nil
}

// described names an account for people.
func (i Integration) described(s *Service) string {
	if i.IsFile() {
		return "Files to upload: " + i.Name
	}
	if title, _ := s.provider(i.Provider); title != i.Name {
		return fmt.Sprintf("%s: %s", title, i.Name)
	}
	return i.Name
}

// Discard deletes the link of a message if nothing was stored for it.
func (s *Service) Discard(ctx context.Context, m *Sent) error {
	if m == nil || m.stored {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := selectRequest(ctx, tx, m.requestID); fault.KindOf(err) != fault.NotFound {
			return err // the link of a request that exists works as long as that
		}
		return identity.DeleteInvitationLinks(ctx, tx, m.requestID)
	})
}

// Create stores the request whose link was mailed.
func (s *Service) Create(ctx context.Context, p CreateParams, m *Sent) (r Request, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		if r, err = s.check(ctx, tx, p); err != nil || m == nil { // without a message, only the faults are looked for
			return err
		}
		r.ID, r.OrganizationID = m.requestID, tx.Organization()
		r.RequestedAt, r.CreatedAt, r.ExpiresAt = tx.Now(), tx.Now(), m.link.ExpiresAt
		r = r.with(m)
		if err := insertRequest(ctx, tx, r); err != nil {
			return err
		}
		audit.Record(ctx, tx, audit.Change{Action: "firm_request.created", ResourceType: "firm_request", ResourceID: r.ID, After: r.facts(),
			Object: r})
		if r.EmailSent {
			audit.Record(ctx, tx, audit.Change{Action: "firm_request.sent", ResourceType: "firm_request", ResourceID: r.ID, Before: r.facts(),
				After: r.facts(), Object: r})
		}
		tx.AfterCommit(func() { m.stored = true })
		return nil
	})
	return r, err
}

// with returns the request with what came of a message.
func (r Request) with(m *Sent) Request {
	if r.EmailSent = m.accepted; m.accepted {
		r.EmailSentAt = &m.at
	}
	return r
}

// Resend stores that a new link of a request was mailed. The former one stops working.
func (s *Service) Resend(ctx context.Context, requestID string, m *Sent) (r Request, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		if _, err := orgstate.Lock(ctx, tx); err != nil {
			return err
		}
		before, err := selectRequest(ctx, tx, requestID)
		if err != nil {
			return err
		}
		after, err := checkResend(ctx, tx, requestID)
		if r = after; err != nil || m == nil {
			return err
		}
		now := tx.Now()
		after.RequestedAt, after.ExpiresAt, after.UpdatedAt = now, m.link.ExpiresAt, &now
		after = after.with(m)
		action := "firm_request.sent"
		if !after.EmailSent {
			action = "firm_request.updated"
		}
		r = after
		tx.AfterCommit(func() { m.stored = true })
		if err := identity.DeleteFormerLinks(ctx, tx, requestID, m.link); err != nil {
			return err
		}
		return store(ctx, tx, action, before, r)
	})
	return r, err
}
