// Package posting computes the journal entry of a transaction, or of the two transactions of a pair, from its type: the
// balanced lines, and the lots that are consumed, moved and created. It is pure. It works in two steps, because only the
// lot engine knows the cost at which an asset leaves the books:
//
//	plan, err := posting.Prepare(input)    // refuses what cannot be booked; plan.LotRequests lists the lots needed
//	entry, err := plan.Entry(answers)      // one answer per lot request; returns the lines and the lots created
//
// Every type is booked as one of three movements:
//
//	receive   Dr source net        Dr fee    Cr target gross
//	pay       Dr target net        Dr fee    Cr source gross, or basis with the difference as gain or loss
//	carry     Dr target basis      Dr fee    Cr source basis, with a gain or loss on the fee part only
//
// A swap, a purchase and a sale pay one leg for the other. Transfers, bridges, conversions, reserves and parked loans
// carry: lots move at their basis and no gain is realized. A leg without a partner is booked against the target account,
// which is a clearing account unless the request names another, and its lots are parked under that account. A deposit, a
// withdrawal or an unknown transaction is carried too if its target is a clearing account or the account of another
// source that can hold what moved. To the account of a source that holds money only, an asset is sold, and from it bought.
// The suspense account does not count as a clearing account here, because what is booked there is not known to be
// a transfer; unknown transactions are booked there unless the request names a target.
//
// Lines on the accounts of loans, receivables, payables and intercompany balances carry the units that moved. A line that
// settles such a balance takes its carrying amount out in proportion to the units; see Settle.
//
// The amount of the target may be split over several accounts where it is booked at its value.
//
// A quantity is never derived from values. What lands of an inflow is its quantity less that of the fee; a fee known by its
// value only is booked as a fee and takes nothing from the quantity.
//
// The balance of an account that carries lots always equals the basis of its lots. Therefore slices are credited to the
// account that carries them, and only lots are booked to such an account.
//
// Lines are in the base currency of their legal entity and ordered target, fee, source, gain or loss. No line is zero. An
// entry may have no lines at all: a lot of dust has no cost.
package posting
