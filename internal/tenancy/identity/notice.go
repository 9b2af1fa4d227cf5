package identity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/wording"
	"github.com/bursarhq/bursar/internal/db"
)

// notice is a message to a person about what has happened to their account, so that they can react if it was somebody else.
type notice struct {
	to      string
	subject string
	what    string // one sentence or more
	origin  Origin // where the request came from; empty if that is not known, or for the operator of the service
	remedy  string // what to do if it was somebody else; empty means to set a new password
	advice  string // instead of that, if nobody can say whether it was them
}

// notify queues a notice. It says when it happened and, if that is known, from which address and in which browser.
func (s *Service) notify(ctx context.Context, tx *db.Tx, n notice) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nService: %s\nWhen: %s\n", n.what, s.config.PublicURL, tx.Now().UTC().Format(time.RFC1123))
	if n.origin.Address != "" {
		fmt.Fprintf(&b, "From: %s, %s\n", n.origin.Address, wording.Browser(n.origin.UserAgent))
	}
	if n.remedy == "" {
		n.remedy = fmt.Sprintf("set a new password now, at %s/forgot-password\nThen check how you sign in, and where you are signed in, at "+
			"%[1]s/account", s.config.PublicURL)
	}
	if n.advice == "" {
		n.advice = "If that was not you, " + n.remedy
	}
	fmt.Fprintf(&b, "\n%s\n", n.advice)
	return s.sendMessage(ctx, tx, mail.Message{To: []string{n.to}, Subject: n.subject, Text: b.String()})
}

// NotifyAppEnded tells a person that an app no longer acts for them, because somebody has used a code or a token of it that was used
// before: it may have been stolen. It is a building block.
func (s *Service) NotifyAppEnded(ctx context.Context, tx *db.Tx, email, app, organization string) error {
	return s.notify(ctx, tx, notice{to: email, subject: "An app was disconnected",
		what: fmt.Sprintf("The app \"%s\" no longer acts for you in the books of %s: a code or a token of it that works once was used twice. "+
			"That happens if it was stolen, and sometimes because the app has made a mistake.", app, organization),
		advice: fmt.Sprintf("If you trust the app, connect it again; if it happens again, ask who makes it. Otherwise leave it disconnected, "+
			"and check which apps act for you, at %s/account", s.config.PublicURL)})
}

// send queues a message to a person without a link that expires.
func (s *Service) send(ctx context.Context, tx *db.Tx, to, subject, format string, args ...any) error {
	return s.sendMessage(ctx, tx, mail.Message{To: []string{to}, Subject: subject, Text: fmt.Sprintf(format, args...)})
}

// sendMessage queues a message. Nothing is sent if no mail is configured.
func (s *Service) sendMessage(ctx context.Context, tx *db.Tx, m mail.Message) error {
	if s.Send == nil {
		return nil
	}
	return s.Send(ctx, tx, m)
}
