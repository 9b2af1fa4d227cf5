package mail

import (
	"errors"
	"fmt"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
)

// authenticate signs in to the server, if it has an account there. The error is a Refusal if the server will not let us in before the
// configuration is corrected: until then it accepts no message.
func (s *Server) authenticate(client *smtp.Client) error {
	if s.user == nil {
		return nil
	}
	_, announced := client.Extension("AUTH")
	auth, err := s.mechanism(strings.Fields(strings.ToUpper(announced)))
	if err != nil {
		_ = client.Quit()
		return err
	}
	err = client.Auth(auth)
	var answer *textproto.Error
	if errors.As(err, &answer) && answer.Code >= permanentFrom {
		return &Refusal{answer}
	}
	return err
}

// mechanism returns the first way to sign in that the server announces, of those that we know. The error is a Refusal if there is none.
func (s *Server) mechanism(announced []string) (smtp.Auth, error) {
	name := s.user.Username()
	password, _ := s.user.Password()
	for _, known := range []struct {
		mechanism string
		auth      smtp.Auth
	}{
		{"PLAIN", smtp.PlainAuth("", name, password, s.host)},
		{"LOGIN", &loginAuth{answers: []string{name, password}, local: s.local()}},
		{"CRAM-MD5", smtp.CRAMMD5Auth(name, password)},
	} {
		if slices.Contains(announced, known.mechanism) {
			return known.auth, nil
		}
	}
	if len(announced) == 0 {
		return nil, &Refusal{errors.New("it announces no way to sign in; if it asks for none, leave out the user name and the password")}
	}
	return nil, &Refusal{fmt.Errorf("it announces only %s to sign in with, but PLAIN, LOGIN or CRAM-MD5 is needed",
		strings.Join(announced, " and "))}
}

// loginAuth is the mechanism LOGIN, which asks for a name and then for a password. It is no standard and servers word the questions
// differently, so the answers are given in order.
type loginAuth struct {
	answers []string
	local   bool // the server is this machine
}

// Start begins to sign in, unless others could read the password on its way.
func (l *loginAuth) Start(server *smtp.ServerInfo) (mechanism string, initial []byte, err error) {
	if !server.TLS && !l.local {
		return "", nil, errors.New("unencrypted connection")
	}
	return "LOGIN", nil, nil
}

// Next answers a question.
func (l *loginAuth) Next(_ []byte, asks bool) ([]byte, error) {
	if !asks {
		return nil, nil
	}
	if len(l.answers) == 0 {
		return nil, errors.New("the server asks for more than a name and a password")
	}
	answer := l.answers[0]
	l.answers = l.answers[1:]
	return []byte(answer), nil
}
