package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bursarhq/bursar/internal/base/newfile"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
)

// anchorTimeout bounds how long a close waits for its anchor to be written.
const anchorTimeout = 10 * time.Second

// KeepAnchors lets every close write an anchor to a folder. A close does not fail because its anchor cannot be written: the log says
// so, and the next close or start of the service writes it, as it writes those that a crash has prevented.
func (a *App) KeepAnchors(folder string) {
	a.anchors = folder
	a.Periods.AfterClose(func(organizationID string) {
		ctx, stop := context.WithTimeout(context.Background(), anchorTimeout)
		defer stop()
		a.writeAnchors(ctx, organizationID)
	})
}

// WriteMissingAnchors writes the anchors of closes that are not in the folder of KeepAnchors, and creates the folder.
func (a *App) WriteMissingAnchors(ctx context.Context) error {
	if err := os.MkdirAll(a.anchors, 0o700); err != nil {
		return err
	}
	ids, err := a.Org.IDs(ctx)
	for _, id := range ids {
		a.writeAnchors(ctx, id)
	}
	return err
}

// writeAnchors writes the anchors of an organization that are missing, and logs the errors of those that cannot be written.
func (a *App) writeAnchors(ctx context.Context, organizationID string) {
	all, err := a.Periods.Anchors(ctx, organizationID)
	for _, anchor := range all {
		path := filepath.Join(a.anchors, fmt.Sprintf("%s_%s_%d.json", anchor.Period, organizationID, anchor.Sequence))
		err = errors.Join(err, writeAnchor(path, anchor))
	}
	if err != nil {
		a.log.Error("the anchor of a close was not written; the next close or start tries again", "organization_id", organizationID,
			"folder", a.anchors, "error", err)
	}
}

// writeAnchor writes the file of an anchor, unless it exists.
func writeAnchor(path string, anchor audit.Anchor) error {
	text, err := json.MarshalIndent(anchor, "", "  ")
	if err != nil {
		return err
	}
	err = newfile.Write(path, func(f *os.File) error {
		_, err := f.Write(append(text, '\n'))
		return err
	})
	if errors.Is(err, fs.ErrExist) { // an earlier close, or another node that shares the folder, has written it
		return nil
	}
	return err
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

// AnchorFiles are the anchors that were read from files.
type AnchorFiles struct {
	Anchors []audit.Anchor

	read map[audit.Anchor]bool // what Anchors has, because the same anchor may be in several files

	// Damaged says what is wrong with each file that cannot be used.
	Damaged []string
}

// Read reads the anchors in a file, or in the files of a folder, and returns how many files there are. A file that is no anchor is
// damaged; Read returns an error only if the path cannot be read.
func (f *AnchorFiles) Read(path string) (files int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	names := []string{path}
	if info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(path, "*.json")); err != nil {
			return 0, err
		}
	}
	for _, name := range names {
		some, err := readAnchorFile(name)
		if err != nil {
			f.Damaged = append(f.Damaged, fmt.Sprintf("%s cannot be used as an anchor: %v", name, err))
			continue
		}
		f.add(some)
	}
	return len(names), nil
}

// add adds anchors, unless they were read before: copies of an anchor are one anchor.
func (f *AnchorFiles) add(anchors []audit.Anchor) {
	if f.read == nil {
		f.read = map[audit.Anchor]bool{}
	}
	for _, anchor := range anchors {
		key := anchor
		key.At = key.At.UTC() // so that == compares the time only
		if !f.read[key] {
			f.read[key] = true
			f.Anchors = append(f.Anchors, anchor)
		}
	}
}

func readAnchorFile(name string) (out []audit.Anchor, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return audit.ReadAnchors(f)
}
