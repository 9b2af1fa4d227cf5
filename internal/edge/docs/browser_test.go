package docs_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/edge/browsertest"
)

// browser is a browser in which somebody reads the documentation.
type browser struct{ *browsertest.Page }

// open loads a page and waits until its script has run.
func (b browser) open(url string) {
	b.Helper()
	b.Command("Page.navigate", map[string]any{"url": url}, nil)
	b.Want("document.readyState + document.documentElement.className", "completejs")
}

// press presses a key that has a name, or types a character.
func (b browser) press(key string) {
	b.Helper()
	text := map[string]string{"Enter": "\r"}[key]
	if len(key) == 1 {
		text = key
	}
	b.Command("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": text}, nil)
	b.Command("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// enter types a text where the focus is.
func (b browser) enter(text string) {
	b.Helper()
	b.Command("Input.insertText", map[string]any{"text": text}, nil)
}

// click clicks the middle of the element that an expression returns.
func (b browser) click(element string) {
	b.Helper()
	var x, y float64
	at := b.Value("(r => (r.left + r.right) / 2 + ' ' + (r.top + r.bottom) / 2)(" + element + ".getBoundingClientRect())")
	if _, err := fmt.Sscan(at, &x, &y); err != nil {
		b.Fatalf("%s is at %q", element, at)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Command("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
}

func TestAReaderSearchesAsTheyTypeAndOpensAResult(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(described(t))
	defer site.Close()
	b := browser{browsertest.Open(t)}
	const shown, first = "!document.getElementById('instant').hidden", "document.querySelector('#instant a')"

	b.open(site.URL + "/docs")
	b.Want(shown, "false")
	b.press("/")
	b.Want("document.activeElement.id", "q")
	b.enter("close a month")
	b.Want(shown, "true")
	b.Want(first+".getAttribute('href')", "/docs/guides/close-a-month")
	if title := b.Value(first + ".querySelector('b').textContent"); !strings.Contains(strings.ToLower(title), "close a month") {
		t.Errorf("the first result is titled %q", title)
	}
	b.click(first)
	b.Want("location.pathname", "/docs/guides/close-a-month")
	b.Want("document.querySelectorAll('article.guide h1').length", "1")

	// With the keyboard, to a field inside a closed list, which opens.
	const field = "createLegalEntity.body.cost_basis_method"
	b.Want("document.readyState + document.documentElement.className", "completejs")
	b.press("/")
	b.enter("cost_basis_method")
	b.Want(shown, "true")
	b.Want(first+".getAttribute('href')", "/docs/legal-entities#"+field)
	b.press("ArrowDown")
	b.Want("document.activeElement === "+first, "true")
	b.press("Enter")
	b.Want("location.pathname + location.hash", "/docs/legal-entities#"+field)
	b.Want("document.getElementById('"+field+"').checkVisibility()", "true")

	// Escape closes the list.
	b.Want("document.readyState + document.documentElement.className", "completejs")
	b.press("/")
	b.enter("tag")
	b.Want(shown, "true")
	b.press("Escape")
	b.Want(shown, "false")
}
