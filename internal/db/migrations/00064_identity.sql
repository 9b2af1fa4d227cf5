-- +goose Up

-- How a person signs in. The password and the recovery codes are hashes, those of the codes with spaces between them; the secret of the
-- authenticator app is encrypted. totp_step is the last period whose code was used.
CREATE TABLE user_credentials (
    user_id             {text} NOT NULL PRIMARY KEY,
    password_hash       {text},
    password_changed_at {timestamp},
    totp_secret         {text},
    totp_confirmed_at   {timestamp},
    totp_step           {integer} NOT NULL,
    recovery_codes      {text} NOT NULL
) {clustered};

-- Public keys of devices. The id of a credential is unique everywhere.
CREATE TABLE passkeys (
    passkey_id    {text} NOT NULL PRIMARY KEY,
    user_id       {text} NOT NULL,
    credential_id {text} NOT NULL UNIQUE,
    name          {text} NOT NULL,
    credential    {text} NOT NULL,
    created_at    {timestamp} NOT NULL,
    used_at       {timestamp}
) {clustered};
CREATE INDEX passkeys_by_user ON passkeys (user_id, passkey_id);

-- Questions that a device or an OpenID provider has answered, each once. The rows are deleted when another answer would come too late.
CREATE TABLE used_challenges (
    challenge_hash {text} NOT NULL PRIMARY KEY,
    expires_at     {timestamp} NOT NULL
) {clustered};
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);

-- Whom an OpenID provider calls what.
CREATE TABLE user_identities (
    issuer     {text} NOT NULL,
    subject    {text} NOT NULL,
    user_id    {text} NOT NULL,
    created_at {timestamp} NOT NULL,
    PRIMARY KEY (issuer, subject)
) {clustered};
CREATE INDEX user_identities_by_user ON user_identities (user_id);

-- Browsers that are signed in. authenticated_at is when the person last proved who they are, chosen the organization that they work for.
CREATE TABLE sessions (
    session_id       {text} NOT NULL PRIMARY KEY,
    token_hash       {text} NOT NULL UNIQUE,
    user_id          {text} NOT NULL,
    method           {text} NOT NULL,
    address          {text} NOT NULL,
    user_agent       {text} NOT NULL,
    chosen           {text},
    created_at       {timestamp} NOT NULL,
    authenticated_at {timestamp} NOT NULL,
    seen_at          {timestamp} NOT NULL,
    expires_at       {timestamp} NOT NULL
) {clustered};
CREATE INDEX sessions_by_user ON sessions (user_id, session_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Links that were mailed to people. Each works once. invited_to is the organization of an invitation.
CREATE TABLE mailed_links (
    token_hash      {text} NOT NULL PRIMARY KEY,
    purpose         {text} NOT NULL,
    user_id         {text},
    invited_to      {text},
    invitation_id   {text},
    email           {text} NOT NULL,
    created_at      {timestamp} NOT NULL,
    expires_at      {timestamp} NOT NULL,
    used_at         {timestamp}
) {clustered};
CREATE INDEX mailed_links_by_user ON mailed_links (user_id, purpose);
CREATE INDEX mailed_links_by_expiry ON mailed_links (expires_at);
CREATE INDEX mailed_links_by_invitation ON mailed_links (invitation_id) WHERE invitation_id IS NOT NULL;

-- Failed attempts to sign in, of an account, of an address, and of an account from an address. subject is a hash.
CREATE TABLE sign_in_failures (
    subject   {text} NOT NULL PRIMARY KEY,
    failures  {integer} NOT NULL,
    failed_at {timestamp} NOT NULL
) {updated};
CREATE INDEX sign_in_failures_by_age ON sign_in_failures (failed_at);

-- The legal entities that a member is limited to, with spaces between them; empty means all.
ALTER TABLE members ADD COLUMN legal_entity_ids {text} NOT NULL DEFAULT '';
CREATE INDEX members_by_user ON members (user_id, organization_id);

CREATE TABLE invitations (
    organization_id  {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    invitation_id    {text} NOT NULL,
    email            {text} NOT NULL,
    role             {text} NOT NULL,
    legal_entity_ids {text} NOT NULL,
    invited_by       {text},
    status           {text} NOT NULL,
    created_at       {timestamp} NOT NULL,
    expires_at       {timestamp} NOT NULL,
    ended_at         {timestamp},
    PRIMARY KEY (organization_id, invitation_id)
) {clustered};
CREATE UNIQUE INDEX invitations_pending ON invitations (organization_id, email) WHERE status = 'pending';

-- The app that made a change, if one did.
ALTER TABLE audit_log ADD COLUMN oauth_authorization_id {text};

-- When a key or the authorization of an app was used last, and from where.
CREATE TABLE credential_uses (
    organization_id {text} NOT NULL,
    credential_id   {text} NOT NULL,
    used_at         {timestamp} NOT NULL,
    address         {text} NOT NULL,
    PRIMARY KEY (organization_id, credential_id)
) {updated};

-- Who created a key; the authorization of the app that created it, with which it ends; the key that replaced it; when somebody was told that
-- it expires soon.
ALTER TABLE api_keys ADD COLUMN created_by {text};
ALTER TABLE api_keys ADD COLUMN oauth_authorization_id {text};
ALTER TABLE api_keys ADD COLUMN successor_api_key_id {text};
ALTER TABLE api_keys ADD COLUMN reminded_at {timestamp};
CREATE INDEX api_keys_by_authorization ON api_keys (organization_id, oauth_authorization_id) WHERE oauth_authorization_id IS NOT NULL;
CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;

-- Apps that may ask people for access. registered_for is the organization whose owner registered one. One without was registered by the operator of the service, or by itself.
CREATE TABLE oauth_clients (
    oauth_client_id {text} NOT NULL PRIMARY KEY,
    registered_for  {text},
    name            {text} NOT NULL,
    redirect_uris   {text} NOT NULL,
    homepage_url    {text},
    registered_by   {text} NOT NULL,
    created_by      {text},
    created_at      {timestamp} NOT NULL,
    revoked_at      {timestamp}
) {clustered};
CREATE INDEX oauth_clients_by_organization ON oauth_clients (registered_for, oauth_client_id);
CREATE INDEX oauth_clients_by_themselves ON oauth_clients (created_at) WHERE registered_by = 'itself';

-- What a person has allowed an app to do in an organization.
CREATE TABLE oauth_authorizations (
    organization_id        {text} NOT NULL REFERENCES organizations (organization_id) ON DELETE RESTRICT,
    oauth_authorization_id {text} NOT NULL,
    user_id                {text} NOT NULL,
    oauth_client_id        {text} NOT NULL,
    scopes                 {text} NOT NULL,
    created_at             {timestamp} NOT NULL,
    ended_at               {timestamp},
    end_reason             {text},
    PRIMARY KEY (organization_id, oauth_authorization_id)
) {clustered};
CREATE UNIQUE INDEX oauth_authorizations_active ON oauth_authorizations (organization_id, user_id, oauth_client_id) WHERE ended_at IS NULL;
CREATE INDEX oauth_authorizations_by_client ON oauth_authorizations (oauth_client_id, ended_at);

-- Codes that apps exchange for tokens. used_at and the authorization are set when one was exchanged.
CREATE TABLE oauth_codes (
    organization_id        {text} NOT NULL,
    code_hash              {text} NOT NULL,
    user_id                {text} NOT NULL,
    oauth_client_id        {text} NOT NULL,
    redirect_uri           {text} NOT NULL,
    code_challenge         {text} NOT NULL,
    scopes                 {text} NOT NULL,
    created_at             {timestamp} NOT NULL,
    expires_at             {timestamp} NOT NULL,
    used_at                {timestamp},
    oauth_authorization_id {text},
    PRIMARY KEY (organization_id, code_hash)
) {clustered};
CREATE INDEX oauth_codes_by_expiry ON oauth_codes (expires_at);
CREATE INDEX oauth_codes_by_client ON oauth_codes (oauth_client_id);

-- Access and refresh tokens. The successors of a refresh token follow from its text and the salt; replaced_at is when they were given out.
CREATE TABLE oauth_tokens (
    organization_id        {text} NOT NULL,
    token_hash             {text} NOT NULL,
    oauth_authorization_id {text} NOT NULL,
    kind                   {text} NOT NULL,
    scopes                 {text} NOT NULL,
    salt                   {text} NOT NULL,
    created_at             {timestamp} NOT NULL,
    expires_at             {timestamp} NOT NULL,
    replaced_at            {timestamp},
    PRIMARY KEY (organization_id, token_hash)
) {clustered};
CREATE INDEX oauth_tokens_by_authorization ON oauth_tokens (organization_id, oauth_authorization_id);
CREATE INDEX oauth_tokens_by_expiry ON oauth_tokens (expires_at);

-- What people have set for themselves.
CREATE TABLE preferences (
    organization_id {text} NOT NULL,
    user_id         {text} NOT NULL,
    name            {text} NOT NULL,
    value           {text} NOT NULL,
    updated_at      {timestamp} NOT NULL,
    PRIMARY KEY (organization_id, user_id, name)
) {updated};

-- +goose Down

DROP TABLE preferences;
DROP TABLE oauth_tokens;
DROP TABLE oauth_codes;
DROP TABLE oauth_authorizations;
DROP TABLE oauth_clients;
DROP INDEX api_keys_by_expiry;
DROP INDEX api_keys_by_authorization;
ALTER TABLE api_keys DROP COLUMN reminded_at;
ALTER TABLE api_keys DROP COLUMN successor_api_key_id;
ALTER TABLE api_keys DROP COLUMN oauth_authorization_id;
ALTER TABLE api_keys DROP COLUMN created_by;
ALTER TABLE audit_log DROP COLUMN oauth_authorization_id;
DROP TABLE credential_uses;
DROP TABLE invitations;
DROP INDEX members_by_user;
ALTER TABLE members DROP COLUMN legal_entity_ids;
DROP TABLE sign_in_failures;
DROP TABLE mailed_links;
DROP TABLE sessions;
DROP TABLE user_identities;
DROP TABLE used_challenges;
DROP TABLE passkeys;
DROP TABLE user_credentials;
