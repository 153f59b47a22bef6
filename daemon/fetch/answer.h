#ifndef MSD_FETCH_ANSWER_H
#define MSD_FETCH_ANSWER_H
/* What an HTTP answer says besides its bytes. */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

struct msd_answer {
	long status;           /* 0: none came */
	uint64_t from;         /* of a 206, where its bytes begin; UINT64_MAX: unsaid */
	uint64_t bytes;        /* of its body; 0: not said */
	const char *etag;      /* borrowed until the handle is asked again; NULL */
	const char *challenge; /* of a 401, likewise */
	uint64_t retry_after_s; /* 0: not said */
};

/** Of @easy, whose headers have come. */
struct msd_answer msd_answer_of(CURL *easy);
/** Whether what ended a transfer may be over in a while. */
bool msd_answer_may_be_better(CURLcode rc);

#endif
