package mail

import (
	"net/smtp"
	"testing"
)

func TestTheMechanismLOGINGivesAPasswordOnlyWhereNobodyElseCanReadIt(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ encrypted, local, works bool }{{true, false, true}, {false, true, true}, {false, false, false}} {
		l := &loginAuth{answers: []string{"ada", "pass"}, local: one.local}
		if _, initial, err := l.Start(&smtp.ServerInfo{TLS: one.encrypted}); (err == nil) != one.works || len(initial) > 0 {
			t.Errorf("%+v: %q %v", one, initial, err)
		}
	}
}

func TestTheMechanismLOGINAnswersTwoQuestions(t *testing.T) {
	t.Parallel()
	l := &loginAuth{answers: []string{"ada", ""}}
	for _, want := range []string{"ada", ""} {
		if got, err := l.Next([]byte("User Name\x00"), true); string(got) != want || got == nil || err != nil {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	if got, err := l.Next(nil, true); err == nil {
		t.Errorf("a third question is answered with %q", got)
	}
	if got, err := l.Next([]byte("welcome"), false); got != nil || err != nil {
		t.Errorf("%q %v", got, err)
	}
}
