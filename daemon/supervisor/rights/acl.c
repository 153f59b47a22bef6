/*
 * Happy path: the credentials of an identity are compared with the lines of the file
 * and give a user, groups, or neither. The right and the target of a request are then
 * checked against these lines only. There are no failures: an unknown client is
 * anonymous, and only listed rights are allowed.
 */
#include "daemon/supervisor/rights/acl.h"

#include <nettle/memops.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/stream/tls.h"
#include "daemon/supervisor/rights/glob.h"
#include "proto/words/words.h"

#define ALL_RIGHTS                                                                     \
	(1u << MSD_RIGHT_LOOKUP | 1u << MSD_RIGHT_CALL | 1u << MSD_RIGHT_LOAD |        \
	 1u << MSD_RIGHT_READ | 1u << MSD_RIGHT_ADMIN)

MSD_WORDS_DEFINE(msd_credential_word, enum msd_credential, MSD_CREDENTIAL_MAP)

/* Compare in constant time: an attacker learns nothing from the duration. */
static bool is_same_secret(const struct msd_digest *a, const struct msd_digest *b)
{
	return memeql_sec(a->b, b->b, sizeof(a->b)) != 0;
}

/* Names in certificates contain no NUL: daemon/stream/tls.h. */
static bool has_alt(const struct msd_tls_peer *c, struct msd_span name)
{
	const char *at = c->sans;

	for (uint32_t i = 0; i < c->n_sans; i++) {
		if (msd_span_is(name, at))
			return true;
		at += strlen(at) + 1;
	}
	return false;
}

static bool has_gid(const struct msd_identity *who, uint32_t gid)
{
	for (size_t i = 0; i < who->n_gids; i++) {
		if (who->gids[i] == gid)
			return true;
	}
	return false;
}

/* True if @who presented this credential. */
static bool is_shown(const struct msd_acl_credential *c, const struct msd_identity *who)
{
	const struct msd_tls_peer *cert = who->certificate;

	switch (c->kind) {
	case MSD_CREDENTIAL_TOKEN:
		return who->token != NULL && is_same_secret(&c->digest, who->token);
	case MSD_CREDENTIAL_CERT_SHA256:
		return cert != NULL &&
		       memcmp(c->digest.b, cert->sha256, sizeof(c->digest.b)) == 0;
	case MSD_CREDENTIAL_CERT_SAN:
		return cert != NULL && has_alt(cert, c->text);
	case MSD_CREDENTIAL_CERT_CN:
		return cert != NULL && msd_span_is(c->text, cert->cn);
	case MSD_CREDENTIAL_UID:
		return who->has_user && who->uid == c->number;
	case MSD_CREDENTIAL_GID:
		return has_gid(who, c->number);
	case MSD_CREDENTIAL_COUNT:
	default:
		return false;
	}
}

/* Return the strongest credential of the line that @who presented. COUNT: none. */
static enum msd_credential strongest(const struct msd_acl_line *l,
				     const struct msd_identity *who)
{
	enum msd_credential best = MSD_CREDENTIAL_COUNT;

	for (size_t i = 0; i < l->n_credentials; i++) {
		const struct msd_acl_credential *c = &l->credentials[i];
		const bool shown = is_shown(c, who);
		best = shown && c->kind < best ? c->kind : best;
	}
	return best;
}

static const struct msd_acl_line *find_user(const struct msd_acl *a,
					    struct msd_span name)
{
	for (size_t i = 0; i < a->users.n; i++) {
		if (msd_span_is(name, a->users.each[i].name))
			return &a->users.each[i];
	}
	return NULL;
}

static const struct msd_acl_line *anonymous(const struct msd_acl *a)
{
	return find_user(a, (struct msd_span){(const uint8_t *)MSD_ACL_ANONYMOUS,
					      sizeof(MSD_ACL_ANONYMOUS) - 1});
}

/* A token replaces all other credentials: a wrong token means no user, whatever else
 * was presented. */
static struct msd_identity as_shown(const struct msd_identity *who)
{
	return who->token != NULL ? (struct msd_identity){.token = who->token} : *who;
}

struct msd_grant msd_acl_grant(const struct msd_acl *a, const struct msd_identity *who)
{
	const struct msd_identity shown = as_shown(who);
	enum msd_credential best = MSD_CREDENTIAL_COUNT;
	struct msd_grant g = {.is_operator = msd_identity_is_operator(who)};

	if (g.is_operator) {
		g.rights = ALL_RIGHTS;
		return g;
	}
	for (size_t i = 0; i < a->users.n; i++) {
		const enum msd_credential it = strongest(&a->users.each[i], &shown);
		g.user = it < best ? &a->users.each[i] : g.user;
		best = it < best ? it : best;
	}
	for (size_t i = 0; i < a->groups.n; i++) {
		if (strongest(&a->groups.each[i], &shown) < MSD_CREDENTIAL_COUNT) {
			g.groups |= 1ull << i;
			g.rights |= a->groups.each[i].rights;
		}
	}
	if (g.user == NULL && g.groups == 0)
		g.user = anonymous(a);
	if (g.user != NULL)
		g.rights |= g.user->rights;
	return g;
}

bool msd_acl_grant_of(const struct msd_acl *a, struct msd_span name,
		      struct msd_grant *ret)
{
	const struct msd_acl_line *user = find_user(a, name);

	for (size_t i = 0; i < a->groups.n; i++) {
		if (user == NULL && msd_span_is(name, a->groups.each[i].name)) {
			*ret = (struct msd_grant){.groups = 1ull << i,
						  .rights = a->groups.each[i].rights};
			return true;
		}
	}
	if (user == NULL && !msd_span_is(name, MSD_ACL_ANONYMOUS))
		return false;
	*ret = (struct msd_grant){.user = user,
				  .rights = user != NULL ? user->rights : 0};
	return true;
}

/* For lookup and call, a pattern for some functions of a module covers the module.
 * Load and read concern all functions, so they need the pattern `*`. */
static bool covers(const struct msd_acl_names *n, enum msd_right right,
		   const struct msd_acl_target *t)
{
	if (!msd_glob_match(n->module, t->module))
		return false;
	if (t->function.n > 0)
		return msd_glob_match(n->function, t->function);
	return (right != MSD_RIGHT_LOAD && right != MSD_RIGHT_READ) ||
	       (n->function.n == 1 && n->function.p[0] == '*');
}

static bool line_allows(const struct msd_acl_line *l, enum msd_right right,
			const struct msd_acl_target *t)
{
	if ((l->rights & 1u << right) == 0)
		return false;
	if (t->module.n == 0)
		return true;
	for (size_t i = 0; i < l->n_names; i++) {
		if (covers(&l->names[i], right, t))
			return true;
	}
	return false;
}

const struct msd_acl_line *msd_acl_why(const struct msd_acl *a,
				       const struct msd_grant *g, enum msd_right right,
				       const struct msd_acl_target *target)
{
	if (g->user != NULL && line_allows(g->user, right, target))
		return g->user;
	for (size_t i = 0; i < a->groups.n; i++) {
		if ((g->groups & 1ull << i) != 0 &&
		    line_allows(&a->groups.each[i], right, target))
			return &a->groups.each[i];
	}
	return NULL;
}

bool msd_acl_allows(const struct msd_acl *a, const struct msd_grant *g,
		    enum msd_right right, const struct msd_acl_target *target)
{
	if (right == MSD_RIGHT_ANY || g->is_operator)
		return right != MSD_RIGHT_NONE;
	return (g->rights & 1u << right) != 0 &&
	       msd_acl_why(a, g, right, target) != NULL;
}

static bool has_certificate(const struct msd_acl_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		const struct msd_acl_line *l = &lines->each[i];

		for (size_t j = 0; j < l->n_credentials; j++) {
			const enum msd_credential kind = l->credentials[j].kind;
			if (kind == MSD_CREDENTIAL_CERT_SHA256 ||
			    kind == MSD_CREDENTIAL_CERT_SAN ||
			    kind == MSD_CREDENTIAL_CERT_CN)
				return true;
		}
	}
	return false;
}

bool msd_acl_knows_certificates(const struct msd_acl *a)
{
	return has_certificate(&a->users) || has_certificate(&a->groups);
}

bool msd_grant_is_user(const struct msd_grant *g)
{
	return g->user != NULL && strcmp(g->user->name, MSD_ACL_ANONYMOUS) != 0;
}

bool msd_grant_is_nobodys(const struct msd_grant *g)
{
	return g->groups == 0 && !msd_grant_is_user(g);
}

const char *msd_grant_name(const struct msd_acl *a, const struct msd_grant *g)
{
	if (g->is_operator)
		return MSD_ACL_OPERATOR;
	if (g->user != NULL)
		return g->user->name;
	for (size_t i = 0; i < a->groups.n; i++) {
		if ((g->groups & 1ull << i) != 0)
			return a->groups.each[i].name;
	}
	return MSD_ACL_ANONYMOUS;
}

bool msd_acl_is_same(const struct msd_acl *a, const struct msd_acl *b)
{
	return msd_digest_equal(&a->digest, &b->digest);
}

static void finish_lines(struct msd_acl_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		free(lines->each[i].credentials);
		free(lines->each[i].names);
	}
	free(lines->each);
}

struct msd_acl *msd_acl_share(struct msd_acl *a)
{
	a->n_owners++;
	return a;
}

void msd_acl_destroy(struct msd_acl *a)
{
	if (a == NULL || --a->n_owners > 0)
		return;
	finish_lines(&a->users);
	finish_lines(&a->groups);
	free(a->file);
	free(a->text);
	free(a);
}
