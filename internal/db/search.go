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

// Trigrams are the three letters in a row that a text has, each once.
func Trigrams(text string) (all []string) {
	letters := []rune(text)
	seen := map[string]bool{}
	for i := 0; i+TrigramMin <= len(letters); i++ {
		if t := string(letters[i : i+TrigramMin]); !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	return all
}

// FindsTrigrams asks SQLite's table of three letters in a row for the rows that have all of some: candidates, at which Contains has yet to look.
func FindsTrigrams(index, rowKey string, trigrams []string) (condition string, arg any) {
	tokens := make([]string, len(trigrams))
	for i, t := range trigrams {
		tokens[i] = `"` + strings.ReplaceAll(t, `"`, `""`) + `"`
	}
	return rowKey + " IN (SELECT rowid FROM " + index + " WHERE " + index + " MATCH ?)", strings.Join(tokens, " AND ")
}
