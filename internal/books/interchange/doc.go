// Package interchange carries journals in and out as text, in the notations of other programs, so that users can come and leave any day.
package interchange
