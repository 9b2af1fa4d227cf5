package tenancy

import (
	"context"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

func (h handlers) getPreferences(ctx context.Context, _ *struct{}) (wire.Data[Preferences], error) {
	all, err := h.app.Access.Preferences(ctx)
	return wire.DataOf(Preferences(all)), err
}

// preferenceName is the parameter of operations on one preference.
type preferenceName struct {
	Name string `path:"name" pattern:"^[a-z0-9][a-z0-9._-]{0,63}$" patternDescription:"up to 64 lower-case letters, digits, dots, hyphens and underscores, of which the first is a letter or digit" doc:"Name of the preference."`
}

func (h handlers) setPreference(ctx context.Context, in *struct {
	preferenceName
	Body SetPreference
}) (wire.Data[Preference], error) {
	err := h.app.Access.SetPreference(ctx, in.Name, in.Body.Value)
	return wire.DataOf(Preference{in.Name, in.Body.Value}), err
}

func (h handlers) deletePreference(ctx context.Context, in *struct{ preferenceName }) (wire.Data[wire.Deleted], error) {
	err := h.app.Access.DeletePreference(ctx, in.Name)
	return wire.DeletedOf(in.Name), err
}
