package password

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the public lists of breached passwords are lists of such hashes
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/secret"
)

// Breached is a file with the hashes of passwords that were stolen somewhere, in the form in which Have I Been Pwned gives them out: each
// line is a SHA-1 hash in hexadecimal digits, followed by a colon and a count, and the lines are in order. A file with a billion lines is
// searched with some thirty reads.
type Breached struct {
	path string
	size int64
}

const (
	hashDigits = 40
	lineMax    = 128
)

// OpenBreached returns the list in a file. It checks that the first line looks like one of such a list.
func OpenBreached(path string) (*Breached, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	start := make([]byte, hashDigits+1)
	if _, err := f.ReadAt(start, 0); err != nil || start[hashDigits] != ':' || !isHash(start[:hashDigits]) {
		return nil, fmt.Errorf("%s is not a list of breached passwords: its first line must be a SHA-1 hash, a colon and a number", path)
	}
	return &Breached{path, info.Size()}, nil
}

func isHash(text []byte) bool {
	_, err := hex.DecodeString(string(text))
	return err == nil
}

// Check returns a fault that blames a field for a password in the list. A nil list has none.
func (b *Breached) Check(field string, plain secret.Text) error {
	if b == nil {
		return nil
	}
	found, err := b.contains(normal(plain))
	if err != nil {
		return fmt.Errorf("password: search the list of breached passwords: %w", err)
	}
	if found {
		return fault.Invalidf(field, "was stolen from another service and is in a public list: use another one, and change it wherever you "+
			"use it")
	}
	return nil
}

// contains reports whether a password is in the file, by bisection.
func (b *Breached) contains(plain string) (bool, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha1.Sum([]byte(plain)) //nolint:gosec // see above
	want := strings.ToUpper(hex.EncodeToString(sum[:]))
	for low, high := int64(0), b.size; low < high; {
		middle := low + (high-low)/2
		at, hash, next, err := lineAfter(f, middle)
		switch {
		case err != nil:
			return false, err
		case hash == "" || at >= high: // no line begins between the middle and the end
			high = middle
		case hash == want:
			return true, nil
		case hash < want:
			low = next
		default:
			high = middle
		}
	}
	return false, nil
}

// lineAfter returns the first line that begins at a position or after it, and where the line after that begins. The hash is empty if there
// is no such line.
func lineAfter(f *os.File, position int64) (at int64, hash string, next int64, err error) {
	from := max(0, position-1) // a line begins at the position if the byte before ends another
	buffer := make([]byte, 2*lineMax)
	n, err := f.ReadAt(buffer, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, "", 0, err
	}
	if n == 0 {
		return 0, "", 0, nil
	}
	buffer = buffer[:n]
	begin := 0
	if position > 0 {
		end := bytes.IndexByte(buffer, '\n')
		if end < 0 {
			return 0, "", 0, nil
		}
		begin = end + 1
	}
	line := buffer[begin:]
	if len(line) < hashDigits {
		return 0, "", 0, nil
	}
	if !isHash(line[:hashDigits]) {
		return 0, "", 0, errors.New("a line does not begin with a hash")
	}
	length := bytes.IndexByte(line, '\n')
	if length < 0 {
		length = len(line) - 1
	}
	return from + int64(begin), strings.ToUpper(string(line[:hashDigits])), from + int64(begin+length+1), nil
}
