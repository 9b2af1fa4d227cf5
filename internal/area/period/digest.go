package period

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// digest is what the posted entries of a period come to for one legal entity.
type digest struct {
	hash    hash.Hash
	entries int64
	moved   map[string]movement // by ledger account
}

func newDigest(organizationID, legalEntityID, key string) *digest {
	d := &digest{hash: sha256.New(), moved: map[string]movement{}}
	for _, part := range []string{"bursar period 1", organizationID, legalEntityID, key} {
		d.put(part)
	}
	return d
}

// put writes a part after its length: no two periods share an encoding.
func (d *digest) put(part string) {
	d.number(int64(len(part)))
	d.hash.Write([]byte(part))
}

func (d *digest) number(n int64) {
	_ = binary.Write(d.hash, binary.BigEndian, n)
}

// add takes in an entry by all of it that never changes once it is posted: memos and tags may.
func (d *digest) add(lines []lineRow, legalEntityID string) {
	d.entries++
	first := lines[0]
	d.number(first.Number)
	for _, part := range []string{first.EntryID, clock.Format(first.AccountingDate), first.EntryEntityID} {
		d.put(part)
	}
	d.number(int64(len(lines)))
	for _, l := range lines {
		base := orZero(l.Base)
		d.number(l.Position)
		for _, part := range []string{l.ID, l.LedgerAccountID, l.LegalEntityID, l.Side, l.Amount.String(), l.Currency, base.String()} {
			d.put(part)
		}
		if l.LegalEntityID != legalEntityID {
			continue
		}
		m := d.moved[l.LedgerAccountID]
		if book.Side(l.Side) == book.Debit {
			m.debits = m.debits.Add(base)
		} else {
			m.credits = m.credits.Add(base)
		}
		d.moved[l.LedgerAccountID] = m
	}
}

// sum is the SHA-256 over everything taken in, in hex.
func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// digestChunk is how many entries are held at a time: a period may have a hundred thousand.
const digestChunk = 1000

// digests goes through the posted entries of a period once, for several legal entities. An entry with lines of several belongs to each of them.
func digests(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) (map[string]*digest, error) {
	out := make(map[string]*digest, len(legalEntityIDs))
	for _, e := range legalEntityIDs {
		out[e] = newDigest(tx.Organization(), e, p.Key)
	}
	ids, err := selectEntryIDs(ctx, tx, p, legalEntityIDs)
	if err != nil {
		return nil, err
	}
	for len(ids) > 0 {
		n := min(digestChunk, len(ids))
		lines, err := selectEntryLines(ctx, tx, ids[:n])
		if err != nil {
			return nil, err
		}
		ids = ids[n:]
		for len(lines) > 0 {
			end := 1
			for end < len(lines) && lines[end].EntryID == lines[0].EntryID {
				end++
			}
			addTo(out, lines[:end])
			lines = lines[end:]
		}
	}
	return out, nil
}

// addTo takes an entry into the digest of each legal entity that has a line in it.
func addTo(digests map[string]*digest, entry []lineRow) {
	var done []string
	for _, l := range entry {
		if d := digests[l.LegalEntityID]; d != nil && !slices.Contains(done, l.LegalEntityID) {
			done = append(done, l.LegalEntityID)
			d.add(entry, l.LegalEntityID)
		}
	}
}
