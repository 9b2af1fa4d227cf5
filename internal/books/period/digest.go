package period

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// digest sums up the posted entries of a period for one legal entity: a hash, their count and the movements by account.
type digest struct {
	hash       hash.Hash
	entries    int64
	movements  map[string]movement // by ledger account
	unbalanced []entryRef

	buffer []byte
}

func newDigest(organizationID, legalEntityID, key string) *digest {
	d := &digest{hash: sha256.New(), movements: map[string]movement{}}
	d.writeStrings("bursar period 1", organizationID, legalEntityID, key)
	d.flush()
	return d
}

// writeStrings writes each part after its length, so that different periods never have the same encoding.
func (d *digest) writeStrings(parts ...string) {
	for _, part := range parts {
		d.writeNumber(int64(len(part)))
		d.buffer = append(d.buffer, part...)
	}
}

func (d *digest) writeNumber(n int64) { d.buffer = binary.BigEndian.AppendUint64(d.buffer, uint64(n)) }

func (d *digest) flush() {
	d.hash.Write(d.buffer)
	d.buffer = d.buffer[:0]
}

// add adds an entry. The hash covers what never changes after posting, which excludes memos and tags.
func (d *digest) add(lines []lineRow, legalEntityID string) {
	d.entries++
	first := lines[0]
	d.writeNumber(first.Number)
	d.writeStrings(first.EntryID, clock.Format(first.AccountingDate), first.EntryEntityID)
	d.writeNumber(int64(len(lines)))
	var balance money.Decimal
	for _, l := range lines {
		base := orZero(l.Base)
		d.writeNumber(l.Position)
		d.writeStrings(l.ID, l.LedgerAccountID, l.LegalEntityID, l.Side, l.Amount.String(), l.Currency, base.String())
		if l.LegalEntityID != legalEntityID {
			continue
		}
		m := d.movements[l.LedgerAccountID]
		if book.Side(l.Side) == book.Debit {
			m.debits, balance = m.debits.Add(base), balance.Add(base)
		} else {
			m.credits, balance = m.credits.Add(base), balance.Sub(base)
		}
		d.movements[l.LedgerAccountID] = m
	}
	d.flush()
	if !balance.IsZero() {
		d.unbalanced = append(d.unbalanced, entryRef{first.EntryID, first.Number})
	}
}

// sum returns the SHA-256 of everything added, in hex.
func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// digestChunk is how many entries are in memory at a time: a period may have a hundred thousand.
const digestChunk = 1000

// computeDigests reads the posted entries of a period once and returns the digests of several legal entities. An entry
// with lines of several legal entities is part of the digest of each.
func computeDigests(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) (map[string]*digest, error) {
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
			addToDigests(out, lines[:end])
			lines = lines[end:]
		}
	}
	return out, nil
}

// addToDigests adds an entry to the digest of each legal entity that has a line in it.
func addToDigests(digests map[string]*digest, entry []lineRow) {
	var done []string
	for _, l := range entry {
		if d := digests[l.LegalEntityID]; d != nil && !slices.Contains(done, l.LegalEntityID) {
			done = append(done, l.LegalEntityID)
			d.add(entry, l.LegalEntityID)
		}
	}
}
