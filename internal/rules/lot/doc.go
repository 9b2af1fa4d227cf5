// Package lot says which lots of an asset leave when some of it does, at what cost, and with what gain.
//
// A Pool holds the lots of one scope: an asset of a legal entity, or of one of its sources. Whoever calls keeps the
// pools apart and gives each its events in the order of Compare; Apply answers with the uses, lot by lot, or refuses
// and leaves the pool as it was. What leaves a pool is a pure function of its Config and its events, so it can be
// computed again from any Checkpoint.
//
//   - Acquire makes a lot: a purchase, a reward, an opening balance.
//   - Dispose and Fee consume lots and realize gains. The fee part of an event comes before its principal.
//   - Move and Convert take lots out without a gain. What the uses say arrives in another pool with Arrive, with its basis and its dates.
//
// Where lots are chosen, by SpecificID, Picks name them; what names none takes the oldest, which is what the IRS does
// where nobody identified anything.
//
// A place where half of a transfer waits for the other is a pool too, with Identified set: lots are parked there by
// Move and Arrive, and taken from it by Picks. So are NFTs, which are never exchangeable for each other.
//
// Quantities are exact and never rounded, money is rounded half-even to the currency's minor unit once, when a slice
// is made, and parts always add up to the whole. The last slice of a lot takes all that is left of its basis.
package lot
