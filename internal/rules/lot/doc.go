// Package lot computes, as pure functions, which lots of an asset a disposal or transfer consumes, at what cost, and with
// what gain; package assets/lots stores lots in the database.
//
// A Pool holds the lots of one scope: an asset of a legal entity, or of one of its sources. The caller keeps a pool for
// each scope and applies events in the order of Compare, which OrderKey encodes for the database. Apply returns the
// uses, one per lot, or an error. The uses are a pure function of the Config and the events, so that a pool can be
// replayed from any Checkpoint.
//
//   - Acquire creates a lot: a purchase, a reward, an opening balance. An opening balance enters at the zero time, before
//     everything else, so that every disposal can consume it.
//   - Dispose and Fee consume lots and realize gains. The fee part of an event comes before its principal.
//   - Move and Convert consume lots without a gain. The slices enter another pool by Arrive, with their basis and dates.
//
// Under SpecificID, Picks name the lots; an event without picks consumes the oldest, as the IRS prescribes if nothing was
// identified.
//
// A clearing account on which half of a transfer waits for the other is a pool too, with Identified set: lots are parked
// there by Move and Arrive, and consumed by Picks. So are NFTs, which are never exchangeable for each other.
//
// Quantities are exact and never rounded. Money is rounded half-even to the currency's minor unit once, when a slice is
// created, and parts always add up to the whole: the last slice of a lot gets the rest of its basis.
package lot
