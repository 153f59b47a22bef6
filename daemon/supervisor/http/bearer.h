#ifndef MSD_SUPERVISOR_BEARER_H
#define MSD_SUPERVISOR_BEARER_H
/*
 * Authorization of HTTP requests: the rights of the listener and, with a rights file,
 * those of the user whose token the request contains (`Authorization: Bearer`).
 * Without a token the client is anonymous. Each request is authorized separately.
 */
#include "daemon/supervisor/http/exchange.h"
#include "daemon/supervisor/rights/acl.h"
#include "proto/method.h"
#include "store/digest.h"

enum msd_bearer_verdict {
	MSD_BEARER_GRANTED,
	MSD_BEARER_NO_TOKEN,
	MSD_BEARER_BAD_TOKEN,
	MSD_BEARER_WAIT,
	MSD_BEARER_READABLE /* third parties can read the connection */
};

/* The identity of the current request. It is looked up once for all modules of the
 * request, and again from the same token if the file was reloaded in between. */
struct msd_bearer {
	bool is_found;
	enum msd_bearer_verdict verdict;
	bool has_token;
	struct msd_digest token;
	struct msd_grant grant;
	uint64_t generation;  /* the rights file's, at the lookup */
	uint64_t admitted_ms; /* time of the last token check */
};

/**
 * Check that @a has the right to @method, on the module @name if it is not empty.
 * Returns false if it was answered with an error.
 */
MSD_MUST_CHECK bool msd_bearer_may(struct msd_http_exchange *a, enum msd_method method,
				   struct msd_span name);
/**
 * Give the session of @a's client the rights of its token for this request of
 * @method; authorization.h then checks them. On an error it was answered.
 */
MSD_MUST_CHECK msd_err msd_bearer_authorize(struct msd_http_exchange *a,
					    enum msd_method method);
/** True if a token might give @a more rights. */
bool msd_bearer_is_anonymous(struct msd_http_exchange *a);
/** msd_bearer_may() without a reply and without a log line: used to filter lists. */
MSD_MUST_CHECK bool msd_bearer_sees(struct msd_http_exchange *a, const char *name);

#endif
