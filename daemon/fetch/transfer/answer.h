#ifndef MSD_FETCH_ANSWER_H
#define MSD_FETCH_ANSWER_H
/* Status and headers of an HTTP response. */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/* A byte range of a file. */
struct msd_range {
	uint64_t from, end; /* first byte, and the byte after the last one */
	uint64_t total;     /* size of the whole file */
};

struct msd_answer {
	long status;            /* 0 if no response arrived */
	struct msd_range range; /* of a 206; empty if absent or not understood */
	uint64_t bytes;         /* size of the body; 0 if unknown */
	const char *etag; /* borrowed until the next request of the handle; NULL if
			     absent */
	uint64_t retry_after_s; /* 0 if absent */
};

/**
 * Parse a Content-Range header. False if it does not give the range and the total
 * size.
 */
bool msd_range_read(const char *text, struct msd_range *ret);
/** Response of @easy. The headers must have arrived. */
struct msd_answer msd_answer_of(CURL *easy);
/**
 * All WWW-Authenticate fields of the response as one list, owned by the caller. NULL:
 * there are none, or memory is short.
 */
char *msd_answer_challenges(CURL *easy);
/** True if the error that ended a transfer may be temporary. */
bool msd_answer_may_be_better(CURLcode rc);

#endif
