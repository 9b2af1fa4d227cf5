// Package notation reads and writes journals as text: in the formats of hledger and beancount, and as CSV.
//
// Both directions stream: one entry at a time is held in memory, so a journal may be larger than memory. Both are
// exact: an entry that is written and read again is identical to the last digit and the last space. Texts that a format
// cannot represent are escaped; the comment at the top of each format's file describes how. What another program wrote
// and this package cannot import faithfully is rejected with an error that names the file, the line and what to do;
// nothing is guessed.
package notation
