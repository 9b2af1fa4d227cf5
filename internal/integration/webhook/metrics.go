package webhook

import "github.com/prometheus/client_golang/prometheus"

// attempts counts the requests of this node to endpoints.
var attempts = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bursar_webhook_attempts_total",
	Help: "Requests of this node to webhook endpoints by result."}, []string{"result"})

// Metrics returns the metrics of the package.
func Metrics() prometheus.Collector { return attempts }
