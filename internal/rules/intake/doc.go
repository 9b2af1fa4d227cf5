// Package intake parses the files that banks, exchanges, block explorers and payment processors export (CSV, JSON, OFX)
// into transaction records.
//
// The reader streams: apart from a head of bounded length, which is used to detect format and number and date
// conventions, it holds one row at a time. Numbers are parsed from their text, never through floating point. Where a
// text is ambiguous (1,234 may be a thousand or a little more than one, 02/03 may be in February or in March), the
// mapping decides, then the other values of the column; if neither does, the row gets a fault that says what to state.
// The same file always yields the same records with the same ids, so importing it twice adds nothing and an interrupted
// import resumes by reading the file again.
package intake
