package db

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stats are the figures of one handle. The names and meanings are documented in docs/OPERATIONS.md.
type stats struct {
	groupSize *prometheus.HistogramVec
	retries   *prometheus.CounterVec
	queued    prometheus.Gauge
	wait      prometheus.Histogram
	slow      prometheus.Counter
}

// How writes share a transaction: those of one organization in a group commit, and those of any organization in one
// commit of SQLite's only writer.
const (
	groupOfOrganization = "group"
	groupOfSQLite       = "sqlite"
)

func newStats() *stats {
	return &stats{
		groupSize: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bursar_db_group_writes",
			Help: "Writes per shared commit.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}}, []string{"kind"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bursar_db_retries_total",
			Help: "Transactions that were rolled back and run again."}, []string{"reason"}),
		queued: prometheus.NewGauge(prometheus.GaugeOpts{Name: "bursar_db_writes_queued", Help: "Writes that wait for their turn."}),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bursar_db_write_wait_seconds",
			Help: "Time a write waited for its turn.", Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}}),
		slow: prometheus.NewCounter(prometheus.CounterOpts{Name: "bursar_db_slow_statements_total",
			Help: "Statements that took longer than the threshold of the slow-statement log."}),
	}
}

func (s *stats) all() []prometheus.Collector {
	return []prometheus.Collector{s.groupSize, s.retries, s.queued, s.wait, s.slow}
}

// committed notes a commit that several writes shared.
func (s *stats) committed(kind string, writes int) {
	if writes > 0 {
		s.groupSize.WithLabelValues(kind).Observe(float64(writes))
	}
}

// retried notes a transaction that runs again because of an error.
func (s *stats) retried(err error) {
	reason := "conflict" // something it relied on had changed
	switch {
	case sqlState(err) == "40001":
		reason = "serialization"
	case sqlState(err) == "40P01":
		reason = "deadlock"
	case errors.Is(err, driver.ErrBadConn):
		reason = "connection"
	}
	s.retries.WithLabelValues(reason).Inc()
}

// enqueued notes a write that waits for its turn. The function it returns is called when the write begins or gives up;
// only the first call counts.
func (s *stats) enqueued() (began func()) {
	s.queued.Inc()
	from := time.Now()
	return sync.OnceFunc(func() {
		s.queued.Dec()
		s.wait.Observe(time.Since(from).Seconds())
	})
}

var (
	poolWaits = prometheus.NewDesc("bursar_db_pool_waits_total", "Times a connection of the pool was waited for.", []string{"pool"}, nil)
	poolWait  = prometheus.NewDesc("bursar_db_pool_wait_seconds_total", "Time spent waiting for a connection of the pool.",
		[]string{"pool"}, nil)
	poolConns = prometheus.NewDesc("bursar_db_pool_connections", "Connections of the pool by state.", []string{"pool", "state"}, nil)
)

// Describe implements prometheus.Collector.
func (d *DB) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range d.stats.all() {
		c.Describe(ch)
	}
	for _, desc := range []*prometheus.Desc{poolWaits, poolWait, poolConns} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (d *DB) Collect(ch chan<- prometheus.Metric) {
	for _, c := range d.stats.all() {
		c.Collect(ch)
	}
	pools := map[string]*sql.DB{"write": d.write, "read": d.read}
	if d.write == d.read {
		pools = map[string]*sql.DB{"all": d.write}
	}
	for name, pool := range pools {
		s := pool.Stats()
		ch <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(s.WaitCount), name)
		ch <- prometheus.MustNewConstMetric(poolWait, prometheus.CounterValue, s.WaitDuration.Seconds(), name)
		ch <- prometheus.MustNewConstMetric(poolConns, prometheus.GaugeValue, float64(s.InUse), name, "in_use")
		ch <- prometheus.MustNewConstMetric(poolConns, prometheus.GaugeValue, float64(s.Idle), name, "idle")
	}
}
