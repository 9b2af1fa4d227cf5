// Package site serves the pages on which people sign in, set a password, accept an invitation, allow an app to act for them, and look after
// their account. They are plain HTML and need no script; passkeys are the exception, because browsers offer them to scripts only.
package site
