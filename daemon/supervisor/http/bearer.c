/*
 * Happy path: the token of the request is hashed and looked up in the file of rights,
 * the grant says what its user may. Failures: no token, one that is nobody's, too many
 * of these, a way on which others could read it: each has its own answer, the same
 * whether what is asked for is there or not.
 */
#include "daemon/supervisor/http/bearer.h"

#include <string.h>
#include <strings.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/denied.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/standing.h"
#include "daemon/supervisor/http/caller.h"
#include "daemon/supervisor/http/model.h"
#include "daemon/supervisor/request/network.h"
#include "daemon/wire/tls.h"

#define BEARER "Bearer "

enum verdict { GRANTED, NO_TOKEN, BAD_TOKEN, WAIT, READABLE };

static bool is_encrypted(const struct msd_asking *a)
{
	return a->caller->session.transport->peer != NULL;
}

/* Nobody between the two ends can read what is sent. */
static bool is_private(const struct msd_asking *a)
{
	const struct msd_principal *who = &a->caller->session.principal;
	uint8_t at[MSD_ADDRESS_BYTES];

	if (who->is_local || is_encrypted(a))
		return true;
	return msd_network_peer(a->caller->session.transport->fd, at) &&
	       msd_network_is_loopback(at) &&
	       (who->client.kind == MSD_PEER_NOBODY || who->is_sealed);
}

static bool read_token(const struct msd_asking *a, struct msd_span *ret)
{
	const struct msd_span s = a->request->fields[MSD_HTTP_F_AUTHORIZATION];
	const size_t n = strlen(BEARER);

	if (s.n <= n || strncasecmp((const char *)s.p, BEARER, n) != 0)
		return false;
	*ret = (struct msd_span){s.p + n, s.n - n};
	return true;
}

/* Who the other side of @a has proved to be by TLS; NULL: it has not. */
static const struct msd_tls_peer *certificate_of(const struct msd_asking *a)
{
	const struct msd_tls_peer *p = a->caller->session.transport->peer;

	return p != NULL && p->is_verified ? p : NULL;
}

/* What the file of rights gives to who has the token of @a, or else has shown a
 * certificate, or is nobody known. */
static enum verdict find(const struct msd_asking *a, struct msd_grant *ret)
{
	struct msd_edge *e = a->edge;
	const uint64_t now_ms = uv_now(e->loop);
	struct msd_digest digest;
	struct msd_identity who = {0};
	struct msd_span token;

	const bool has_token = read_token(a, &token);
	if (has_token) {
		if (!is_private(a))
			return READABLE;
		if (msd_guesses_left_ms(&e->rights.guesses,
					a->caller->session.client.peer, now_ms) > 0)
			return WAIT;
		msd_digest_of(token, &digest);
		who.token = &digest;
	} else {
		who.certificate = certificate_of(a);
	}
	*ret = msd_acl_grant(e->rights.acl, &who);
	if (has_token && ret->groups == 0 && !msd_grant_is_user(ret)) {
		msd_guesses_note(&e->rights.guesses, a->caller->session.client.peer,
				 now_ms);
		return BAD_TOKEN;
	}
	if (!is_encrypted(a)) /* there a line may give what the way in does not */
		ret->rights &= a->caller->session.principal.rights;
	return has_token || who.certificate != NULL ? GRANTED : NO_TOKEN;
}

static bool allows(const struct msd_asking *a, const struct msd_grant *g,
		   enum msd_right right, struct msd_span name)
{
	const struct msd_acl_target target = {.module = name};

	return msd_acl_allows(a->edge->rights.acl, g, right, &target);
}

/* It is whose token it is, or anonymous, who is refused. */
static void note(const struct msd_asking *a, const struct msd_grant *g,
		 enum msd_method method, struct msd_span module)
{
	const struct msd_acl_target target = {.module = module};

	msd_denied_note(&a->caller->session, g, method, &target);
}

/* Whether what was asked for is there or not, it is the same answer. */
static void refuse(struct msd_asking *a, enum verdict verdict, enum msd_right right)
{
	static const struct {
		unsigned status;
		const char *text;
	} rows[] = {
		[GRANTED] = {403, "this user has no right to this: it needs"},
		[NO_TOKEN] = {401, "Authorization: Bearer TOKEN is wanted: it needs"},
		[BAD_TOKEN] = {401, "the token is nobody's: it needs"},
		[WAIT] = {429, "too many wrong tokens, wait: it needs"},
		[READABLE] = {403, "a token is taken over https, unix sockets and "
				   "loopback, others can read what comes this way: "
				   "it needs"}};
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_REFUSED, "%s %s", rows[verdict].text,
			   msd_right_name(right));
	msd_asking_fail(a, rows[verdict].status, &d);
	a->reply.wants_token = rows[verdict].status == 401;
}

bool msd_bearer_may(struct msd_asking *a, enum msd_method method, struct msd_span name)
{
	const enum msd_right right = msd_method_row(method)->right;
	struct msd_grant grant = {0};
	struct msd_diag d = {0};

	if (right == MSD_RIGHT_ANY)
		return true;
	if (a->edge->rights.acl == NULL) {
		if (msd_principal_check(&a->caller->session.principal, method, &d) ==
		    MSD_OK)
			return true;
		msd_asking_fail(a, 403, &d);
		return false;
	}
	const enum verdict verdict = find(a, &grant);
	if (verdict <= NO_TOKEN && allows(a, &grant, right, name))
		return true;
	note(a, &grant, method, name);
	refuse(a, verdict, right);
	return false;
}

msd_err msd_bearer_stand(struct msd_asking *a, enum msd_method method)
{
	struct msd_grant grant = {0};
	struct msd_diag d = {0};

	if (a->edge->rights.acl == NULL)
		return MSD_OK;
	const enum verdict verdict = find(a, &grant);
	if (verdict > NO_TOKEN) {
		note(a, &grant, method, msd_model_module_name(a->names[0]));
		refuse(a, verdict, msd_method_row(method)->right);
		return verdict == WAIT ? MSD_BUSY : MSD_REFUSED;
	}
	const msd_err err = msd_standing_take(&a->caller->session, &grant, &d);
	if (err != MSD_OK) /* BUSY is its user's own limit */
		msd_asking_fail(a, err == MSD_BUSY ? 429 : msd_asking_status(err), &d);
	return err;
}

bool msd_bearer_is_anonymous(const struct msd_asking *a)
{
	struct msd_span token;

	return a->edge->rights.acl != NULL && !read_token(a, &token) &&
	       certificate_of(a) == NULL;
}

bool msd_bearer_sees(const struct msd_asking *a, const char *name)
{
	struct msd_grant grant = {0};

	return a->edge->rights.acl == NULL ||
	       (find(a, &grant) <= NO_TOKEN &&
		allows(a, &grant, MSD_RIGHT_LOOKUP, msd_span_of(name)));
}
