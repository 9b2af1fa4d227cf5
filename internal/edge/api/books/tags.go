package books

import (
	"context"

	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// tagPath is the parameter of operations on one tag.
type tagPath struct {
	ID string `path:"tag_id" minLength:"1" maxLength:"64" doc:"Identifier of the tag."`
}

func (h handlers) listTags(ctx context.Context, in *struct {
	wire.Paging
	Kind   string `query:"kind" enum:"supplier,customer,department,project,custom" doc:"Return only tags of this kind."`
	Search string `query:"search" minLength:"1" maxLength:"100" doc:"Return only tags with this text in their name; case-insensitive."`
}) (wire.List[Tag], error) {
	tags, err := h.app.Tags.List(ctx, tag.Filter{Kind: tag.Kind(in.Kind), Search: in.Search}, in.Request())
	return wire.ListOf(tags, viewTag), err
}

func (h handlers) getTag(ctx context.Context, in *struct{ tagPath }) (wire.Data[Tag], error) {
	t, err := h.app.Tags.Get(ctx, in.ID)
	return wire.DataOf(viewTag(t)), err
}

func (h handlers) createTag(ctx context.Context, in *struct{ Body CreateTag }) (wire.Data[Tag], error) {
	t, err := h.app.Tags.Create(ctx, tag.Kind(in.Body.Kind), in.Body.Name)
	return wire.DataOf(viewTag(t)), err
}

func (h handlers) updateTag(ctx context.Context, in *struct {
	tagPath
	Body UpdateTag
}) (wire.Data[Tag], error) {
	t, err := h.app.Tags.Update(ctx, in.ID, tag.UpdateParams{Name: in.Body.Name, Kind: (*tag.Kind)(in.Body.Kind)})
	return wire.DataOf(viewTag(t)), err
}

func (h handlers) deleteTag(ctx context.Context, in *struct{ tagPath }) (wire.Data[wire.Deleted], error) {
	err := h.app.Tags.Delete(ctx, in.ID)
	return wire.DeletedOf(in.ID), err
}

func viewTag(t tag.Tag) Tag {
	return Tag{
		ID:        t.ID,
		Name:      t.Name,
		Kind:      string(t.Kind),
		CreatedAt: wire.Timestamp(t.CreatedAt),
		UpdatedAt: wire.TimestampOrNull(t.UpdatedAt),
	}
}
