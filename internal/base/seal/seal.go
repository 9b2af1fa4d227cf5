// Package seal encrypts the credentials of other systems before they are stored. What is sealed can be opened only with the same key and
// the same context, so that a row that was copied to another organization or connection cannot be opened there.
package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/bursarhq/bursar/internal/base/secret"
)

// File is the name of the file with the key in the data folder.
const File = "secret.key"

// folderMode lets nobody but the owner of the data folder read it.
const folderMode fs.FileMode = 0o700

// Key seals and opens secrets. It reads its key when it is used first, and creates it if there is none.
type Key struct {
	load func() (tink.AEAD, error)
}

// New returns the key that a text holds or, if the text is empty, the one in a file. A file that does not exist is created, readable by its
// owner only, when something is sealed or opened first.
func New(text secret.Text, path string) *Key {
	return &Key{sync.OnceValues(func() (tink.AEAD, error) {
		if !text.IsZero() {
			return parse([]byte(text.Reveal()), "the key in the environment")
		}
		return open(path)
	})}
}

// Temporary returns a key that exists only as long as the process, for tests.
func Temporary() *Key {
	return &Key{sync.OnceValues(func() (tink.AEAD, error) {
		content, err := generate()
		if err != nil {
			return nil, err
		}
		return parse(content, "a temporary key")
	})}
}

// open reads the key in a file, and creates the file if there is none.
func open(path string) (tink.AEAD, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = create(path)
	}
	if err != nil {
		return nil, fmt.Errorf("seal: read the key: %w", err)
	}
	return parse(content, path)
}

// create writes a new key to a file. If another process was faster, it returns that one's key.
func create(path string) ([]byte, error) {
	content, err := generate()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), File+".*") // with a name of its own, because several processes may be here at a time
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) { // unlike a rename, it never replaces a file
		return nil, err
	}
	return os.ReadFile(path)
}

// generate returns a new key in the form in which it is stored.
func generate() ([]byte, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&out))
	return out.Bytes(), err
}

// parse reads a key. Errors name where it comes from, and nothing of the key.
func parse(content []byte, from string) (tink.AEAD, error) {
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(content)))
	if err != nil {
		return nil, fmt.Errorf("seal: %s is not a Tink keyset in JSON", from)
	}
	return aead.New(handle)
}

// contextOf joins the parts of a context so that no two lists of parts are joined to the same bytes.
func contextOf(parts []string) []byte {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%d:%s", len(p), p)
	}
	return []byte(b.String())
}

// Seal encrypts a text for a context, such as the ids of an organization and of a record.
func (k *Key) Seal(plain secret.Text, context ...string) (string, error) {
	primitive, err := k.primitive()
	if err != nil {
		return "", err
	}
	sealed, err := primitive.Encrypt([]byte(plain.Reveal()), contextOf(context))
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	return base64.StdEncoding.EncodeToString(sealed), nil
}

// Open decrypts what Seal returned for the same context.
func (k *Key) Open(sealed string, context ...string) (secret.Text, error) {
	primitive, err := k.primitive()
	if err != nil {
		return secret.Text{}, err
	}
	content, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return secret.Text{}, errors.New("seal: what is stored is not sealed")
	}
	plain, err := primitive.Decrypt(content, contextOf(context))
	if err != nil {
		return secret.Text{}, errors.New("seal: what is stored was sealed with another key, or was changed")
	}
	return secret.New(string(plain)), nil
}

// primitive returns the cipher.
func (k *Key) primitive() (tink.AEAD, error) {
	if k == nil {
		return nil, errors.New("seal: no key is configured")
	}
	return k.load()
}
