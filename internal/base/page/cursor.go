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
	// cursorVersion is the first byte of every cursor. A new layout gets a new
	// version, so that old cursors are rejected instead of misread.
	cursorVersion = 1
	// fingerprintBytes is the length of a fingerprint. It only has to distinguish
	// a caller's own filters; it protects no secret.
	fingerprintBytes = 12
	// checksumBytes is the size of a CRC-32, which detects every change of up to
	// 32 consecutive bits and so of any single character.
	checksumBytes = 4
)

// castagnoli is the CRC polynomial that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Fingerprint identifies a list and its filters. The filters must be a struct or
// a map that encodes as JSON, and must hold neither the cursor nor the limit,
// which change from page to page.
func Fingerprint(scope string, filters any) string {
	encoded, err := json.Marshal(filters)
	if err != nil {
		panic(fmt.Sprintf("page: filters of %s: %v", scope, err))
	}
	// The length separates the scope from the filters.
	hashed := binary.AppendUvarint(nil, uint64(len(scope)))
	hashed = append(hashed, scope...)
	hashed = append(hashed, encoded...)
	sum := sha256.Sum256(hashed)
	return base64.RawURLEncoding.EncodeToString(sum[:fingerprintBytes])
}

// Encode returns the cursor that continues after the row with this sort key. It
// panics if the cursor is longer than 1024 characters: lists may only be sorted by
// columns that are much shorter.
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

// Decode returns the key of a cursor that was encoded with the same fingerprint and
// has the given number of parts. An empty cursor, for the first page, gives no key.
func Decode(fingerprint, cursor string, parts int) ([]string, error) {
	if cursor == "" {
		return nil, nil
	}
	found, key, ok := decodeCursor(cursor)
	if !ok {
		return nil, ErrCursor()
	}
	if found != fingerprint {
		return nil, fault.Invalidf("cursor", "belongs to a list with other filters; keep the filters of the first page, "+
			"or start again without a cursor")
	}
	if len(key) != parts {
		return nil, ErrCursor()
	}
	return key, nil
}

// ErrCursor returns the error for a cursor that was not issued for the list.
func ErrCursor() error {
	return fault.Invalidf("cursor", "is not a cursor of this list; use next_cursor of the page before, or start again without a cursor")
}

// decodeCursor splits a cursor into its parts and fails on anything that Encode did not write.
func decodeCursor(cursor string) (fingerprint string, key []string, ok bool) {
	if len(cursor) > cursorMax {
		return "", nil, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	// Decoding ignores line breaks and spare bits. Comparing with the encoded form
	// makes sure that every key has exactly one cursor.
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

// appendPart appends a part with its length, so that it may contain any bytes.
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
