package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// AnchorsFolder is the folder of anchors in the data folder.
const AnchorsFolder = "anchors"

// anchorTimeout bounds how long a close waits for its anchor to be written.
const anchorTimeout = 10 * time.Second

// KeepAnchors lets every close write an anchor to a folder. A close does not fail because its anchor cannot be written; the log
// says so, and `bursar anchor` writes one later.
func (a *App) KeepAnchors(folder string) {
	a.Periods.AfterClose(func(organizationID string, p period.Period) {
		ctx, stop := context.WithTimeout(context.Background(), anchorTimeout)
		defer stop()
		if err := a.keepAnchor(ctx, folder, organizationID, p); err != nil {
			a.log.Error("the anchor of a close was not written; write one with `bursar anchor`", "organization_id", organizationID,
				"accounting_period", p.Key, "error", err)
		}
	})
}

func (a *App) keepAnchor(ctx context.Context, folder, organizationID string, p period.Period) error {
	anchor, err := a.Periods.Anchor(ctx, organizationID, p)
	if err != nil || anchor == nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	return writeAnchor(filepath.Join(folder, fmt.Sprintf("%s_%s_%d.json", p.Key, organizationID, anchor.Sequence)), *anchor)
}

// writeAnchor writes a file completely or not at all.
func writeAnchor(path string, anchor audit.Anchor) error {
	text, err := json.MarshalIndent(anchor, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", append(text, '\n'), 0o640); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// Anchors returns an anchor at the end of the audit log of each organization.
func (a *App) Anchors(ctx context.Context) (out []audit.Anchor, err error) {
	ids, err := a.Org.IDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		err := a.DB.Read(ctx, id, func(ctx context.Context, tx *db.Tx) error {
			anchor, err := audit.NewAnchor(ctx, tx)
			out = append(out, anchor)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReadAnchors reads the anchors in a file, or in the files of a folder. Its errors name the file.
func ReadAnchors(path string) ([]audit.Anchor, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.json")); err != nil {
			return nil, err
		}
	}
	var out []audit.Anchor
	for _, name := range files {
		some, err := readAnchorFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be used as an anchor: %w", name, err)
		}
		out = append(out, some...)
	}
	return out, nil
}

func readAnchorFile(name string) (out []audit.Anchor, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return audit.ReadAnchors(f)
}

// HasAnchors reports whether there is a folder of anchors.
func HasAnchors(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}
