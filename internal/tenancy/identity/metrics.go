package identity

import "github.com/prometheus/client_golang/prometheus"

// newAttempts counts what becomes of attempts to prove who one is. Those for accounts that do not exist are in no audit log.
func newAttempts() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bursar_sign_ins_total",
		Help: "Attempts to sign in, or to confirm a session, on this node: succeeded, failed, or delayed because too many failed before."},
		[]string{"result"})
}

// Metrics returns the metrics of attempts to sign in.
func (s *Service) Metrics() prometheus.Collector { return s.attempts }
