// Package replay computes the lots of pools again from a point in their history.
//
// Entries are booked in any order, but lots must be what they would be if everything had been booked in the order in
// which it happened. So an event that is added, removed or changed is inserted into the history of each pool it affects,
// and all later events of those pools are applied again. A Replay collects the changes; Run computes their effect and
// returns an Outcome: what the new entries consume and create, which other entries now consume different lots, and which
// pools were recomputed. Nothing is written before Outcome.Write, which stores all of it through package lots. In between,
// the caller corrects the journal and decides under which entry each change is written.
//
// # Algorithm
//
// Run opens a session on every pool from the earliest order key at which something changes: its stale range. A session
// rewinds what was consumed and created in that range, loads the lots that can be consumed (those consumed in the range,
// those that were picked, and as many of the next ones in the order of the method as the consumptions may need), and passes
// them to the engine of rules/lot. Then the events of all open sessions are applied in the order of their keys. If the
// computed uses of a consumption differ from the stored ones, its entry has changed, and if that entry creates lots
// elsewhere by a move or a conversion, the pool they enter is opened too. Lots that enter a pool are built from what their
// entry consumed, so those consumptions are applied first, whichever pool they are in.
//
// A session can turn out to have started too late, because lots enter it at an order key that it has passed. Then Run
// starts again with all pools it knows by then.
//
// At one instant, lots arrive before others leave. If something leaves a pool and returns to it at the same instant, the
// moves wait for each other, and Run starts again with one of them returning: its lots arrive after the moves of the
// instant. If no order exists in which everything is there when it leaves, Run returns an error of kind Conflict.
//
// Verify uses the same sessions to compute every pool from nothing and compares the result with what is stored.
package replay
