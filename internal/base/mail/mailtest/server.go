// Package mailtest runs an SMTP server for tests.
package mailtest

import (
	"bufio"
	"crypto/hmac"
	"crypto/md5"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursarhq/bursar/internal/base/mail"
)

// Server is an SMTP server that notes what it is told. Its fields are set before it listens.
type Server struct {
	TLS      *tls.Config // of connections that are encrypted; nil if none are
	Implicit bool        // TLS from the start, and not by STARTTLS
	UTF8     bool        // it supports SMTPUTF8

	Mechanisms     []string // to sign in with, which it announces; nil: PLAIN; empty: it lets nobody sign in
	User, Password string   // of its only account; without a name, anybody may sign in with any password

	// Answers are given to the first lines that begin with a command; later ones are answered as usual. "hang" is no answer, and "close" the
	// end of the connection.
	Command string
	Answers []string

	address string

	mu       sync.Mutex
	given    int // of the answers
	commands []string
	messages []string
}

// Listen starts the server, until the test ends.
func (s *Server) Listen(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s.address = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if s.Implicit {
				conn = tls.Server(conn, s.TLS)
			}
			go (&conversation{Server: s, conn: conn, lines: bufio.NewReader(conn)}).hold()
		}
	}()
	return s
}

// As returns the server for a program that signs in with a name and a password, such as ada:pass@, or nothing, and sends from an address.
func (s *Server) As(t testing.TB, user, from string) *mail.Server {
	t.Helper()
	scheme := "smtp://"
	if s.Implicit {
		scheme = "smtps://"
	}
	m, err := mail.Parse(scheme+user+s.address, from)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Commands returns the lines that it was told, except those of messages.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Messages returns the messages that it has accepted, as they were sent but for the dots that were added at the beginning of lines.
func (s *Server) Messages() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// answer notes a command and returns what is answered instead of what is usual, or nothing.
func (s *Server) answer(line string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, line)
	if s.Command == "" || !strings.HasPrefix(line, s.Command) {
		return ""
	}
	if s.given == len(s.Answers) {
		return ""
	}
	s.given++
	return s.Answers[s.given-1]
}

func (s *Server) accept(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, message)
}

// conversation is what is said on a connection.
type conversation struct {
	*Server
	conn  net.Conn
	lines *bufio.Reader
}

func (c *conversation) say(text string) { fmt.Fprintf(c.conn, "%s\r\n", text) }

func (c *conversation) hold() {
	defer func() { c.conn.Close() }()
	c.say("220 ready")
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		switch answer := c.answer(line); answer {
		case "":
			c.usual(line)
		case "hang":
			_, _ = c.lines.ReadString('\n') // until the client gives up
			return
		case "close":
			return
		default:
			c.say(answer)
		}
		if line == "QUIT" {
			return
		}
	}
}

// usual answers a command as an ordinary server does.
func (c *conversation) usual(line string) {
	switch verb, _, _ := strings.Cut(line, " "); verb {
	case "EHLO":
		c.say("250-hello")
		if _, encrypted := c.conn.(*tls.Conn); c.TLS != nil && !encrypted {
			c.say("250-STARTTLS")
		}
		if c.UTF8 {
			c.say("250-SMTPUTF8")
		}
		if mechanisms := c.mechanisms(); len(mechanisms) > 0 {
			c.say("250-AUTH " + strings.Join(mechanisms, " "))
		}
		c.say("250 8BITMIME")
	case "STARTTLS":
		c.say("220 go")
		c.conn = tls.Server(c.conn, c.TLS)
		c.lines = bufio.NewReader(c.conn)
	case "AUTH":
		c.signIn(line)
	case "DATA":
		c.say("354 go")
		if message, ok := c.read(); ok {
			c.accept(message)
			c.say("250 ok")
		}
	case "QUIT":
		c.say("221 bye")
	default:
		c.say("250 ok")
	}
}

// read returns the message that follows, if it is complete.
func (c *conversation) read() (message string, ok bool) {
	var b strings.Builder
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return b.String(), err == nil
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}

// mechanisms returns the ways to sign in that are announced.
func (s *Server) mechanisms() []string {
	if s.Mechanisms == nil {
		return []string{"PLAIN"}
	}
	return s.Mechanisms
}

// signIn lets in whoever gives the right name and password by a mechanism that is announced.
func (c *conversation) signIn(line string) {
	mechanism, initial, _ := strings.Cut(strings.TrimPrefix(line, "AUTH "), " ")
	known := slices.ContainsFunc(c.mechanisms(), func(one string) bool { return strings.EqualFold(one, mechanism) })
	var given, want string
	switch {
	case known && mechanism == "PLAIN":
		given, want = decoded(initial), "\x00"+c.User+"\x00"+c.Password
	case known && mechanism == "LOGIN":
		given, want = c.ask("Username:")+" "+c.ask("Password:"), c.User+" "+c.Password
	case known && mechanism == "CRAM-MD5":
		const challenge = "<1896.697170952@mail.example.com>"
		sum := hmac.New(md5.New, []byte(c.Password))
		sum.Write([]byte(challenge))
		given, want = c.ask(challenge), c.User+" "+hex.EncodeToString(sum.Sum(nil))
	default:
		c.say("504 unrecognized mechanism")
		return
	}
	if c.User != "" && given != want {
		c.say("535 5.7.8 wrong name or password")
		return
	}
	c.say("235 ok")
}

// ask returns the answer to a question about who signs in.
func (c *conversation) ask(question string) string {
	c.say("334 " + base64.StdEncoding.EncodeToString([]byte(question)))
	line, _ := c.lines.ReadString('\n') // the next command fails too if the connection has ended
	return decoded(strings.TrimSpace(line))
}

// decoded returns what was sent as base64. What is none is no right password either.
func decoded(text string) string {
	plain, _ := base64.StdEncoding.DecodeString(text)
	return string(plain)
}
