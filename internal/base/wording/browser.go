package wording

import "strings"

// names lists what is looked for in how a browser calls itself, in this order: some claim to be others as well.
type names [][2]string

var (
	browsers = names{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
		{"curl/", "curl"}}
	systems = names{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"},
		{"CrOS", "ChromeOS"}, {"Linux", "Linux"}}
)

func (n names) in(text string) string {
	for _, one := range n {
		if strings.Contains(text, one[0]) {
			return one[1]
		}
	}
	return ""
}

// Browser returns a browser as people call it, such as Firefox on Windows, by how it calls itself in requests.
func Browser(userAgent string) string {
	browser, system := browsers.in(userAgent), systems.in(userAgent)
	switch {
	case browser == "" && system == "":
		return "Unknown browser"
	case system == "":
		return browser
	case browser == "":
		return "A browser on " + system
	}
	return browser + " on " + system
}
