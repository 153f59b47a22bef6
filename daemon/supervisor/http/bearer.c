/*
 * Happy path: the request's token is hashed and looked up in the rights file; the
 * grant says which rights its user has. Failures: no token, an unknown token, too
 * many unknown tokens, an unencrypted connection. Each has its own reply, the same
 * whether the requested resource exists or not.
 */
#include "daemon/supervisor/http/bearer.h"

#include <string.h>
#include <strings.h>

#include "daemon/http/reader.h"
#include "daemon/stream/tls.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/access/denied.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/http/models/model.h"
#include "daemon/supervisor/request/network.h"

#define BEARER "Bearer "

static bool is_encrypted(const struct msd_http_exchange *a)
{
	return a->caller->session.conn->transport.peer != NULL;
}

/* True if no third party can read the connection. */
static bool is_private(const struct msd_http_exchange *a)
{
	const struct msd_principal *who = &a->caller->session.principal;
	uint8_t at[MSD_ADDRESS_BYTES];

	if (who->is_local || is_encrypted(a))
		return true;
	return msd_network_peer(a->caller->session.conn->transport.fd, at) &&
	       msd_network_is_loopback(at) &&
	       (who->client.kind == MSD_PEER_UNKNOWN || who->is_sealed);
}

static bool read_token(const struct msd_http_exchange *a, struct msd_span *ret)
{
	const struct msd_span s = a->request->fields[MSD_HTTP_F_AUTHORIZATION];
	const size_t n = strlen(BEARER);

	if (s.n <= n || strncasecmp((const char *)s.p, BEARER, n) != 0)
		return false;
	*ret = (struct msd_span){s.p + n, s.n - n};
	return true;
}

/* The identity from the client's TLS certificate; NULL without a certificate. */
static const struct msd_tls_peer *certificate_of(const struct msd_http_exchange *a)
{
	const struct msd_tls_peer *p = a->caller->session.conn->transport.peer;

	return p != NULL && p->is_verified ? p : NULL;
}

/* Read the credentials of the request. */
static enum msd_bearer_verdict look(const struct msd_http_exchange *a,
				    struct msd_bearer *b)
{
	struct msd_span token;

	b->has_token = read_token(a, &token);
	if (!b->has_token)
		return MSD_BEARER_NO_TOKEN;
	if (!is_private(a))
		return MSD_BEARER_READABLE;
	msd_digest_of(token, &b->token);
	return MSD_BEARER_GRANTED;
}

/* The current grant of the rights file for the token, or for the certificate, or for
 * an anonymous client. */
static enum msd_bearer_verdict grant(const struct msd_http_exchange *a,
				     struct msd_bearer *b)
{
	const struct msd_tls_peer *certificate =
		b->has_token ? NULL : certificate_of(a);
	const struct msd_identity who = {.token = b->has_token ? &b->token : NULL,
					 .certificate = certificate};

	b->generation = a->edge->rights.generation;
	b->grant = msd_acl_grant(a->edge->rights.acl, &who);
	if (b->has_token && msd_grant_is_nobodys(&b->grant))
		return MSD_BEARER_BAD_TOKEN;
	if (!is_encrypted(a)) /* the file may grant more than the listener */
		b->grant.rights &= a->caller->session.principal.rights;
	return b->has_token || certificate != NULL ? MSD_BEARER_GRANTED
						   : MSD_BEARER_NO_TOKEN;
}

/* The token is new on this connection, or was not checked for a minute: the login
 * throttle may delay it. */
static void admit(const struct msd_http_exchange *a, struct msd_bearer *b)
{
	struct msd_rights *r = &a->edge->rights;
	const struct msd_peer_id from = a->caller->session.came_from;

	b->admitted_ms = uv_now(a->edge->loop);
	if (msd_rights_judge(r, &b->grant, from, &b->token, b->admitted_ms) !=
	    MSD_TOKEN_WAIT)
		return;
	b->verdict = MSD_BEARER_WAIT;
	b->grant = (struct msd_grant){0};
}

/* True if the token is the same as in the last request of the connection, and was
 * valid. */
static bool is_known(const struct msd_http_exchange *a, const struct msd_bearer *b,
		     const struct msd_bearer *before)
{
	return before->verdict == MSD_BEARER_GRANTED && before->has_token &&
	       b->has_token && before->generation == a->edge->rights.generation &&
	       msd_digest_equal(&before->token, &b->token) &&
	       uv_now(a->edge->loop) - before->admitted_ms < MSD_LOGIN_HISTORY_NOTE_MS;
}

static void find_first(const struct msd_http_exchange *a, struct msd_bearer *b)
{
	const struct msd_bearer before = *b;

	b->verdict = look(a, b);
	if (b->verdict == MSD_BEARER_GRANTED && is_known(a, b, &before))
		return;
	b->grant = (struct msd_grant){0};
	b->generation = a->edge->rights.generation;
	if (b->verdict == MSD_BEARER_READABLE)
		return;
	b->verdict = grant(a, b);
	if (b->has_token)
		admit(a, b);
}

/* A token that was looked up before does not count as a guess after a reload of the
 * file. */
static const struct msd_bearer *find(const struct msd_http_exchange *a)
{
	struct msd_bearer *b = &a->caller->bearer;

	if (!b->is_found) {
		find_first(a, b);
		b->is_found = true;
	} else if (b->generation != a->edge->rights.generation &&
		   b->verdict <= MSD_BEARER_BAD_TOKEN) {
		b->verdict = grant(a, b);
	}
	return b;
}

static bool allows(const struct msd_http_exchange *a, const struct msd_grant *g,
		   enum msd_right right, struct msd_span name)
{
	const struct msd_acl_target target = {.module = name};

	return msd_acl_allows(a->edge->rights.acl, g, right, &target);
}

/* Log the denial for the token's user, or for anonymous. */
static void note(const struct msd_http_exchange *a, const struct msd_grant *g,
		 enum msd_method method, struct msd_span module)
{
	const struct msd_acl_target target = {.module = module};

	msd_denied_note(&a->caller->session, g, method, &target);
}

/* The reply does not depend on whether the requested resource exists. */
static void refuse(struct msd_http_exchange *a, enum msd_bearer_verdict verdict,
		   enum msd_right right)
{
	static const struct {
		unsigned status;
		const char *text;
	} rows[] = {
		[MSD_BEARER_GRANTED] = {403,
					"this user has no right to this: it needs"},
		[MSD_BEARER_NO_TOKEN] = {401,
					 "send Authorization: Bearer TOKEN: it needs"},
		[MSD_BEARER_BAD_TOKEN] = {401, "no user has this token: it needs"},
		[MSD_BEARER_WAIT] = {429, "too many wrong tokens, try later: it needs"},
		[MSD_BEARER_READABLE] = {
			403,
			"tokens are accepted only over https, unix sockets and "
			"loopback, because others can read this connection: it needs"}};
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_REFUSED, "%s %s", rows[verdict].text,
			   msd_right_name(right));
	msd_http_exchange_fail(a, rows[verdict].status, &d);
	a->reply.wants_token = rows[verdict].status == 401;
}

bool msd_bearer_may(struct msd_http_exchange *a, enum msd_method method,
		    struct msd_span name)
{
	const enum msd_right right = msd_method_row(method)->right;
	struct msd_diag d = {0};

	if (right == MSD_RIGHT_ANY)
		return true;
	if (a->edge->rights.acl == NULL) {
		if (msd_principal_check(&a->caller->session.principal, method, &d) ==
		    MSD_OK)
			return true;
		msd_http_exchange_fail(a, 403, &d);
		return false;
	}
	const struct msd_bearer *b = find(a);
	if (b->verdict <= MSD_BEARER_NO_TOKEN && allows(a, &b->grant, right, name))
		return true;
	note(a, &b->grant, method, name);
	refuse(a, b->verdict, right);
	return false;
}

msd_err msd_bearer_authorize(struct msd_http_exchange *a, enum msd_method method)
{
	struct msd_diag d = {0};

	if (a->edge->rights.acl == NULL)
		return MSD_OK;
	const struct msd_bearer *b = find(a);
	if (b->verdict > MSD_BEARER_NO_TOKEN) {
		note(a, &b->grant, method, msd_model_module_name(a->names[0]));
		refuse(a, b->verdict, msd_method_row(method)->right);
		return b->verdict == MSD_BEARER_WAIT ? MSD_BUSY : MSD_REFUSED;
	}
	const msd_err err = msd_authorization_set(&a->caller->session, &b->grant,
						  b->has_token ? &b->token : NULL, &d);
	if (err != MSD_OK) { /* BUSY is the user's own limit */
		msd_http_exchange_fail(
			a, err == MSD_BUSY ? 429 : msd_http_exchange_status(err), &d);
	}
	return err;
}

bool msd_bearer_is_anonymous(struct msd_http_exchange *a)
{
	return a->edge->rights.acl != NULL && !find(a)->has_token &&
	       certificate_of(a) == NULL;
}

bool msd_bearer_sees(struct msd_http_exchange *a, const char *name)
{
	if (a->edge->rights.acl == NULL)
		return true;
	const struct msd_bearer *b = find(a);
	return b->verdict <= MSD_BEARER_NO_TOKEN &&
	       allows(a, &b->grant, MSD_RIGHT_LOOKUP, msd_span_of(name));
}
