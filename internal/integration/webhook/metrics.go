package webhook

import "github.com/prometheus/client_golang/prometheus"

// newCounter returns a counter of requests to endpoints.
func newCounter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bursar_webhook_attempts_total",
		Help: "Requests of this node to webhook endpoints by result."}, []string{"result"})
}

// Metrics returns the metrics of the service.
func (s *Service) Metrics() prometheus.Collector { return s.counted }
