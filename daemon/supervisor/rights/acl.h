#ifndef MSD_SUPERVISOR_ACL_H
#define MSD_SUPERVISOR_ACL_H

/*
 * Access control from a file with one line per user or group:
 *
 *   user alice  cert:cn=alice uid=1000   +@lookup +@call  resnet18/x* digits/main
 *   group gpu   gid=44                   +@load           digits/?ain
 *   end
 *
 * A connection has at most one user: the one whose credential it presented, the
 * strongest kind first. The rights of its groups are added. Without a user and a
 * group it is `anonymous` and has the rights of that user's line, if it exists. A
 * right applies to the names on its line. A removed right (-@admin) is removed from
 * that line only.
 *
 * Parsed as a whole (acl_read.h) and never changed: a reload replaces it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/supervisor/rights/quota.h"
#include "proto/base/bytes.h"
#include "proto/base/err.h"
#include "proto/limits.h"
#include "proto/method.h"
#include "store/digest.h"

/* Name patterns: `*` matches any number of bytes, `?` matches one. */

/**
 * True if @glob matches all of @text. The time is at most the product of the lengths.
 */
bool msd_glob_match(struct msd_span glob, struct msd_span text);
/**
 * Reduce each sequence of stars to one, in place. The caller must own the bytes.
 * False: no text of at most @max bytes can match @g.
 */
MSD_MUST_CHECK bool msd_glob_shorten(struct msd_span *g, size_t max);

/*
 * The credentials of the peer of a connection: the user of a unix socket's peer from
 * the kernel, the certificate and the token. The ACL file maps them to a user: acl.h.
 */

struct msd_digest;
struct msd_tls_peer;

struct msd_identity {
	bool has_user; /* unix socket: uid and gids are valid */
	uint32_t uid;
	uint32_t *gids; /* owned; the effective gid first */
	size_t n_gids;
	const struct msd_tls_peer *certificate; /* verified; borrowed; NULL if absent */
	const struct msd_digest *token;         /* borrowed; NULL if absent */
};

/**
 * Read the credentials of the peer of @fd from the kernel. Empty if @fd is not a unix
 * socket. False: out of memory.
 */
MSD_MUST_CHECK bool msd_identity_of_socket(int fd, struct msd_identity *ret);
void msd_identity_finish(struct msd_identity *i);
/** True for the daemon's own user and root, if no other credential was presented. */
bool msd_identity_is_operator(const struct msd_identity *i);

#define MSD_ACL_GROUPS_MAX 64u /* one bit each */
#define MSD_ACL_ANONYMOUS "anonymous"
#define MSD_ACL_OPERATOR "operator"

/* The kinds of credentials, the strongest first: a credential presented on purpose
 * precedes one that the kernel reports. X(enumerator, word) */
#define MSD_CREDENTIAL_MAP(X)                                                          \
	X(TOKEN, "token:sha256")                                                       \
	X(CERT_SHA256, "cert:sha256")                                                  \
	X(CERT_SAN, "cert:san")                                                        \
	X(CERT_CN, "cert:cn")                                                          \
	X(UID, "uid")                                                                  \
	X(GID, "gid")

enum msd_credential {
#define MSD_CREDENTIAL_ENUM(e, word) MSD_CREDENTIAL_##e,
	MSD_CREDENTIAL_MAP(MSD_CREDENTIAL_ENUM)
#undef MSD_CREDENTIAL_ENUM
		MSD_CREDENTIAL_COUNT
};

struct msd_acl_credential {
	enum msd_credential kind;
	uint32_t number;          /* UID, GID */
	struct msd_digest digest; /* TOKEN, CERT_SHA256 */
	struct msd_span text;     /* CERT_SAN, CERT_CN */
};

/* Glob patterns for modules and their functions. */
struct msd_acl_names {
	struct msd_span module, function;
};

struct msd_acl_line {
	char name[MSD_MAX_NAME_BYTES + 1];
	unsigned line; /* line number in the file */
	unsigned rights;
	struct msd_acl_credential *credentials;
	size_t n_credentials;
	struct msd_acl_names *names;
	size_t n_names; /* at least one */
	struct msd_quota quota;
};

struct msd_acl_lines {
	struct msd_acl_line *each;
	size_t n;
};

struct msd_acl {
	unsigned n_owners;
	char *file;                         /* name of the file */
	char *text;                         /* its text; the spans point into it */
	struct msd_digest digest;           /* digest of the original text */
	struct msd_acl_lines users, groups; /* in the order of the file */
};

/* The rights of an identity by one version of the file. Stored with a connection and
 * computed again after a reload. */
struct msd_grant {
	const struct msd_acl_line *user; /* NULL: none */
	uint64_t groups;                 /* bits */
	unsigned rights;                 /* for any name */
	bool is_operator;                /* all rights */
};

/* The target of a right. Empty module: no specific one. Empty function: the module as
 * a whole. */
struct msd_acl_target {
	struct msd_span module, function;
};

struct msd_grant msd_acl_grant(const struct msd_acl *a, const struct msd_identity *who);
/**
 * Return the rights of the user or group @name; for a user, without its groups.
 * False: no such line.
 */
MSD_MUST_CHECK bool msd_acl_grant_of(const struct msd_acl *a, struct msd_span name,
				     struct msd_grant *ret);
/** True if @g may use @right on @target. */
bool msd_acl_allows(const struct msd_acl *a, const struct msd_grant *g,
		    enum msd_right right, const struct msd_acl_target *target);
/**
 * Return the line that allows it, for people. NULL: not allowed, or no line is
 * needed.
 */
const struct msd_acl_line *msd_acl_why(const struct msd_acl *a,
				       const struct msd_grant *g, enum msd_right right,
				       const struct msd_acl_target *target);
/**
 * Return the user's name, else the name of its first group, else "anonymous".
 * "operator" needs no line. Borrowed.
 */
const char *msd_grant_name(const struct msd_acl *a, const struct msd_grant *g);
/** True if a user or group is identified by a certificate. */
bool msd_acl_knows_certificates(const struct msd_acl *a);
/** True if the grant is for a user of the file other than anonymous. */
bool msd_grant_is_user(const struct msd_grant *g);
/** For a token: true if it belongs to no user and no group. */
bool msd_grant_is_nobodys(const struct msd_grant *g);
/** "token:sha256", ... */
const char *msd_credential_word(enum msd_credential kind);
/** True if both have the same text. */
bool msd_acl_is_same(const struct msd_acl *a, const struct msd_acl *b);
/** Add an owner, which calls msd_acl_destroy(). Use from one thread only. */
struct msd_acl *msd_acl_share(struct msd_acl *a);
/** Remove an owner; the last one frees it. NULL is allowed. */
void msd_acl_destroy(struct msd_acl *a);

#endif
