// Package notation reads and writes journals as text: in the notation of hledger, of beancount, and as CSV.
//
// Both directions stream: one entry at a time is held, so a journal may be longer than memory. Both are exact: what is
// written and read again is the same entry to the last digit and the last space. Where a format cannot carry a text as
// it is, the text is escaped; the head of each format's file says how. What another program wrote and this package
// cannot take over faithfully is refused with the file, the line and what to do about it, never guessed.
package notation
