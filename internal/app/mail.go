package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/mail"
	"github.com/bursarhq/bursar/internal/base/newfile"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/job"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

// MailFolder is the name of the folder with messages that could not be sent, in the data folder.
const MailFolder = "mail"

// mailJob sends a message. It is sealed, because messages contain links that let people in.
type mailJob struct {
	Sealed string `json:"sealed"`
}

// Kind returns the name of the job.
func (mailJob) Kind() string { return "sealed_mail" }

// plainMail is a job of the version before, which did not seal messages.
type plainMail mail.Message

// Kind returns the name of the job.
func (plainMail) Kind() string { return "mail" }

const mailFor = "mail"

// queueMail sends a message after the database transaction.
func (a *App) queueMail(ctx context.Context, tx *db.Tx, m mail.Message) error {
	m.ID, m.WrittenAt = a.DB.IDs().New(id.Mail), tx.Now()
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	sealed, err := a.config.Secrets.Seal(secret.New(string(content)), mailFor)
	if err != nil {
		return err
	}
	return a.queue(ctx, tx, mailJob{sealed})
}

// queue stores a job in a database transaction.
func (a *App) queue(ctx context.Context, tx *db.Tx, j job.Args) error {
	jobs, err := a.jobs()
	if err != nil {
		return err
	}
	return jobs.Insert(ctx, tx, j)
}

// queueReset mails a link to set a new password after the database transaction.
func (a *App) queueReset(ctx context.Context, tx *db.Tx, r identity.ResetRequest) error {
	return a.queue(ctx, tx, r)
}

// handleMail registers the jobs that send messages.
func (a *App) handleMail(workers *job.Workers) {
	job.HandleAttempt(workers, func(ctx context.Context, j mailJob, attempt int) error {
		content, err := a.config.Secrets.Open(j.Sealed, mailFor)
		if err != nil {
			return err
		}
		var m mail.Message
		if err := json.Unmarshal([]byte(content.Reveal()), &m); err != nil {
			return err
		}
		return a.sendMail(ctx, m, attempt)
	})
	job.HandleAttempt(workers, func(ctx context.Context, j plainMail, attempt int) error {
		return a.sendMail(ctx, mail.Message(j), attempt)
	})
}

// mailAttemptsMax is how often a message is sent before it is written to a file. The pauses grow, to 17 hours in all: longer than a server
// is down whose operator notices.
const mailAttemptsMax = 12

// sendMail sends a message, or writes it to a file if no server is configured or it cannot be sent. An error means that it is sent again
// later.
func (a *App) sendMail(ctx context.Context, m mail.Message, attempt int) error {
	if a.config.Mail == nil {
		return a.keepMail(m, "")
	}
	now := a.DB.Clock().Now()
	if attempt > 1 && !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt) {
		return a.keepMail(m, "the link in it expired before the server accepted it")
	}
	err := a.config.Mail.Send(ctx, m, now)
	if err == nil {
		return nil
	}
	reason := withoutLinks(err.Error(), m.Text)
	var final *mail.Refusal
	switch {
	case errors.As(err, &final):
		return a.keepMail(m, reason)
	case attempt >= mailAttemptsMax:
		return a.keepMail(m, fmt.Sprintf("after %d attempts: %s", attempt, reason))
	case ctx.Err() != nil: // the process stops
		return ctx.Err()
	}
	return errors.New(reason)
}

// withoutLinks returns what a server has answered without the links of a message, which filters for spam like to quote: answers are logged,
// and who has a link is let in.
func withoutLinks(answer, text string) string {
	for _, word := range strings.Fields(text) {
		if end := word[strings.LastIndexByte(word, '/')+1:]; strings.Contains(word, "://") && end != "" {
			answer = strings.ReplaceAll(answer, end, "(link)")
		}
	}
	return answer
}

// keepMail writes a message to the folder for mail, for an operator who has configured no server, or whose server did not accept the
// message for a reason. The log says where, and nothing of what the message says.
func (a *App) keepMail(m mail.Message, reason string) error {
	about := []any{"to", strings.Join(m.To, ", ")}
	if reason != "" {
		about = append(about, "reason", reason)
	}
	if a.config.MailFolder == "" {
		a.log.Warn("a message was not sent, and no folder for mail is configured", about...)
		return nil
	}
	if err := os.MkdirAll(a.config.MailFolder, mailFolderMode); err != nil {
		return err
	}
	now := a.DB.Clock().Now().UTC()
	path := filepath.Join(a.config.MailFolder, fmt.Sprintf("%s-%s.eml", now.Format("20060102T150405.000Z"), a.DB.IDs().New(id.Mail)))
	if err := newfile.Write(path, func(f *os.File) error { return m.WriteFile(f, a.mailFrom(), now, reason) }); err != nil {
		return err
	}
	if about = append(about, "file", path); reason != "" {
		a.log.Error("a message could not be sent: it was written to a file", about...)
	} else {
		a.log.Info("no mail server is configured: a message was written to a file", about...)
	}
	return nil
}

const mailFolderMode = 0o700

// mailFrom returns who messages are from. Without configuration, it is an address of the host that people know the service by.
func (a *App) mailFrom() mail.Sender {
	switch {
	case a.config.Mail != nil:
		return a.config.Mail.From()
	case a.config.MailFrom != nil:
		return *a.config.MailFrom
	}
	host := "localhost"
	if at, err := url.Parse(a.config.PublicURL); err == nil && at.Hostname() != "" {
		host = at.Hostname()
	}
	from, err := mail.ParseSender("Bursar <bursar@" + host + ">")
	if err != nil { // the host is an IPv6 address
		from, _ = mail.ParseSender("Bursar <bursar@localhost>")
	}
	return from
}
