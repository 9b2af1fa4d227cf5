package source

// Users are the tables that keep a source from being deleted.
func Users() (out []string) {
	for _, u := range users {
		out = append(out, u.table)
	}
	return out
}
