package db

import "strings"

// TrigramMin is how many letters a text must have for an index to find it.
const TrigramMin = 3

// Contains asks whether a column holds a text, as it is written: whoever searches without regard to case keeps the column in lower case.
// PostgreSQL sees by the pattern that its index of three letters in a row serves it.
func Contains(e Engine, column, text string) (condition string, arg any) {
	if e == SQLite {
		return "0 < instr(" + column + ", ?)", text
	}
	return column + " LIKE ?", "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// FindsText asks SQLite's table of three letters in a row for the rows that hold all of a text's: candidates, at which Contains has yet to look.
// It is empty for PostgreSQL, which needs no more than Contains.
func FindsText(e Engine, index, rowKey, text string) (condition string, arg any) {
	if e != SQLite {
		return "", nil
	}
	letters := []rune(text)
	var tokens []string
	for i := 0; i+TrigramMin <= len(letters); i++ {
		tokens = append(tokens, `"`+strings.ReplaceAll(string(letters[i:i+TrigramMin]), `"`, `""`)+`"`)
	}
	return rowKey + " IN (SELECT rowid FROM " + index + " WHERE " + index + " MATCH ?)", strings.Join(tokens, " AND ")
}
