package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/bursarhq/bursar/internal/base/fault"
)

const (
	// cursorMax bounds a cursor in characters, so that it fits in any URL.
	cursorMax = 1024
	// cursorVersion is the first byte of every cursor. A new layout takes a new
	// one, and old cursors are then refused instead of misread.
	cursorVersion = 1
	// fingerprintBytes of a hash are plenty: only a caller's own filters have to
	// be told apart, nothing is kept secret by it.
	fingerprintBytes = 12
	// checksumBytes is the size of a CRC-32, which catches every change of up to
	// 32 bits in a row, so of any one character, for certain.
	checksumBytes = 4
)

// castagnoli is the CRC that processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Fingerprint identifies a list and its filters. The filters must be a struct or
// a map that encodes as JSON, and must hold neither the cursor nor the limit,
// which change from page to page.
func Fingerprint(scope string, filters any) string {
	encoded, err := json.Marshal(filters)
	if err != nil {
		panic(fmt.Sprintf("page: filters of %s: %v", scope, err))
	}
	// The length keeps a scope from running into its filters.
	hashed := binary.AppendUvarint(nil, uint64(len(scope)))
	hashed = append(hashed, scope...)
	hashed = append(hashed, encoded...)
	sum := sha256.Sum256(hashed)
	return base64.RawURLEncoding.EncodeToString(sum[:fingerprintBytes])
}

// Encode makes the cursor that continues after the row with this sort key. It
// panics when the cursor gets longer than 1024 characters: a list may only be
// sorted by columns that are bounded well below that.
func Encode(fingerprint string, key ...string) string {
	raw := []byte{cursorVersion}
	raw = appendPart(raw, fingerprint)
	for _, part := range key {
		raw = appendPart(raw, part)
	}
	raw = binary.BigEndian.AppendUint32(raw, crc32.Checksum(raw, castagnoli))
	cursor := base64.RawURLEncoding.EncodeToString(raw)
	if len(cursor) > cursorMax {
		panic(fmt.Sprintf("page: a cursor of %d characters, want at most %d", len(cursor), cursorMax))
	}
	return cursor
}

// Decode gives back the key of a cursor made with the same fingerprint, which
// has to have the given number of parts. No cursor means the first page: no key.
func Decode(fingerprint, cursor string, parts int) ([]string, error) {
	if cursor == "" {
		return nil, nil
	}
	found, key, ok := open(cursor)
	if !ok {
		return nil, errForeign()
	}
	if found != fingerprint {
		return nil, fault.Invalidf("cursor", "belongs to a list with other filters")
	}
	if len(key) != parts {
		return nil, errForeign()
	}
	return key, nil
}

func errForeign() error {
	return fault.Invalidf("cursor", "is not a cursor of this service")
}

// open takes a cursor apart, and fails on anything that Encode did not write.
func open(cursor string) (fingerprint string, key []string, ok bool) {
	if len(cursor) > cursorMax {
		return "", nil, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	// Decoding passes over line breaks and spare bits; encoding again does not,
	// so that a row has one cursor and not several spellings of it.
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != cursor {
		return "", nil, false
	}
	if len(raw) < 1+checksumBytes || raw[0] != cursorVersion {
		return "", nil, false
	}
	body, checksum := raw[:len(raw)-checksumBytes], raw[len(raw)-checksumBytes:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(checksum) {
		return "", nil, false
	}
	var all []string
	for rest := body[1:]; len(rest) > 0; {
		var part string
		if part, rest, ok = cutPart(rest); !ok {
			return "", nil, false
		}
		all = append(all, part)
	}
	if len(all) == 0 {
		return "", nil, false
	}
	return all[0], all[1:], true
}

// appendPart writes a length before the bytes, so that a part may hold anything.
func appendPart(raw []byte, part string) []byte {
	raw = binary.AppendUvarint(raw, uint64(len(part)))
	return append(raw, part...)
}

func cutPart(raw []byte) (part string, rest []byte, ok bool) {
	length, size := binary.Uvarint(raw)
	if size <= 0 || length > uint64(len(raw)-size) {
		return "", nil, false
	}
	end := size + int(length)
	return string(raw[size:end]), raw[end:], true
}
