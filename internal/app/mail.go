package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

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
	job.Handle(workers, func(ctx context.Context, j mailJob) error {
		content, err := a.config.Secrets.Open(j.Sealed, mailFor)
		if err != nil {
			return err
		}
		var m mail.Message
		if err := json.Unmarshal([]byte(content.Reveal()), &m); err != nil {
			return err
		}
		return a.sendMail(ctx, m)
	})
	job.Handle(workers, func(ctx context.Context, j plainMail) error { return a.sendMail(ctx, mail.Message(j)) })
}

// sendMail sends a message, or writes it to a file if no server is configured.
func (a *App) sendMail(ctx context.Context, m mail.Message) error {
	if a.config.Mail != nil {
		return a.config.Mail.Send(ctx, m, a.DB.Clock().Now())
	}
	return a.keepMail(m)
}

// keepMail writes a message to the folder for mail, for an operator who has configured no server. The log says where, and nothing of what
// the message says.
func (a *App) keepMail(m mail.Message) error {
	if a.config.MailFolder == "" {
		a.log.Warn("a message was not sent: no mail server and no folder for mail is configured", "subject", m.Subject)
		return nil
	}
	if err := os.MkdirAll(a.config.MailFolder, mailFolderMode); err != nil {
		return err
	}
	now := a.DB.Clock().Now().UTC()
	path := filepath.Join(a.config.MailFolder, fmt.Sprintf("%s-%s.eml", now.Format("20060102T150405.000Z"), a.DB.IDs().New(id.Request)))
	if err := newfile.Write(path, func(f *os.File) error { return m.WriteFile(f, now) }); err != nil {
		return err
	}
	a.log.Info("no mail server is configured: a message was written to a file", "file", path, "subject", m.Subject)
	return nil
}

const mailFolderMode = 0o700
