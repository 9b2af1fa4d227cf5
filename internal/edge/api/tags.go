package api

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/tag"
)

// tagPath is the parameter of operations on one tag.
type tagPath struct {
	ID string `path:"tag_id" minLength:"1" maxLength:"64" doc:"The tag"`
}

func (a *API) listTags(ctx context.Context, in *struct {
	paging
	Kind   string `query:"kind" enum:"supplier,customer,department,project,custom" doc:"Only tags of this kind"`
	Search string `query:"search" minLength:"1" maxLength:"100" doc:"Only tags with this in their name, in capitals or not"`
}) (List[Tag], error) {
	tags, err := a.app.Tags.List(ctx, tag.Filter{Kind: tag.Kind(in.Kind), Search: in.Search}, in.request())
	return listOf(tags, viewTag), err
}

func (a *API) getTag(ctx context.Context, in *struct{ tagPath }) (Data[Tag], error) {
	t, err := a.app.Tags.Get(ctx, in.ID)
	return Data[Tag]{viewTag(t)}, err
}

func (a *API) createTag(ctx context.Context, in *struct{ Body CreateTag }) (Data[Tag], error) {
	t, err := a.app.Tags.Create(ctx, tag.Kind(in.Body.Kind), in.Body.Name)
	return Data[Tag]{viewTag(t)}, err
}

func (a *API) updateTag(ctx context.Context, in *struct {
	tagPath
	Body UpdateTag
}) (Data[Tag], error) {
	t, err := a.app.Tags.Update(ctx, in.ID, tag.UpdateParams{Name: in.Body.Name, Kind: (*tag.Kind)(in.Body.Kind)})
	return Data[Tag]{viewTag(t)}, err
}

func (a *API) deleteTag(ctx context.Context, in *struct{ tagPath }) (Data[Deleted], error) {
	err := a.app.Tags.Delete(ctx, in.ID)
	return Data[Deleted]{Deleted{in.ID, true}}, err
}

func viewTag(t tag.Tag) Tag {
	return Tag{ID: t.ID, Name: t.Name, Kind: string(t.Kind), CreatedAt: stamp(t.CreatedAt), UpdatedAt: stampOrNull(t.UpdatedAt)}
}
