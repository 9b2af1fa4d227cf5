// Package replay computes the lots of pools again from a point in their history.
//
// Entries are booked in any order, but lots must be what they would be if everything had been booked in the order in
// which it happened. So whatever is added, removed or changed is inserted into the history of each pool it concerns, and
// what came after it there happens again. A Replay collects such requests; Run computes them and returns an Outcome:
// what the new entries consume and create, which other entries now consume different lots, and which pools were
// recomputed. Nothing is written before Outcome.Write, which stores all of it through package lots. In between, the
// caller corrects the journal and says under which entry each change is written.
//
// # Algorithm
//
// Run opens every pool from the earliest order key at which something changes: its stale range. A session takes back
// what was consumed and created in that range, loads the lots that can be asked for (those consumed in the range, those
// that were picked, and as many of the next ones in the order of the method as the requests may need), and gives them to
// the engine of rules/lot. Then the events of all open sessions happen in the order of their keys. A consumption asks
// the engine; if the answer differs from the one that is stored, its entry has changed, and if that entry creates lots
// elsewhere by a move or a conversion, the pool they enter is opened too. Lots that enter a pool are built from what
// their entry consumed, so those consumptions happen first, in whichever pool they are.
//
// A session can turn out to have begun too late, because lots enter it at an order key that is already over. Then Run
// starts again with all pools it knows by then. If that teaches it nothing new, moves at one instant form a cycle and it
// returns an error of kind Conflict.
//
// Verify uses the same sessions to compute every pool from nothing and compares the result with what is stored.
package replay
