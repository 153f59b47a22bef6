#ifndef MSD_SUPERVISOR_ACL_H
#define MSD_SUPERVISOR_ACL_H
/*
 * Who may do what, as a file says it, one line a user:
 *
 *   user alice  cert:cn=alice uid=1000   +@lookup +@call  resnet18/x* digits/main
 *   group gpu   gid=44                   +@load           digits/?ain
 *   end
 *
 * A connection is one user at most: whose credential it has shown, the strongest kind
 * of them first. The groups that it is in add to that user's rights. Who is neither is
 * `anonymous`, who has the rights of that user's line, if there is one. A right is for
 * the names on its line. Rights that a line takes back
 * (-@admin) it takes back from itself alone.
 *
 * Read as a whole (acl_read.h) and never changed: what was read again takes its place.
 */
#include "daemon/supervisor/rights/identity.h"
#include "daemon/supervisor/rights/quota.h"
#include "proto/limits.h"
#include "proto/method.h"
#include "store/digest.h"

#define MSD_ACL_GROUPS_MAX 64u /* a bit each */
#define MSD_ACL_ANONYMOUS "anonymous"
#define MSD_ACL_OPERATOR "operator"

/* The kinds of credentials, the strongest first: what was shown on purpose comes before
 * what the kernel says anyway. X(enumerator, word) */
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

/* Names of modules and their functions: globs. */
struct msd_acl_names {
	struct msd_span module, function;
};

struct msd_acl_line {
	char name[MSD_MAX_NAME_BYTES + 1];
	unsigned line; /* of the file */
	unsigned rights;
	struct msd_acl_credential *credentials;
	size_t n_credentials;
	struct msd_acl_names *names;
	size_t n_names; /* one at least */
	struct msd_quota quota;
};

struct msd_acl_lines {
	struct msd_acl_line *each;
	size_t n;
};

struct msd_acl {
	unsigned n_owners;
	char *file;                         /* whose lines they are */
	char *text;                         /* of it: what the spans point to */
	struct msd_digest digest;           /* of the text as it was */
	struct msd_acl_lines users, groups; /* in the file's order */
};

/* What an identity may do by one reading of the file: kept with a connection, and found
 * anew when the file was read again. */
struct msd_grant {
	const struct msd_acl_line *user; /* NULL: none */
	uint64_t groups;                 /* bits */
	unsigned rights;                 /* of any name */
	bool is_operator;                /* all rights */
};

/* What a right is asked for. An empty module: none in particular. An empty function:
 * the module as a whole. */
struct msd_acl_target {
	struct msd_span module, function;
};

struct msd_grant msd_acl_grant(const struct msd_acl *a, const struct msd_identity *who);
/** What the user called @name may do, without the groups that it may be in; false:
 * there is none. */
MSD_MUST_CHECK bool msd_acl_grant_of(const struct msd_acl *a, struct msd_span name,
				     struct msd_grant *ret);
/** May who has @g do with @target what needs @right? */
bool msd_acl_allows(const struct msd_acl *a, const struct msd_grant *g,
		    enum msd_right right, const struct msd_acl_target *target);
/** The line that allows it, for people; NULL: none does, or none is needed. */
const struct msd_acl_line *msd_acl_why(const struct msd_acl *a,
				       const struct msd_grant *g, enum msd_right right,
				       const struct msd_acl_target *target);
/** The user's name, else that of its first group, else "anonymous"; "operator" for who
 * needs none. Borrowed. */
const char *msd_grant_name(const struct msd_acl *a, const struct msd_grant *g);
/** Some user or group is known by a certificate. */
bool msd_acl_knows_certificates(const struct msd_acl *a);
/** It is a user's of the file, not what is left for anybody. */
bool msd_grant_is_user(const struct msd_grant *g);
/** Of a token: it is neither a user's nor a group's. */
bool msd_grant_is_nobodys(const struct msd_grant *g);
/** "token:sha256", ... */
const char *msd_credential_word(enum msd_credential kind);
/** Do both say the same, word for word? */
bool msd_acl_is_same(const struct msd_acl *a, const struct msd_acl *b);
/** One owner more, who ends that by msd_acl_destroy(); of one thread alone. */
struct msd_acl *msd_acl_share(struct msd_acl *a);
/** It goes with its last owner. NULL is fine. */
void msd_acl_destroy(struct msd_acl *a);

#endif
