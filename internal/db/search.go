package db

import "strings"

// TrigramMin is how many letters a text must have for an index to find it.
const TrigramMin = 3

// Contains asks whether a column holds a text, as it is written: whoever searches without regard to case keeps the
// column in lower case. No index is asked.
func Contains(e Engine, column, text string) (condition string, arg any) {
	if e == SQLite {
		return "0 < instr(" + column + ", ?)", text
	}
	return "0 < strpos(" + column + ", ?)", text
}

// Trigrams are the three letters in a row that a text has and that the engine's index knows, each once. PostgreSQL's
// knows letters and digits alone, and which letters beyond A to Z are any depends on the locale of the database.
func Trigrams(e Engine, text string) (all []string) {
	letters := []rune(text)
	seen := map[string]bool{}
	for i := 0; i+TrigramMin <= len(letters); i++ {
		t := string(letters[i : i+TrigramMin])
		if seen[t] || e == Postgres && strings.ContainsFunc(t, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }) {
			continue
		}
		seen[t] = true
		all = append(all, t)
	}
	return all
}

// FindsTrigrams asks an engine's index for the rows whose column has all of some trigrams: candidates, at which
// Contains has yet to look. On SQLite that is a table of its own, which names rows by their key.
func FindsTrigrams(e Engine, column, index, rowKey string, trigrams []string) (condition string, args []any) {
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
