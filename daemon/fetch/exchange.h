#ifndef MSD_FETCH_EXCHANGE_H
#define MSD_FETCH_EXCHANGE_H
/* Requests to a registry, one after the other, each waited for; with the token, or the
 * name and password, that it asks for. */
#include <curl/curl.h>

#include "daemon/fetch/gate.h"
#include "daemon/fetch/reach.h"
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_exchange {
	struct msd_reach reach; /* the owner's, all of it borrowed */
	CURL *easy;
	struct msd_gate gate; /* of the request that is under way */
	char *authorization;  /* owned, NULL: nobody asked for one */
	char *authorized;     /* owned; the host that it is for */
};

struct msd_exchange_body {
	const char *type;     /* media type */
	int fd;               /* from its start; -1: the text */
	struct msd_span text; /* borrowed */
	uint64_t bytes;
};

struct msd_exchange_answer {
	long status;
	char *url;           /* owned; that was asked */
	char *location;      /* owned, as it came; NULL: it sends nowhere */
	char *challenge;     /* owned; NULL: none */
	struct msd_buf text; /* its beginning */
};

MSD_MUST_CHECK msd_err msd_exchange_open(struct msd_exchange *x, struct msd_diag *d);
/** Ask @url; finish *@ret in every case. A status of any kind is an answer. Errors:
 * MSD_REFUSED (http to another machine, a token or a name that is not to be had),
 * MSD_IO, those of msd_auth_find(). */
MSD_MUST_CHECK msd_err msd_exchange_ask(struct msd_exchange *x, const char *method,
					const char *url,
					const struct msd_exchange_body *body,
					struct msd_exchange_answer *ret,
					struct msd_diag *d);
/** What an answer that was not hoped for means. */
msd_err msd_exchange_refuse(const struct msd_exchange_answer *a, struct msd_diag *d);
void msd_exchange_answer_finish(struct msd_exchange_answer *a);
void msd_exchange_close(struct msd_exchange *x);

#endif
