package lot

import "time"

// Method is the cost flow assumption: the order in which lots are consumed.
type Method string

// The methods.
const (
	FIFO            Method = "fifo"
	LIFO            Method = "lifo"
	HIFO            Method = "hifo"
	LOFO            Method = "lofo"
	WeightedAverage Method = "weighted_average"
	SpecificID      Method = "specific_id"
)

// Election is a method and the instant from which it applies.
type Election struct {
	Method Method
	From   time.Time
}

// Config holds the choices of a legal entity about its lots.
type Config struct {
	// Elections are ordered by From. Each event uses the method in force at its time; before the first election that is FIFO.
	Elections []Election
	// Identified pools, those of NFTs and parked lots, always use SpecificID, and record it on uses even if nothing was
	// picked.
	Identified bool
	// Places is the number of digits of the book currency's minor unit.
	Places int32
	// Zone is the time zone in which the days of a holding period are counted, UTC if nil.
	Zone *time.Location
	// ZeroBasis allows an event to consume more than the pool holds, the missing part at no cost. Without it, such an
	// event fails with a Shortage.
	ZeroBasis bool
}

// methodAt returns the method in force at an instant.
func (c *Config) methodAt(at time.Time) Method {
	if c.Identified {
		return SpecificID
	}
	for i := len(c.Elections) - 1; i >= 0; i-- {
		if !c.Elections[i].From.After(at) {
			return c.Elections[i].Method
		}
	}
	return FIFO
}

// Term is the tax term of a holding period.
type Term string

// The terms.
const (
	Short Term = "short"
	Long  Term = "long"
)

const dayMax, dayMin = 367, 365

// holdingPeriod counts the calendar days between two instants. The term is long once a full year has passed since the day
// after the acquisition, where the IRS starts counting: a lot acquired on 2023-02-28 is long from 2024-03-01, not from
// 2024-02-29. An opening balance that was disposed of before the date of acquisition that it was entered with counts as held
// for no days.
func (c *Config) holdingPeriod(acquired, disposed time.Time) (days int, term Term) {
	from, to := c.day(acquired), c.day(disposed)
	days = max(0, int((to.Unix()-from.Unix())/(24*60*60)))
	// Only periods near the anniversary need exact date arithmetic.
	long := days >= dayMax
	if !long && days >= dayMin {
		long = !to.Before(from.AddDate(0, 0, 1).AddDate(1, 0, 0))
	}
	if long {
		return days, Long
	}
	return days, Short
}

// HoldingPeriod returns the days between acquisition and disposal, and the term.
func HoldingPeriod(acquired, until time.Time, zone *time.Location) (days int, term Term) {
	return (&Config{Zone: zone}).holdingPeriod(acquired, until)
}

// day returns the calendar date of an instant in the zone, as midnight UTC.
func (c *Config) day(at time.Time) time.Time {
	if c.Zone != nil {
		at = at.In(c.Zone)
	} else {
		at = at.UTC()
	}
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
