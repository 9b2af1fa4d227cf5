package price

// FaultsMax is how many faults of a file are named.
const FaultsMax = faultsMax

// ReferredBy lets a table keep prices from being deleted.
func (s *Service) ReferredBy(table, column, many string) {
	s.referrers = append(s.referrers, referrer{table, column, many})
}

// Referrers are the tables that rest on prices.
func Referrers() (out []string) {
	for _, r := range referrers {
		out = append(out, r.table+"."+r.column)
	}
	return out
}
