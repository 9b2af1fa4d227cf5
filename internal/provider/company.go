package provider

import (
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// Company is one of several companies that a system keeps books for.
type Company struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Currency string `json:"currency"`
}

// namesMax is how many companies an error lists.
const namesMax = 20

// PickCompany returns the company with an id or a name, which the field Entity states. If nothing is stated there must be only one.
func PickCompany(title, wanted string, all []Company) (Company, error) {
	wanted = strings.TrimSpace(wanted)
	var names []string
	for _, c := range all {
		if wanted != "" && (c.ID == wanted || strings.EqualFold(strings.TrimSpace(c.Name), wanted)) {
			return c, nil
		}
		if len(names) < namesMax {
			names = append(names, Clean(c.Name))
		}
	}
	list := strings.Join(names, ", ")
	switch {
	case len(all) == 0:
		return Company{}, fault.Conflictf("%s shows no company that these credentials can be used for", title)
	case wanted != "":
		return Company{}, fault.Invalidf(Entity, "is none of the companies in %s: %s", title, list)
	case len(all) > 1:
		return Company{}, fault.Conflictf("%s keeps books for several companies: enter which one to use, one of %s", title, list)
	}
	return all[0], nil
}
