/*
 * Happy path: the credentials of an identity are compared with the lines of the file
 * and give a user, groups, or neither. The right and the target of a request are then
 * checked against these lines only. There are no failures: an unknown client is
 * anonymous, and only listed rights are allowed.
 */
#include "daemon/supervisor/rights/acl.h"

#include <errno.h>
#include <nettle/memops.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/stream/tls.h"
#include "proto/words/words.h"

bool msd_glob_match(struct msd_span glob, struct msd_span text)
{
	size_t g = 0, t = 0;
	size_t star = glob.n; /* position of the last star; glob.n: none yet */
	size_t resume = 0;    /* end of the text that this star matches */

	/* Backtrack only to the last star: earlier stars can keep their shortest
	 * match, because the last one takes any rest. */
	while (t < text.n) {
		if (g < glob.n && glob.p[g] == '*') {
			star = g++;
			resume = t;
		} else if (g < glob.n && (glob.p[g] == '?' || glob.p[g] == text.p[t])) {
			g++;
			t++;
		} else if (star < glob.n) {
			g = star + 1;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (g < glob.n && glob.p[g] == '*')
		g++;
	return g == glob.n;
}

bool msd_glob_shorten(struct msd_span *g, size_t max)
{
	uint8_t *out = (uint8_t *)(uintptr_t)g->p; /* the caller owns the bytes */
	size_t n = 0, n_others = 0;

	for (size_t i = 0; i < g->n; i++) {
		const uint8_t c = g->p[i];
		if (c == '*' && n > 0 && out[n - 1] == '*')
			continue;
		out[n++] = c;
		n_others += c != '*';
	}
	g->n = n;
	return n > 0 && n_others <= max;
}

_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "groups are read as they are");

/* Read the supplementary groups that the process had when it connected. */
static bool read_groups(int fd, struct msd_identity *i)
{
	socklen_t n = 0;

	/* Without a buffer, the kernel returns the required size. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &n) == 0 || errno != ERANGE)
		n = 0;
	uint32_t *more = realloc(i->gids, sizeof(*more) + n);
	if (more == NULL)
		return false;
	i->gids = more;
	if (n > 0 && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, more + 1, &n) == 0)
		i->n_gids += n / sizeof(*more);
	return true;
}

bool msd_identity_of_socket(int fd, struct msd_identity *ret)
{
	struct msd_identity i = {0};
	struct ucred who;
	struct sockaddr_storage at = {0};
	socklen_t n = sizeof(who), n_at = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &n_at) == 0 &&
	    at.ss_family == AF_UNIX &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0) {
		i.has_user = true;
		i.uid = who.uid;
		if (!read_groups(fd, &i))
			return false;
		i.gids[0] = who.gid;
		i.n_gids++;
	}
	*ret = i;
	return true;
}

void msd_identity_finish(struct msd_identity *i)
{
	free(i->gids);
	*i = (struct msd_identity){0};
}

bool msd_identity_is_operator(const struct msd_identity *i)
{
	return i->has_user && i->token == NULL && i->certificate == NULL &&
	       (i->uid == 0 || i->uid == geteuid());
}

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
