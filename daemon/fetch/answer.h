#ifndef MSD_FETCH_ANSWER_H
#define MSD_FETCH_ANSWER_H
/* What an HTTP answer says besides its bytes. */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/* A part of something. */
struct msd_range {
	uint64_t from, end; /* its first byte, and the one behind its last */
	uint64_t total;     /* of all there is */
};

struct msd_answer {
	long status;            /* 0: none came */
	struct msd_range range; /* of a 206; nothing: not said, or not understood */
	uint64_t bytes;         /* of its body; 0: not said */
	const char *etag;       /* borrowed until the handle is asked again; NULL */
	const char *challenge;  /* of a 401, likewise */
	uint64_t retry_after_s; /* 0: not said */
};

/** Read a Content-Range. False: it does not say which bytes come, and of how many. */
bool msd_range_read(const char *text, struct msd_range *ret);
/** Of @easy, whose headers have come. */
struct msd_answer msd_answer_of(CURL *easy);
/** Whether what ended a transfer may be over in a while. */
bool msd_answer_may_be_better(CURLcode rc);

#endif
