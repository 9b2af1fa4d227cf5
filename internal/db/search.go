package db

import "strings"

// trigramMin is the least number of letters of a text that an index can find.
const trigramMin = 3

// Contains returns a condition that a column contains a text, with regard to case: to search without regard to case, keep
// the column in lower case. It uses no index.
func Contains(e Engine, column, text string) (condition string, arg any) {
	if e == SQLite {
		return "0 < instr(" + column + ", ?)", text
	}
	return "0 < strpos(" + column + ", ?)", text
}

// Trigrams returns the distinct sequences of three letters in a text that the engine's index contains. PostgreSQL's index
// contains only letters and digits, and which characters beyond A to Z are letters depends on the locale of the database,
// so those are left out.
func Trigrams(e Engine, text string) (all []string) {
	letters := []rune(text)
	seen := map[string]bool{}
	for i := 0; i+trigramMin <= len(letters); i++ {
		t := string(letters[i : i+trigramMin])
		if seen[t] || e == Postgres && strings.ContainsFunc(t, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }) {
			continue
		}
		seen[t] = true
		all = append(all, t)
	}
	return all
}

// HasTrigrams returns a condition, which uses the engine's index, that a column contains all of some trigrams. Such rows
// are candidates, to which Contains must still be applied. On SQLite the index is a table with the keys of the rows.
func HasTrigrams(e Engine, column, index, rowKey string, trigrams []string) (condition string, args []any) {
	if e == SQLite {
		tokens := make([]string, len(trigrams))
		for i, t := range trigrams {
			tokens[i] = `"` + strings.ReplaceAll(t, `"`, `""`) + `"`
		}
		return rowKey + " IN (SELECT rowid FROM " + index + " WHERE " + index + " MATCH ?)", []any{strings.Join(tokens, " AND ")}
	}
	likes := make([]string, len(trigrams))
	for i, t := range trigrams {
		likes[i], args = column+" LIKE ?", append(args, "%"+t+"%")
	}
	return strings.Join(likes, " AND "), args
}
