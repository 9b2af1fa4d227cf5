package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

const (
	// documentsPerPage is the maximum number of documents on a page.
	documentsPerPage = 50
	// charactersPerPage is the maximum length of the documents of a page together, unless the first alone is longer.
	charactersPerPage = 1_000_000
)

// Documents is one page of documents, by path and layer.
type Documents struct {
	Items      []Document
	Truncated  bool // the page ended because of its size
	NextCursor string
}

// listQuery selects the documents of a layer: the path, and the path after which the page begins.
type listQuery struct {
	path      string
	after     string
	inclusive bool // include that path itself, which the layer has not listed yet
}

// found is a document of a layer. Its content is loaded only as far as a page has room for it.
type found struct {
	documentRow
	layer   Layer
	loaded  bool
	content contentRow
}

// List returns the documents at a path, or below a path that ends in a slash, or all, of the organization and of its
// firm.
func (s *Service) List(ctx context.Context, path, cursor string) (out Documents, err error) {
	print := page.Fingerprint("memory-documents", map[string]string{"path": path})
	key, err := page.Decode(print, cursor, 2)
	if err != nil {
		return out, err
	}
	orgID, firm := actor.From(ctx).OrganizationID, ""
	if err := s.db.ReadOne(ctx, orgID, func(ctx context.Context, tx *db.Tx) error {
		firm, err = organization.FirmOf(ctx, tx)
		return err
	}); err != nil {
		return out, err
	}
	from, err := s.resume(ctx, path, key, map[Layer]string{Org: orgID, Firm: firm})
	if err != nil {
		return out, err
	}
	all, err := s.layer(ctx, orgID, from, Org)
	if err != nil {
		return out, err
	}
	if firm != "" {
		from.inclusive = false // the firm's document comes first, so it was listed already
		firms, err := s.layer(ctx, firm, from, Firm)
		if err != nil {
			return out, err
		}
		all = append(all, firms...)
	}
	return paginate(all, print), nil
}

// resume resolves a cursor. It has the layer and the id of the last document, because a path may be too long for a
// cursor.
func (s *Service) resume(ctx context.Context, path string, key []string, layers map[Layer]string) (q listQuery, err error) {
	q.path = path
	if key == nil {
		return q, nil
	}
	orgID := layers[Layer(key[0])]
	if orgID == "" {
		return q, fault.Invalidf("cursor", "is no longer valid for this organization: start again without a cursor")
	}
	q.inclusive = Layer(key[0]) == Firm
	err = s.db.ReadOne(ctx, orgID, func(ctx context.Context, tx *db.Tx) error {
		q.after, err = selectPath(ctx, tx, key[1])
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return q, fault.Invalidf("cursor", "is no longer valid for this organization: start again without a cursor")
	}
	return q, err
}

// layer reads the documents of one layer, in a database transaction of the organization that owns them, with as much
// content as a page has room for.
func (s *Service) layer(ctx context.Context, orgID string, q listQuery, layer Layer) (out []found, err error) {
	err = s.db.Read(ctx, orgID, func(ctx context.Context, tx *db.Tx) error {
		rows, err := selectCurrentDocuments(ctx, tx, q, layer == Firm, documentsPerPage+1)
		if err != nil {
			return err
		}
		out = make([]found, len(rows))
		fit, size := 0, int64(0)
		for i, r := range rows {
			out[i] = found{documentRow: r, layer: layer}
			if size += r.Size; i == 0 || size <= charactersPerPage {
				fit = i + 1
			}
		}
		if fit == 0 {
			return nil
		}
		contents, err := selectContents(ctx, tx, rows[:fit])
		byID := make(map[string]contentRow, len(contents))
		for _, c := range contents {
			byID[c.ID] = c
		}
		for i := range out {
			out[i].content, out[i].loaded = byID[out[i].ID]
		}
		return err
	})
	return out, err
}

// paginate sorts the documents of both layers and cuts off the page where it is full.
func paginate(all []found, print string) (out Documents) {
	slices.SortFunc(all, func(a, b found) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(string(a.layer), string(b.layer))
	})
	size := int64(0)
	out.Items = []Document{}
	for i, f := range all {
		size += f.Size
		full := i > 0 && (size > charactersPerPage || !f.loaded)
		if full || i == documentsPerPage {
			last := all[i-1]
			out.Truncated, out.NextCursor = full, page.Encode(print, string(last.layer), last.ID)
			return out
		}
		d := Document{Path: f.Path, Layer: f.layer, Version: f.Version, Content: f.content.Content,
			Frontmatter: db.OrEmpty(f.content.Frontmatter)}
		// The organization's own document with the same path comes next, and has been read.
		d.Suppressed = f.layer == Firm && i+1 < len(all) && all[i+1].Path == f.Path
		out.Items = append(out.Items, d)
	}
	return out
}
