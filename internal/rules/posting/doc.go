// Package posting turns what happened into a journal entry: from a transaction, or the two of a pair, and its type to
// balanced lines and to what becomes of lots. It is pure, and goes in two steps, because an asset leaves the books at
// a cost that only the lot engine knows:
//
//	plan, err := posting.Prepare(input)    // the refusals, and plan.Takes: which lots must be asked for
//	entry, err := plan.Entry(answers)      // one answer for each take: the lines, and the lots that are made
//
// All types come down to three movements:
//
//	receive   Dr source net        Dr fee    Cr target gross
//	give      Dr target net        Dr fee    Cr source gross, or basis with the difference as gain or loss
//	carry     Dr target basis      Dr fee    Cr source basis of all, and gain or loss of the fee part alone
//
// A swap, a purchase and a sale give one leg for the other. Transfers, bridges, conversions, reserves and parked
// loans carry: value moves, and nobody gains. A leg without its partner goes through the target, which is a clearing
// account unless another is named, and lots are parked under it. A deposit, a withdrawal or something unknown whose
// target is a clearing account or the account of another source is carried too. Suspense is no such account, because
// what stands there is not known to be a transfer; something unknown goes there unless a target is named.
//
// Whatever is booked, the balance of an account that carries lots is the basis of its lots. So slices are credited to
// the account that carries them, and nothing but lots is booked to such a target.
//
// Lines are in the currency of their legal entity, stand in the order target, fee, source, gain or loss, and none is
// zero. An entry may have no line at all: dust is a lot without cost.
package posting
