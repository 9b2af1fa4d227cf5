package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// dialog asks the person at the terminal, or reads answers line by line from standard input if that is no terminal.
type dialog struct {
	in       *os.File
	lines    *bufio.Reader
	out      io.Writer
	terminal bool
}

// dialog returns a dialog on standard input. Questions go to stderr, so that the result of a command can be redirected.
func (s *settings) dialog() *dialog {
	return &dialog{os.Stdin, bufio.NewReader(os.Stdin), s.err, term.IsTerminal(int(os.Stdin.Fd()))}
}

// errNoAnswer means that standard input has ended before the question was answered.
var errNoAnswer = errors.New("standard input has ended")

// ask asks a question, and returns the answer without spaces around it. A hidden answer is not shown on the terminal while it is typed.
// An answer that begins as a key in the format PEM goes on until the last line of the key.
func (d *dialog) ask(ctx context.Context, question string, hidden bool) (string, error) {
	text, err := d.line(ctx, question, hidden)
	if err != nil || !strings.HasPrefix(text, "-----BEGIN") {
		return text, err
	}
	var key strings.Builder
	for {
		key.WriteString(text + "\n")
		if strings.Contains(text, "-----END") || key.Len() > secretFileMax {
			return strings.TrimSpace(key.String()), nil
		}
		if text, err = d.line(ctx, "", hidden); err != nil {
			return "", err
		}
	}
}

// line reads one line. A read from a terminal cannot be interrupted, but this function can return, and then shows what is typed again.
func (d *dialog) line(ctx context.Context, question string, hidden bool) (string, error) {
	if d.terminal {
		fmt.Fprint(d.out, question)
	}
	type read struct {
		text string
		err  error
	}
	hidden = hidden && d.terminal && d.lines.Buffered() == 0
	before, err := term.GetState(int(d.in.Fd()))
	hidden = hidden && err == nil
	done := make(chan read, 1)
	go func() {
		if hidden {
			text, err := term.ReadPassword(int(d.in.Fd()))
			done <- read{string(text), err}
			return
		}
		text, err := d.lines.ReadString('\n')
		done <- read{text, err}
	}()
	select {
	case got := <-done:
		if hidden {
			fmt.Fprintln(d.out)
		}
		text := strings.TrimSpace(got.text)
		if errors.Is(got.err, io.EOF) && text != "" {
			got.err = nil
		}
		if errors.Is(got.err, io.EOF) {
			got.err = errNoAnswer
		}
		return text, got.err
	case <-ctx.Done():
		if hidden {
			_ = term.Restore(int(d.in.Fd()), before) // there is nothing left to do if it fails
		}
		fmt.Fprintln(d.out)
		return "", ctx.Err()
	}
}

// option is one of several things to choose.
type option struct{ value, title, note string }

// choose lets a person choose by number or by value.
func (d *dialog) choose(ctx context.Context, question string, options []option) (string, error) {
	titles, width := 0, d.width()
	for _, o := range options {
		titles = max(titles, utf8.RuneCountInString(o.title))
	}
	for n, o := range options {
		line := fmt.Sprintf("  %2d  %s%s", n+1, o.title, strings.Repeat(" ", titles-utf8.RuneCountInString(o.title)))
		fmt.Fprintln(d.out, strings.TrimRight(line+wrapped(o.note, width, utf8.RuneCountInString(line)), " "))
	}
	for {
		text, err := d.ask(ctx, question, false)
		if err != nil {
			return "", err
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
			return options[n-1].value, nil
		}
		for _, o := range options {
			if strings.EqualFold(o.value, text) || strings.EqualFold(o.title, text) {
				return o.value, nil
			}
		}
		fmt.Fprintf(d.out, "Enter a number from 1 to %d, or a name.\n", len(options))
	}
}

// widthDefault is how many columns a terminal has that does not tell.
const widthDefault = 80

// width returns how many columns the terminal has.
func (d *dialog) width() int {
	if f, ok := d.out.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return widthDefault
}

// wrapped breaks a note that begins in a column into lines, which are indented to where it begins.
func wrapped(note string, width, column int) string {
	text := strings.TrimLeft(note, " ")
	column += len(note) - len(text)
	var out strings.Builder
	out.WriteString(note[:len(note)-len(text)])
	at := column
	for n, word := range strings.Fields(text) {
		long := utf8.RuneCountInString(word)
		switch {
		case n > 0 && at+1+long > width:
			out.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		case n > 0:
			out.WriteString(" ")
			at++
		}
		out.WriteString(word)
		at += long
	}
	return out.String()
}

// secretFileMax bounds a file with a secret.
const secretFileMax = 64 << 10

// readSecretFile reads a secret from a file, such as a private key, without the line break at its end.
func readSecretFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, secretFileMax+1))
	if err != nil {
		return "", err
	}
	if len(content) > secretFileMax {
		return "", fmt.Errorf("%s has more than %d KiB, which no secret has", name, secretFileMax>>10)
	}
	return strings.TrimSpace(string(content)), nil
}
