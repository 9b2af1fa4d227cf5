// Package lots keeps the lots of an organization: what was acquired at one time and cost, where it is held, and what
// was consumed of it since. On the wire a lot is an asset.
//
// It is the only writer of the lot tables. Everything that changes them is collected in a Changes value, which Write
// brings to the database within the caller's transaction. Two packages fill one in: assets/replay, for everything
// that consumes or creates lots, and this one, where an entry is replaced by another one that says the same
// (ReplaceEntry) or changes its accounting period (MovePeriods). The lots that somebody picked for a disposal are
// written here too (Service.SelectLots).
//
// # Tables
//
//   - lot_pools: the lots that one disposal may choose from, with the sums of what is left of them and the order key of
//     the last event.
//   - lots: one row for each lot with what is left of it. Its order key (column place) says where it entered its pool.
//     is_open and unit_key repeat what is left so that indexes find open lots by age and by unit cost; emptied_at,
//     life, came_at and used_by let reports find the lots that were held at some time (see lifetime.go).
//   - lot_takes: what entries ask of pools, one row for each Consumption.
//   - lot_uses: the answers, one row for each lot that a consumption drew from. asset_id is empty for a quantity that
//     was not there. Uses in closed periods are never changed: corrections with the differences stand beside them.
//   - lot_positions and lot_gains: sums of lots and uses by accounting period (Totals), changed by the same Write.
//   - lot_selections: the lots that somebody picked for a transaction before it was posted.
//
// The names of the tables lot_takes and lot_uses and of the columns place, life, came_at and used_by are older than
// the words Consumption, OrderKey, interval node, entry date and last use; they stay because renaming them would
// rewrite every database for no gain.
//
// # Invariants
//
//   - I3: of every lot 0 <= remaining quantity <= quantity, and nothing of the basis remains when nothing of the
//     quantity does.
//   - I4: for every legal entity, ledger account and asset, the basis that remains in lots is the balance of the
//     account.
//   - I5: what was acquired less what was consumed, plus what was moved in, less what was moved out, is what remains.
//   - The lots and uses of a pool are what rules/lot answers if everything that happened to the pool is applied in the
//     order of its keys, whenever it was booked.
//
// replay.Verify checks all of them; `bursar verify` runs it. Under a weighted average the pool has the basis, and the
// remaining basis of a lot is only its share.
//
// # Who writes what when
//
// Posting an entry writes its consumptions, uses and lots, and rewrites those of later entries that now draw on other
// lots. Reversing or unposting takes them back. A draft writes nothing. Entering, changing or deleting an opening
// balance writes one lot, and again whatever follows from it.
package lots
