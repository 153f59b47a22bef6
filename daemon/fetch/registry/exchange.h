#ifndef MSD_FETCH_EXCHANGE_H
#define MSD_FETCH_EXCHANGE_H
/* Blocking requests to a registry, one at a time. They carry the token, or the name
 * and password, that the registry requires. */
#include <curl/curl.h>

#include "daemon/fetch/transfer/address_check.h"
#include "daemon/fetch/transfer/network_options.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_exchange {
	struct msd_network_options reach; /* set by the owner, all of it borrowed */
	CURL *easy;
	struct msd_address_check gate; /* for the current request */
	char *authorization; /* owned; NULL if the registry has not asked for it */
	char *authorized;    /* owned; host that `authorization` is for */
};

struct msd_exchange_body {
	const char *type;     /* media type */
	int fd;               /* read from its start; -1: send the text */
	struct msd_span text; /* borrowed */
	uint64_t bytes;
};

struct msd_exchange_answer {
	long status;
	char *url;           /* owned; requested URL */
	char *location;      /* owned, as received; NULL if absent */
	char *challenge;     /* owned; NULL if absent */
	struct msd_buf text; /* first part of the body */
};

MSD_MUST_CHECK msd_err msd_exchange_open(struct msd_exchange *x, struct msd_diag *d);
/**
 * Send a request to @url. Finish *@ret in every case. A response of any status is a
 * success. Errors: MSD_REFUSED (http to another machine, or a token or a name that is
 * not available), MSD_IO, those of msd_auth_find().
 */
MSD_MUST_CHECK msd_err msd_exchange_ask(struct msd_exchange *x, const char *method,
					const char *url,
					const struct msd_exchange_body *body,
					struct msd_exchange_answer *ret,
					struct msd_diag *d);
/** The error for a response with an unexpected status. */
msd_err msd_exchange_refuse(const struct msd_exchange_answer *a, struct msd_diag *d);
void msd_exchange_answer_finish(struct msd_exchange_answer *a);
void msd_exchange_close(struct msd_exchange *x);

#endif
