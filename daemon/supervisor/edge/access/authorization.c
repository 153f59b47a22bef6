/*
 * Happy path of a request: find the grant in the current ACL file, check the method's
 * right, and check that a line covers the names in the request. A call that begins
 * like the last one is not checked again.
 *
 * Failures: rejected, whether the target exists or not, and recorded (denied.h).
 */
#include "daemon/supervisor/edge/access/authorization.h"

#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/stream/tls.h"
#include "daemon/supervisor/edge/access/denied.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/connection_slots.h"
#include "daemon/supervisor/edge/session/request_target.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/module/direct/direct.h"

#define LINES_PER_SECOND 10u /* log lines about rejections */

static bool is_encrypted(const struct msd_session *s)
{
	return s->conn->transport.peer != NULL;
}

/* Count the requests of @s in @u from now on. */
static void count_with(struct msd_session *s, struct msd_usage *u)
{
	struct msd_client *c = &s->client;

	if (c->n_together != NULL)
		*c->n_together -= c->n_in_flight;
	c->n_together = u != NULL ? &u->n_requests : NULL;
	if (c->n_together != NULL)
		*c->n_together += c->n_in_flight;
	s->authorization.usage = u;
}

/* Find the grant of @s in the ACL file. False: its identity cannot be read. */
static bool look_up(const struct msd_session *s, struct msd_grant *ret)
{
	struct msd_identity who = {0};

	if (!s->authorization.is_by_request &&
	    !msd_identity_of_socket(s->conn->transport.fd, &who))
		return false;
	who.token = s->authorization.has_token ? &s->authorization.token : NULL;
	who.certificate = is_encrypted(s) && s->conn->transport.peer->is_verified
				  ? s->conn->transport.peer
				  : NULL;
	*ret = msd_acl_grant(s->edge->rights.acl, &who);
	if (!is_encrypted(s)) /* with TLS a line may grant more */
		ret->rights &= s->principal.rights;
	msd_identity_finish(&who);
	return true;
}

static void find(struct msd_session *s)
{
	struct msd_rights *r = &s->edge->rights;
	struct msd_usage *usage = NULL;
	struct msd_authorization *st = &s->authorization;

	st->generation = r->generation;
	st->n_call = 0;
	st->grant = (struct msd_grant){0};
	if (!look_up(s, &st->grant) || !msd_rights_usage(r, &st->grant, &usage)) {
		st->generation = 0; /* no rights until the next request tries again */
		st->grant = (struct msd_grant){0};
	}
	count_with(s, usage);
}

/* Count @s as a connection of @who. */
static msd_err join(struct msd_session *s, struct msd_peer_id who, struct msd_diag *d)
{
	struct msd_edge *e = s->edge;
	struct msd_client_peer *p =
		msd_client_peer_get(&e->peers, who, e->limits->max_peer_memory);
	char why[MSD_CONNECTION_SLOTS_WHY_BYTES];

	if (p == NULL)
		return msd_diag_no_memory(d);
	if (p != s->peer && !msd_connection_slots_has_one(e, p)) {
		msd_client_peer_unref(p);
		msd_connection_slots_say_full(e, who, why);
		return msd_diag_set(d, MSD_BUSY, "%s", why);
	}
	msd_account_move(&s->client.account, &p->account);
	s->peer->n_connections--;
	p->n_connections++;
	msd_client_peer_unref(s->peer);
	s->peer = p;
	s->client.peer = who;
	return MSD_OK;
}

/* The user of a certificate is known only now, so the connection was not counted for
 * that user when it was accepted. */
static void count_as_user(struct msd_session *s)
{
	struct msd_diag d = {0};

	if (join(s,
		 msd_rights_peer(&s->edge->rights, &s->authorization.grant,
				 s->peer->who),
		 &d) != MSD_OK)
		msd_session_close(s, MSD_BUSY, msd_diag_text(&d));
	msd_diag_finish(&d);
}

/* Return the grant by the current ACL file. */
static const struct msd_grant *grant_of(struct msd_session *s)
{
	const bool is_first = s->authorization.generation == 0;

	if (s->authorization.generation != s->edge->rights.generation)
		find(s);
	if (is_first && is_encrypted(s))
		count_as_user(s);
	return &s->authorization.grant;
}

msd_err msd_authorization_set(struct msd_session *s, const struct msd_grant *g,
			      const struct msd_digest *token, struct msd_diag *d)
{
	struct msd_rights *r = &s->edge->rights;
	struct msd_authorization *st = &s->authorization;
	struct msd_usage *usage = NULL;

	if (join(s, msd_rights_peer(r, g, s->came_from), d) != MSD_OK)
		return d->code;

	st->is_by_request = true;
	st->has_token = token != NULL;
	if (token != NULL)
		st->token = *token;
	st->generation = r->generation;
	st->n_call = 0;
	st->grant = msd_rights_usage(r, g, &usage) ? *g : (struct msd_grant){0};
	count_with(s, usage);
	return MSD_OK;
}

struct msd_peer_id msd_authorization_peer(struct msd_edge *e, int fd,
					  const struct msd_principal *way)
{
	const struct msd_peer_id id = way->client.kind != MSD_PEER_UNKNOWN
					      ? way->client
					      : msd_peer_id_of_socket(fd);
	struct msd_identity who;

	if (e->rights.acl == NULL || !msd_identity_of_socket(fd, &who))
		return id;
	const struct msd_grant g = msd_acl_grant(e->rights.acl, &who);
	msd_identity_finish(&who);
	return msd_rights_peer(&e->rights, &g, id);
}

static msd_err deny(struct msd_session *s, enum msd_method method,
		    const struct msd_acl_target *target, struct msd_diag *d)
{
	const struct msd_method_row *row = msd_method_row(method);
	char name[MSD_DENIAL_NAME_BYTES];

	msd_denied_note(s, &s->authorization.grant, method, target);
	if (!is_encrypted(s) && msd_principal_check(&s->principal, method, d) != MSD_OK)
		return MSD_REFUSED; /* no client on this transport may do it */
	msd_denial_put_name(name, target);
	return msd_diag_set(
		d, MSD_REFUSED, "%s has no right to %s%s%s: it needs %s",
		msd_grant_name(s->edge->rights.acl, &s->authorization.grant), row->name,
		name[0] != '\0' ? " " : "", name, msd_right_name(row->right));
}

/* A call that begins like an allowed one has the same target: msgpack puts the length
 * at the start of each object. */
static bool is_last_call(const struct msd_authorization *st, struct msd_span params)
{
	return st->n_call > 0 && params.n >= st->n_call &&
	       memcmp(params.p, st->call, st->n_call) == 0;
}

/* Function handles change, so calls with them are checked each time. */
static void keep_call(struct msd_authorization *st, struct msd_span params,
		      const struct msd_acl_target *target)
{
	const uint8_t *end = target->function.p + target->function.n;

	if (end <= params.p || end > params.p + params.n ||
	    (size_t)(end - params.p) > sizeof(st->call))
		return;
	st->n_call = (size_t)(end - params.p);
	memcpy(st->call, params.p, st->n_call);
}

static msd_err ask_file(struct msd_session *s, const struct msd_in *in,
			enum msd_method method, struct msd_diag *d)
{
	const struct msd_method_row *row = msd_method_row(method);
	const struct msd_grant *g = grant_of(s);
	struct msd_authorization *st = &s->authorization;
	struct msd_acl_target target = {0};

	if (method == MSD_M_CALL && is_last_call(st, in->body.params))
		return MSD_OK;
	if (row == NULL || row->right == MSD_RIGHT_ANY ||
	    (g->is_operator && row->right != MSD_RIGHT_NONE))
		return MSD_OK;
	msd_err err = msd_request_target_read(s, in, method, &target, d);
	if (err != MSD_OK)
		return err;
	if (!msd_acl_allows(s->edge->rights.acl, g, row->right, &target))
		return deny(s, method, &target, d);
	if (method == MSD_M_CALL)
		keep_call(st, in->body.params, &target);
	return MSD_OK;
}

msd_err msd_authorization_ask(struct msd_session *s, const struct msd_in *in,
			      enum msd_method method, struct msd_diag *d)
{
	return s->edge->rights.acl == NULL
		       ? msd_principal_check(&s->principal, method, d)
		       : ask_file(s, in, method, d);
}

/* Log that @s exceeded a limit of its user. */
static void note_limit(struct msd_session *s, enum msd_quota_kind kind)
{
	struct msd_edge *e = s->edge;
	uint64_t n_others;

	if (!msd_log_rate_allow(&e->limited, uv_now(e->loop), LINES_PER_SECOND,
				&n_others))
		return;
	msd_log(MSD_LOG_WARN, "request_quota", "conn=%llu user=%s limit=%s others=%llu",
		(unsigned long long)s->number, s->authorization.grant.user->name,
		msd_quota_word(kind), (unsigned long long)n_others);
}

/* The ACL file may have been reloaded since the request was authorized. */
static msd_err spend(struct msd_session *s, uint64_t bytes, struct msd_diag *d)
{
	const struct msd_acl_line *user = grant_of(s)->user;
	struct msd_usage *usage = s->authorization.usage; /* NULL: no limits */
	struct msd_quota_refusal why;

	if (user == NULL || usage == NULL ||
	    msd_usage_ask(usage, &user->quota, bytes, uv_now(s->edge->loop), &why))
		return MSD_OK;
	note_limit(s, why.kind);
	(void)msd_diag_set(d, MSD_BUSY,
			   "%s may have %llu %s (%s=): try again in %llu ms",
			   user->name, (unsigned long long)user->quota.of[why.kind],
			   msd_quota_text(why.kind), msd_quota_word(why.kind),
			   (unsigned long long)why.retry_after_ms);
	d->retry_after_ms = why.retry_after_ms;
	return MSD_BUSY;
}

msd_err msd_authorization_spend(struct msd_session *s, uint64_t bytes,
				enum msd_method method, struct msd_diag *d)
{
	if (s->edge->rights.acl == NULL || !msd_method_is_forwarded(method))
		return MSD_OK;
	return spend(s, bytes, d);
}

/* Also called for a worker's reply, because the ACL file may have been reloaded
 * meanwhile. */
msd_err msd_authorization_keep(struct msd_session *s, uint64_t bytes,
			       struct msd_diag *d)
{
	if (s->edge->rights.acl == NULL)
		return MSD_OK;
	const struct msd_acl_line *user = grant_of(s)->user;
	const struct msd_usage *usage = s->authorization.usage;
	if (user == NULL || usage == NULL ||
	    msd_usage_may_keep(usage, &user->quota, bytes))
		return MSD_OK;
	note_limit(s, MSD_QUOTA_RESIDENT);
	(void)msd_diag_set(
		d, MSD_BUSY, "%s may have %llu %s (%s=): free some", user->name,
		(unsigned long long)user->quota.of[MSD_QUOTA_RESIDENT],
		msd_quota_text(MSD_QUOTA_RESIDENT), msd_quota_word(MSD_QUOTA_RESIDENT));
	d->retry_after_ms = MSD_QUOTA_GUESS_MS;
	return MSD_BUSY;
}

void msd_authorization_sign(struct msd_session *s, struct msd_load *load)
{
	if (s->edge->rights.acl == NULL)
		return;
	const struct msd_grant *g = grant_of(s);
	load->owner = msd_rights_owner(&s->edge->rights, g);
	load->owner_max = g->user != NULL ? g->user->quota.of[MSD_QUOTA_MODULES] : 0;
	load->owner_wait_ms = MSD_QUOTA_GUESS_MS;
}

bool msd_authorization_has(struct msd_session *s, enum msd_right right)
{
	if (s->edge->rights.acl == NULL)
		return msd_principal_has(&s->principal, right);
	return (grant_of(s)->rights & 1u << right) != 0;
}

bool msd_authorization_is_ruled(struct msd_session *s)
{
	return s->edge->rights.acl != NULL && !grant_of(s)->is_operator;
}

bool msd_authorization_may_call(struct msd_session *s, struct msd_span module,
				struct msd_span function)
{
	const struct msd_acl_target target = {.module = module, .function = function};

	return msd_acl_allows(s->edge->rights.acl, grant_of(s), MSD_RIGHT_CALL,
			      &target);
}

bool msd_authorization_sees(struct msd_session *s, const char *name)
{
	const struct msd_acl_target target = {
		.module = {(const uint8_t *)name, strlen(name)}};

	return s->edge->rights.acl == NULL ||
	       msd_acl_allows(s->edge->rights.acl, grant_of(s), MSD_RIGHT_LOOKUP,
			      &target);
}

const char *msd_authorization_name(const struct msd_session *s,
				   char room[static MSD_PEER_TEXT_BYTES])
{
	const struct msd_rights *r = &s->edge->rights;
	struct msd_grant g = {0};

	if (r->acl == NULL)
		return msd_peer_id_text(s->peer->who, room);
	if (s->authorization.generation == r->generation) {
		g = s->authorization.grant;
	} else {
		(void)look_up(s, &g);
	}
	return msd_grant_name(r->acl, &g);
}

static msd_err refuse_token(struct msd_session *s, struct msd_diag *d)
{
	struct msd_edge *e = s->edge;
	char peer[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	if (msd_log_rate_allow(&e->denied, uv_now(e->loop), LINES_PER_SECOND,
			       &n_others)) {
		msd_log(MSD_LOG_WARN, "session_token",
			"conn=%llu peer=\"%s\" others=%llu%s",
			(unsigned long long)s->number,
			msd_peer_id_text(s->peer->who, peer),
			(unsigned long long)n_others,
			" why=\"no user has this token\"");
	}
	return msd_diag_set(d, MSD_REFUSED, "session.hello: no user has this token");
}

msd_err msd_authorization_show(struct msd_session *s, struct msd_span token,
			       struct msd_diag *d)
{
	struct msd_rights *r = &s->edge->rights;
	struct msd_digest digest;

	if (r->acl == NULL)
		return MSD_OK;
	if (!s->principal.is_local && !is_encrypted(s)) {
		return msd_diag_set(
			d, MSD_REFUSED,
			"session.hello: tokens are accepted only over unix sockets and "
			"TLS, because others can read this connection");
	}
	const uint64_t now_ms = uv_now(s->edge->loop);
	msd_digest_of(token, &digest);
	const struct msd_identity who = {.token = &digest};
	const struct msd_grant g = msd_acl_grant(r->acl, &who);
	const enum msd_token_verdict verdict =
		msd_rights_judge(r, &g, s->came_from, &digest, now_ms);
	if (verdict == MSD_TOKEN_WAIT) {
		return msd_diag_set(d, MSD_BUSY,
				    "session.hello: too many wrong tokens: try again "
				    "in %llu ms",
				    (unsigned long long)msd_login_throttle_left_ms(
					    &r->guesses, s->came_from, now_ms));
	}
	if (verdict == MSD_TOKEN_WRONG)
		return refuse_token(s, d);
	msd_err err = join(s, msd_rights_peer(r, &g, s->came_from), d);
	if (err != MSD_OK)
		return err;
	msd_direct_end_client(&s->client); /* they were opened for the previous user */
	s->authorization.has_token = true;
	s->authorization.token = digest;
	find(s);
	return MSD_OK;
}
