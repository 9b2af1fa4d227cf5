package api

import "context"

// Break makes a route panic in the middle of a request.
func (a *API) Break(route string) {
	for i := range a.list {
		if r := &a.list[i]; r.Method+" "+r.Path == route {
			handler := r.Call
			r.Call = func(ctx context.Context, in any) (any, error) {
				_, _ = handler(ctx, in)
				panic("deliberate")
			}
		}
	}
}
