package lot

import "time"

// Method is the rule by which lots are consumed.
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

// Election is a method and the instant from which it holds.
type Election struct {
	Method Method
	From   time.Time
}

// Config is what a legal entity decided about its lots.
type Config struct {
	// Elections are ordered by From. The method of an event is that of its time; before the first it is FIFO.
	Elections []Election
	// Identified pools have SpecificID always, and their uses say so even where nothing was picked: NFTs and parked lots.
	Identified bool
	// Places is the number of digits of the book currency's minor unit.
	Places int32
	// Zone is where the days of a holding period are counted, UTC if nil.
	Zone *time.Location
	// ZeroBasis lets more leave than is held, the missing part at no cost. Without it such an event is refused with a
	// Shortage.
	ZeroBasis bool
}

// method is the one that holds at an instant.
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

// Term is how long a lot was held, for taxes.
type Term string

// The terms.
const (
	Short Term = "short"
	Long  Term = "long"
)

const dayMax, dayMin = 367, 365

// holding counts the calendar days between two instants. A year is over when it is over for the day after the
// acquisition, which is where the IRS begins to count: what was acquired on 2023-02-28 is long from 2024-03-01, not
// from the 29th of February.
func (c *Config) holdingPeriod(acquired, disposed time.Time) (days int, term Term) {
	from, to := c.day(acquired), c.day(disposed)
	days = int((to.Unix() - from.Unix()) / (24 * 60 * 60))
	// Most are far from the anniversary.
	long := days >= dayMax
	if !long && days >= dayMin {
		long = !to.Before(from.AddDate(0, 0, 1).AddDate(1, 0, 0))
	}
	if long {
		return days, Long
	}
	return days, Short
}

// Held is how many days something was held, and which term that is.
func HoldingPeriod(acquired, until time.Time, zone *time.Location) (days int, term Term) {
	return (&Config{Zone: zone}).holdingPeriod(acquired, until)
}

// day is the calendar date where the days are counted.
func (c *Config) day(at time.Time) time.Time {
	if c.Zone != nil {
		at = at.In(c.Zone)
	} else {
		at = at.UTC()
	}
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
