package mail

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"
	"unicode"
)

// Sender is who messages come from: an address as it is sent, and a name that may be empty.
type Sender struct{ address mail.Address }

// ParseSender returns the sender of a text such as bursar@example.com or Bursar <bursar@example.com>.
func ParseSender(text string) (Sender, error) {
	address, err := mail.ParseAddress(text)
	if err != nil {
		return Sender{}, fmt.Errorf("the sender must be an email address such as bursar@example.com or Bursar <bursar@example.com>, but is %q",
			text)
	}
	address.Address = wire(address.Address)
	return Sender{*address}, nil
}

// String returns the sender as it is written in a message. A name with letters beyond ASCII is encoded.
func (s Sender) String() string {
	if s.address.Name == "" {
		return s.address.Address
	}
	return s.address.String()
}

// domain returns what comes after the @ of the address.
func (s Sender) domain() string {
	return s.address.Address[strings.LastIndexByte(s.address.Address, '@')+1:]
}

// messageID returns what identifies the message wherever it arrives. One without an id is identified by its content.
func (m Message) messageID(from Sender) string {
	local := m.ID
	if local == "" {
		sum := sha256.Sum256([]byte(strings.Join(m.To, ",") + "\n" + m.Subject + "\n" + m.Text))
		local = hex.EncodeToString(sum[:16])
	}
	return "<" + local + "@" + from.domain() + ">"
}

type header struct{ name, value string }

// headers returns what every form of the message begins with.
func (m Message) headers(from Sender, to string, at time.Time) []header {
	if !m.WrittenAt.IsZero() {
		at = m.WrittenAt
	}
	return []header{{"From", from.String()}, {"To", to}, {"Subject", encodeHeader(m.Subject)}, {"Date", at.UTC().Format(time.RFC1123Z)},
		{"Message-ID", m.messageID(from)}, {"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"},
		{"Auto-Submitted", "auto-generated"}}
}

// encodeHeader returns a text that has letters beyond ASCII as header fields contain them.
//
// What looks like an encoded word already would be decoded, so that the reader would see another text than the one that was checked.
func encodeHeader(text string) string {
	return mime.QEncoding.Encode("utf-8", strings.ReplaceAll(oneLine(text), "=?", "= ?"))
}

// oneLine returns a text without line breaks and other control characters: after a line break, a text could add header fields.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// encodedLineMax is how long a line with an encoded word may be (RFC 2047).
const encodedLineMax = 76

// write writes header fields. Before encoded words they may be broken into lines, because lines of more than 998 characters are refused.
func write(w io.Writer, headers []header, lineEnd string) error {
	for _, h := range headers {
		value := strings.ReplaceAll(oneLine(h.value), "?= =?", "?="+lineEnd+" =?")
		first, _, _ := strings.Cut(value, lineEnd)
		if strings.HasPrefix(first, "=?") && len(h.name)+len(": ")+len(first) > encodedLineMax {
			value = lineEnd + " " + value
		} else {
			value = " " + value
		}
		if _, err := fmt.Fprintf(w, "%s:%s%s", h.name, value, lineEnd); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, lineEnd)
	return err
}

// encode returns the message as it is sent. Recipients do not see each other.
func (m Message) encode(from Sender, at time.Time) string {
	to := "undisclosed-recipients:;"
	if len(m.To) == 1 {
		to = wire(m.To[0])
	}
	var b strings.Builder // which does not fail
	_ = write(&b, append(m.headers(from, to, at), header{"Content-Transfer-Encoding", "quoted-printable"}), "\r\n")
	q := quotedprintable.NewWriter(&b)
	_, _ = q.Write([]byte(strings.ReplaceAll(m.Text, "\n", "\r\n")))
	_ = q.Close()
	return b.String()
}

// WriteFile writes the message as a file that people can read and mail programs can open: its lines are not broken, so that a link can be
// copied. A reason why it was not sent may be empty.
func (m Message) WriteFile(w io.Writer, from Sender, at time.Time, reason string) error {
	headers := append(m.headers(from, strings.Join(m.To, ", "), at), header{"Content-Transfer-Encoding", "8bit"})
	if reason != "" {
		headers = append([]header{{"X-Not-Sent", encodeHeader(reason)}}, headers...)
	}
	if err := write(w, headers, "\n"); err != nil {
		return err
	}
	_, err := io.WriteString(w, m.Text)
	return err
}
