// Package intake reads the files that banks, exchanges, explorers and processors export into transaction records.
//
// It streams: beside a head of bounded length, from which open questions are answered, one row is held at a time. It is
// exact: every number is read from its text, and what a text does not settle (is 1,234 a thousand or a bit more than
// one, is 02/03 in February or in March) is decided by the mapping, by the other values of the same column, or not at
// all: then the row has a fault that says what to state. It is repeatable: the same file gives the same records with the
// same ids, so that reading it twice adds nothing and a reading that was cut short resumes by reading again.
package intake
