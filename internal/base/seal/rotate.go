package seal

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// KeyID names a key of a keyset. It is no secret.
type KeyID uint32

// String returns the id as it is shown.
func (i KeyID) String() string { return fmt.Sprintf("%08x", uint32(i)) }

// State describes a keyset.
type State struct {
	Path      string  // its file; empty if it is in the environment
	Encrypted bool    // by a key that a Vault server keeps
	Keys      []KeyID // the oldest first
	Primary   KeyID   // the one that seals
}

// Newest returns the key that was added last.
func (s State) Newest() KeyID { return s.Keys[len(s.Keys)-1] }

// State returns what the keyset consists of.
func (k *Key) State() (out State, err error) {
	if _, err := k.current(true); err != nil {
		return out, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	out.Encrypted = k.encrypted
	if k.text.IsZero() {
		out.Path = k.path
	}
	for n := range k.handle.Len() {
		entry, err := k.handle.Entry(n)
		if err != nil {
			return out, fmt.Errorf("seal: %w", err)
		}
		id := KeyID(entry.KeyID())
		if out.Keys = append(out.Keys, id); entry.IsPrimary() {
			out.Primary = id
		}
	}
	return out, nil
}

// Tink begins what it seals with a version and the id of the key.
const (
	tinkVersion = 1
	tinkPrefix  = 5
)

// KeyOf returns the key under which a text is sealed, and false if the text is not sealed.
func KeyOf(sealed string) (KeyID, bool) {
	content, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(content) < tinkPrefix || content[0] != tinkVersion {
		return 0, false
	}
	return KeyID(binary.BigEndian.Uint32(content[1:tinkPrefix])), true
}

// errElsewhere means that a keyset cannot be changed, because it is not in a file.
var errElsewhere = errors.New("the key is the text of BURSAR_SECRET_KEY, which cannot be changed from here: write the text to the file " +
	"secret.key in the data folder, unset the variable everywhere, and rotate then")

// Lock keeps other processes from changing the keyset until it is unlocked, or until this process ends.
func (k *Key) Lock() (unlock func(), err error) {
	if k.path == "" || !k.text.IsZero() {
		return nil, errElsewhere
	}
	if err := os.MkdirAll(filepath.Dir(k.path), folderMode); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(k.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("another process is rotating the keys in %s", k.path), f.Close())
	}
	return func() { _ = f.Close() }, nil // which unlocks it
}

// Add adds a key, which is not used to seal yet.
func (k *Key) Add() error {
	return k.change(false, func(m *keyset.Manager, _ State) error {
		_, err := m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
}

// Promote has the newest key seal from now on.
func (k *Key) Promote() error {
	return k.change(false, func(m *keyset.Manager, s State) error { return m.SetPrimary(uint32(s.Newest())) })
}

// Trim removes all keys but the one that seals. What is sealed under the others can never be opened again.
func (k *Key) Trim() error {
	return k.change(false, func(m *keyset.Manager, s State) error {
		for _, id := range s.Keys {
			if id != s.Primary {
				if err := m.Delete(uint32(id)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Protect has the file encrypted by the key that the Vault server keeps.
func (k *Key) Protect() error {
	return k.change(true, func(*keyset.Manager, State) error { return nil })
}

// Trimmed returns a key that can open only what is sealed under the key that seals.
func (k *Key) Trimmed() (*Key, error) {
	s, err := k.State()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	m := keyset.NewManagerFromHandle(k.handle)
	for _, id := range slices.DeleteFunc(s.Keys, func(id KeyID) bool { return id == s.Primary }) {
		if err := m.Delete(uint32(id)); err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
	}
	handle, err := m.Handle()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	out := &Key{}
	return out, out.use(handle)
}

// change changes the keyset in its file, in one step: after a crash, the file has all of the former or all of the new keyset.
func (k *Key) change(encrypt bool, do func(m *keyset.Manager, s State) error) error {
	s, err := k.State()
	if err != nil {
		return err
	}
	if s.Path == "" {
		return errElsewhere
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	m := keyset.NewManagerFromHandle(k.handle)
	if err := do(m, s); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	handle, err := m.Handle()
	if err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	content, err := k.format(handle, s.Encrypted || encrypt)
	if err != nil {
		return err
	}
	if back, _, err := k.parse(content, k.path); err != nil || back.Len() != handle.Len() { // what cannot be read must not replace what can
		return fmt.Errorf("seal: the new key cannot be read back: %w", err)
	}
	name, err := writeTemporary(k.path, content)
	if err != nil {
		return err
	}
	if err := os.Rename(name, k.path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if folder, err := os.Open(filepath.Dir(k.path)); err == nil { // so that the new name survives a power failure
		_ = folder.Sync() // not every system can
		_ = folder.Close()
	}
	return k.load()
}
