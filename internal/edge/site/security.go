package site

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image/png"
	"net/http"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
	"github.com/bursarhq/bursar/internal/base/wording"
	"github.com/bursarhq/bursar/internal/tenancy/identity"
)

func (s *Site) showAuthenticator(v *visit) error {
	return v.show(http.StatusOK, "authenticator", shown{Title: "Authenticator app"})
}

// enrollment is what a person enters into their authenticator app.
type enrollment struct {
	Ticket  string // by which the form says which secret it shows
	Grouped string // the secret with spaces, for people who type it
	Picture template.URL
	Link    template.URL // opens the authenticator app of a phone
}

func newEnrollment(e identity.Enrollment) (enrollment, error) {
	picture, err := qrCode(e.URL)
	grouped := ""
	for i, c := range e.Secret.Reveal() {
		if i > 0 && i%4 == 0 {
			grouped += " "
		}
		grouped += string(c)
	}
	return enrollment{Ticket: e.Ticket.Reveal(), Grouped: grouped, Picture: picture, Link: template.URL(e.URL.Reveal())}, err
}

// qrSize is how many pixels the picture is wide, for sharp edges also on screens with small pixels.
const qrSize = 480

// qrCode returns a picture that is part of the page.
func qrCode(text secret.Text) (template.URL, error) {
	code, err := qr.Encode(text.Reveal(), qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	if code, err = barcode.Scale(code, qrSize, qrSize); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, code); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

func (s *Site) beginAuthenticator(v *visit) error {
	e, err := s.app.Identity.BeginTOTP(v.r.Context(), v.person.UserID)
	if err != nil {
		return v.again(err, "authenticator", shown{Title: "Authenticator app"})
	}
	data, err := newEnrollment(e)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "authenticator-new", shown{Title: "Set up an authenticator app", Data: data})
}

// confirmAuthenticator sets up the app with the secret that the form has shown, whatever was begun in other windows.
func (s *Site) confirmAuthenticator(v *visit) error {
	ticket := v.secret("ticket")
	codes, err := s.app.Identity.ConfirmTOTP(v.r.Context(), v.person.UserID, ticket, v.secret("code"), v.origin)
	if err == nil {
		return v.show(http.StatusOK, "recovery-codes", shown{Title: "Recovery codes", Data: reveal(codes)})
	}
	e, failed := s.app.Identity.OpenEnrollment(v.person, ticket) // it is shown once more to the person who has sent it
	if failed != nil || v.person.HasSecondFactor() {
		return v.again(err, "authenticator", shown{Title: "Authenticator app"})
	}
	data, failed := newEnrollment(e)
	if failed != nil {
		return failed
	}
	return v.again(err, "authenticator-new", shown{Title: "Set up an authenticator app", Data: data})
}

// beginLink sends the person to the OpenID provider to say which account there is theirs. It changes nothing, so that a link may lead
// to it.
func (s *Site) beginLink(v *visit) error { return v.toOpenID(identity.OpenIDLink, "/account") }

func (s *Site) linkOpenID(v *visit) error {
	if err := s.app.Identity.LinkOpenID(v.r.Context(), *v.session, v.secret("ticket"), v.origin); err != nil {
		return err
	}
	return v.redirect("/account?done=openid-linked")
}

func (s *Site) unlinkOpenID(v *visit) error {
	if err := s.app.Identity.UnlinkOpenID(v.r.Context(), *v.session, v.origin); err != nil {
		return err
	}
	return v.redirect("/account?done=openid-unlinked")
}

func (s *Site) removeAuthenticator(v *visit) error {
	if err := s.app.Identity.RemoveTOTP(v.r.Context(), v.person.UserID, v.origin); err != nil {
		return v.again(err, "authenticator", shown{Title: "Authenticator app"})
	}
	return v.redirect("/account?done=authenticator-removed")
}

func (s *Site) replaceCodes(v *visit) error {
	codes, err := s.app.Identity.ReplaceRecoveryCodes(v.r.Context(), v.person.UserID, v.origin)
	if err != nil {
		return v.again(err, "authenticator", shown{Title: "Authenticator app"})
	}
	return v.show(http.StatusOK, "recovery-codes", shown{Title: "Recovery codes", Data: reveal(codes)})
}

// addPasskeyPage is the page on which a passkey is added.
func (v *visit) addPasskeyPage() (shown, error) {
	p := shown{Title: "Add a passkey", Data: v.value("name")}
	if p.Data == "" {
		p.Data = wording.Browser(v.r.UserAgent())
	}
	c, err := v.app.Identity.BeginPasskey(v.r.Context(), *v.session)
	if err == nil {
		p.Passkey = newCeremony(c)
	}
	return p, err
}

func (s *Site) showAddPasskey(v *visit) error {
	p, err := v.addPasskeyPage()
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "passkey-new", p)
}

func (s *Site) addPasskey(v *visit) error {
	_, err := s.app.Identity.AddPasskey(v.r.Context(), *v.session, identity.AddPasskeyParams{Ticket: v.secret("ticket"),
		Name: v.value("name"), Answer: []byte(v.value("answer")), Origin: v.origin})
	if err == nil {
		return v.redirect("/account?done=passkey")
	}
	p, failed := v.addPasskeyPage()
	if failed != nil {
		return failed
	}
	return v.again(err, "passkey-new", p)
}

var errNoPasskey = fault.Missing("passkey")

func (s *Site) showPasskey(v *visit) error {
	keys, err := s.app.Identity.Passkeys(v.r.Context(), v.person.UserID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.ID == v.r.PathValue("id") {
			return v.show(http.StatusOK, "passkey", shown{Title: "Passkey", Data: k})
		}
	}
	return errNoPasskey
}

func (s *Site) renamePasskey(v *visit) error {
	id := v.r.PathValue("id")
	if err := s.app.Identity.RenamePasskey(v.r.Context(), v.person.UserID, id, v.value("name")); err != nil {
		return v.again(err, "passkey", shown{Title: "Passkey", Data: identity.Passkey{ID: id, Name: v.value("name")}})
	}
	return v.redirect("/account?done=passkey-renamed")
}

func (s *Site) removePasskey(v *visit) error {
	if err := s.app.Identity.RemovePasskey(v.r.Context(), v.person, v.r.PathValue("id"), v.origin); err != nil {
		return err
	}
	return v.redirect("/account?done=passkey-removed")
}
