package memory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// pathMax is the maximum length of a path in characters.
const pathMax = 512

var (
	markdownEnds = []string{".md", ".markdown"}
	yamlEnds     = []string{".yaml", ".yml"}
	endsText     = "Markdown (.md, .markdown) or YAML (.yaml, .yml)"

	// closedFolders are written by other parts of the system, or are not for documents.
	closedFolders = []string{
		"refs", "journal", "artifacts", "timeline", "workstreams", "knowledge/facts", "knowledge/preferences", "knowledge/decisions",
	}

	skill = regexp.MustCompile(`^skills/[a-z0-9]+(-[a-z0-9]+)*/SKILL\.md$`)

	// sharedFolders and sharedFiles are the documents of a firm that its clients read.
	sharedFolders = []string{"policy/", "knowledge/", "skills/"}
	sharedFiles   = []string{"profile.md"}
	// firmFiles are the other documents that a firm may have.
	firmFiles = []string{"clients.yaml"}
)

const firmText = "policy/, knowledge/, skills/, profile.md and clients.yaml"

// validatePath returns why a document cannot have a path, or an empty text. It refuses paths that could be confused with
// another one on any file system that documents may be exported to.
func validatePath(path string) string {
	if n := utf8.RuneCountInString(path); n < 1 || n > pathMax {
		return fmt.Sprintf("must have 1 to %d characters", pathMax)
	}
	if !utf8.ValidString(path) || !norm.NFC.IsNormalString(path) {
		return "must be UTF-8 in the normal form NFC"
	}
	if strings.HasPrefix(path, "/") {
		return "must be relative: without a slash before it"
	}
	if at := strings.IndexFunc(path, isForbidden); at >= 0 {
		r, _ := utf8.DecodeRuneInString(path[at:])
		return fmt.Sprintf("must not have the character %U", r)
	}
	segments := strings.Split(path, "/")
	for _, s := range segments {
		switch {
		case s == "":
			return "must not have an empty part between slashes, nor a slash at its end"
		case strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") || strings.TrimSpace(s) != s:
			return "must not have a part that begins or ends with a dot or a space"
		}
	}
	if !isMarkdown(path) && !isYAML(path) {
		return "must be that of a file in " + endsText
	}
	for _, folder := range closedFolders {
		if isInside(segments, folder) {
			return "must not be in " + folder + "/, which takes no documents"
		}
	}
	if isInside(segments, "skills") && !skill.MatchString(path) {
		return "must be skills/{slug}/SKILL.md for a skill, the slug in lower-case letters and digits with hyphens between"
	}
	return ""
}

// isForbidden reports whether a character cannot be in a path: it is not printable, or has a special meaning elsewhere.
func isForbidden(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`\%:`, r) }

// isInside reports whether a path is in a folder, in any spelling.
func isInside(segments []string, folder string) bool {
	parts := strings.Split(folder, "/")
	if len(segments) <= len(parts) {
		return false
	}
	for i, part := range parts {
		if !strings.EqualFold(norm.NFKC.String(segments[i]), part) {
			return false
		}
	}
	return true
}

func endsIn(path string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) })
}

func isMarkdown(path string) bool { return endsIn(path, markdownEnds) }
func isYAML(path string) bool     { return endsIn(path, yamlEnds) }

// isShared reports whether clients read a firm's document.
func isShared(path string) bool {
	return slices.Contains(sharedFiles, path) || slices.ContainsFunc(sharedFolders, func(f string) bool { return strings.HasPrefix(path, f) })
}

// isFirmFile reports whether a firm may have a document at a path.
func isFirmFile(path string) bool { return isShared(path) || slices.Contains(firmFiles, path) }
