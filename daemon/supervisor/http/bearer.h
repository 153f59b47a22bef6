#ifndef MSD_SUPERVISOR_BEARER_H
#define MSD_SUPERVISOR_BEARER_H
/*
 * What a request of the HTTP front may do: that of the way it came, and where there is
 * a file of rights, that of the user whose token it shows (`Authorization: Bearer`).
 * Without a token it is anonymous. Each request is asked for itself.
 */
#include "daemon/supervisor/http/asking.h"
#include "daemon/supervisor/rights/acl.h"
#include "proto/method.h"
#include "store/digest.h"

enum msd_bearer_verdict {
	MSD_BEARER_GRANTED,
	MSD_BEARER_NO_TOKEN,
	MSD_BEARER_BAD_TOKEN,
	MSD_BEARER_WAIT,
	MSD_BEARER_READABLE /* others can read what is sent */
};

/* Who asks by the request on its way: found once, however many modules it is about, and
 * again from the same token when the file was read again meanwhile. */
struct msd_bearer {
	bool is_found;
	enum msd_bearer_verdict verdict;
	bool has_token;
	struct msd_digest token;
	struct msd_grant grant;
	uint64_t generation;  /* of the file of rights, when it was found */
	uint64_t admitted_ms; /* when the token was asked for last */
};

/**
 * May @a do what needs the right of @method, with the module @name, where it is about
 * one? False: it was answered.
 */
MSD_MUST_CHECK bool msd_bearer_may(struct msd_asking *a, enum msd_method method,
				   struct msd_span name);
/** The session of @a's caller stands as who shows this token, for this request, which
 * is as one for @method: what it may do standing.h says then. An error was answered.
 */
MSD_MUST_CHECK msd_err msd_bearer_stand(struct msd_asking *a, enum msd_method method);
/** A token might help @a. */
bool msd_bearer_is_anonymous(struct msd_asking *a);
/** msd_bearer_may() without an answer, and without a word about who may not: what is
 * left out of a list. */
MSD_MUST_CHECK bool msd_bearer_sees(struct msd_asking *a, const char *name);

#endif
