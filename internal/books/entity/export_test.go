package entity

// Referring are the tables that name entities.
func Referring() (out []string) {
	for _, r := range referrers {
		out = append(out, r.table)
	}
	return out
}
