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

// Key seals and opens secrets: with the primary key of a keyset, and with any of its keys. It reads its keyset when it is used first, and
// creates it if there is none. A file that has changed is read again, so that a rotation takes effect in processes that run.
type Key struct {
	text  secret.Text // the keyset itself; empty if it is in a file
	path  string
	vault *Vault // encrypts the file; nil if it is in clear

	mu        sync.Mutex
	handle    *keyset.Handle
	cipher    tink.AEAD
	read      fs.FileInfo // of the file when it was read
	encrypted bool
}

// New returns the key that a text holds or, if the text is empty, the one in a file. A file that does not exist is created, readable by its
// owner only, when something is sealed or opened first.
func New(text secret.Text, path string) *Key { return NewProtected(text, path, nil) }

// NewProtected is New for a file that is encrypted by a key that a Vault server keeps. A file in clear is read, too.
func NewProtected(text secret.Text, path string, v *Vault) *Key {
	return &Key{text: text, path: path, vault: v}
}

// Temporary returns a key that exists only as long as the process, for tests.
func Temporary() *Key {
	k := &Key{}
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err == nil {
		err = k.use(handle)
	}
	if err != nil {
		panic(err) // there is no randomness
	}
	return k
}

// use makes the key use a keyset.
func (k *Key) use(handle *keyset.Handle) error {
	cipher, err := aead.New(handle)
	if err == nil {
		k.handle, k.cipher = handle, cipher
	}
	return err
}

// load reads the keyset unless that was done and the file has not changed since.
func (k *Key) load() error {
	switch {
	case k == nil:
		return errors.New("seal: no key is configured")
	case k.path == "" && k.text.IsZero(), !k.text.IsZero() && k.handle != nil:
		return nil
	case !k.text.IsZero():
		handle, _, err := k.parse([]byte(k.text.Reveal()), "the key in the environment")
		if err != nil {
			return err
		}
		return k.use(handle)
	}
	info, err := os.Stat(k.path)
	switch {
	case err == nil && k.read != nil && os.SameFile(info, k.read) && info.ModTime().Equal(k.read.ModTime()) && info.Size() == k.read.Size():
		return nil
	case errors.Is(err, fs.ErrNotExist) && k.handle != nil:
		return nil // it was removed while the process runs
	case errors.Is(err, fs.ErrNotExist):
		if err = k.create(); err == nil {
			info, err = os.Stat(k.path)
		}
	}
	if err != nil {
		return fmt.Errorf("seal: read the key: %w", err)
	}
	content, err := os.ReadFile(k.path)
	if err != nil {
		return fmt.Errorf("seal: read the key: %w", err)
	}
	handle, encrypted, err := k.parse(content, k.path)
	if err == nil {
		err = k.use(handle)
	}
	if err == nil {
		k.read, k.encrypted = info, encrypted
	}
	return err
}

// create writes a new key to the file. If another process was faster, that one's stays.
func (k *Key) create() error {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return err
	}
	content, err := k.format(handle, k.vault != nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.path), folderMode); err != nil {
		return err
	}
	name, err := writeTemporary(k.path, content)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	if err := os.Link(name, k.path); err != nil && !errors.Is(err, fs.ErrExist) { // unlike a rename, it never replaces a file
		return err
	}
	return nil
}

// writeTemporary writes a file beside another one, with a name of its own, because several processes may be here at a time.
func writeTemporary(path string, content []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), File+".*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// format returns a keyset in the form in which it is stored.
func (k *Key) format(handle *keyset.Handle, encrypted bool) ([]byte, error) {
	var out bytes.Buffer
	if encrypted {
		err := handle.Write(keyset.NewJSONWriter(&out), k.vault)
		return out.Bytes(), err
	}
	err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&out))
	return out.Bytes(), err
}

// parse reads a keyset, and reports whether it was encrypted. Errors name where it comes from, and nothing of the key.
func (k *Key) parse(content []byte, from string) (handle *keyset.Handle, encrypted bool, err error) {
	reader := keyset.NewJSONReader(bytes.NewReader(content))
	if found, err := keyset.NewJSONReader(bytes.NewReader(content)).ReadEncrypted(); err == nil && len(found.GetEncryptedKeyset()) > 0 {
		if k.vault == nil {
			return nil, true, fmt.Errorf("seal: %s is encrypted by a key of a KMS: set its address with --kms-uri or BURSAR_KMS_URI", from)
		}
		if handle, err = keyset.Read(reader, k.vault); err != nil {
			return nil, true, fmt.Errorf("seal: %s cannot be decrypted: %w", from, err)
		}
		return handle, true, nil
	}
	if handle, err = insecurecleartextkeyset.Read(reader); err != nil {
		return nil, false, fmt.Errorf("seal: %s is not a Tink keyset in JSON", from)
	}
	return handle, false, nil
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
	cipher, err := k.current(true)
	if err != nil {
		return "", err
	}
	sealed, err := cipher.Encrypt([]byte(plain.Reveal()), contextOf(context))
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	return base64.StdEncoding.EncodeToString(sealed), nil
}

// Open decrypts what Seal returned for the same context.
func (k *Key) Open(sealed string, context ...string) (secret.Text, error) {
	cipher, err := k.current(false)
	if err != nil {
		return secret.Text{}, err
	}
	content, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return secret.Text{}, errors.New("seal: what is stored is not sealed")
	}
	plain, err := cipher.Decrypt(content, contextOf(context))
	if err != nil {
		return secret.Text{}, errors.New("seal: what is stored was sealed with another key, or was changed")
	}
	return secret.New(string(plain)), nil
}

// current returns the cipher. Nothing is sealed while a keyset that has changed cannot be read, because a key that is about to be removed
// must not be used any more; what is sealed already can be opened meanwhile.
func (k *Key) current(seals bool) (tink.AEAD, error) {
	if k == nil {
		return nil, k.load()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(); err != nil && (seals || k.cipher == nil) {
		return nil, err
	}
	return k.cipher, nil
}
