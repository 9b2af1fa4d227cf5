// Package lots stores the lots of an organization in the database; package rules/lot computes which of them are consumed.
// A lot is a quantity acquired at one time and cost. It is stored with where it is held and what was consumed from it
// since. On the wire a lot is an asset.
//
// It is the only package that writes to the lot tables, with one exception: deleting a legal entity, which must not have
// lots any more, deletes its rows in lot_pools, lot_positions, lot_corrections and lot_gains (reference.DeleteDependents;
// the tables are declared in internal/db/tables_assets.go). All other changes are collected in a Changes value, which Write
// stores within the caller's database transaction. Two packages fill one in: assets/replay, for everything that consumes or
// creates lots, and this one, when an entry is replaced by another one with the same effect (ReplaceEntry) or moves to
// another accounting period (MovePeriods). The lots that a user selected for a disposal are written here too
// (Service.SelectLots).
//
// # Tables
//
//   - lot_pools: the lots that one disposal may choose from, with the sums of what is left of them and the order key of
//     the last event.
//   - lots: one row for each lot with what is left of it. Its order key says where it entered its pool.
//     is_open and unit_key repeat what is left so that indexes find open lots by age and by unit cost; emptied_at,
//     interval_node, entered_at and last_used_at let reports find the lots that were held at some time (see lifetime.go).
//   - lot_consumptions: the requests of entries to consume from pools, one row for each Consumption.
//   - lot_uses: the results, one row for each lot that a consumption drew from. asset_id is empty for a lot deficit. Uses
//     in closed periods, and those that are undone on another date, are never changed; corrections with the differences are added
//     on the later date.
//   - lot_corrections: a lot is counted on the date of its entry. Where an entry with another date changed it, these rows move the
//     difference to that date; over all dates they add up to nothing.
//   - lot_positions and lot_gains: sums of lots, corrections and uses by accounting period (Totals), changed by the same Write.
//   - lot_selections: the lots that a user selected for a transaction before it was posted.
//
// # Invariants
//
//   - I3: of every lot 0 <= remaining quantity <= quantity, and nothing of the basis remains when nothing of the
//     quantity does.
//   - I4: for every legal entity, ledger account and asset, the basis that remains in lots is the balance of the
//     account.
//   - I5: what was acquired less what was consumed, plus what was moved in, less what was moved out, is what remains.
//   - The lots and uses of a pool are those that rules/lot computes from all events of the pool in the order of their
//     keys, whenever they were booked.
//
// replay.Verify checks all of them; `bursar verify` runs it. Under a weighted average the pool has the basis, and the
// remaining basis of a lot is only its share.
//
// # When lots are written
//
// Posting an entry writes its consumptions, uses and lots, and rewrites those of later entries that now consume other
// lots. Reversing or unposting removes them. A draft writes nothing. Creating, changing or deleting an opening balance
// writes one lot, and rewrites the uses and lots of later entries that change.
package lots
