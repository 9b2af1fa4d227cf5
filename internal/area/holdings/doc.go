// Package holdings reads what is held and what became of it: positions, lots, gains, dispositions, and the reports made of them.
//
// What is held at the end of an accounting period is a sum over the movements that are kept by period, never over lots. Lots as of an earlier time are
// what is left of them now and what was taken since. So a report costs what it shows, not what ever happened.
package holdings
