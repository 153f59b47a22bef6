#ifndef MSD_SUPERVISOR_REQUEST_OPTIONS_H
#define MSD_SUPERVISOR_REQUEST_OPTIONS_H
/* The options of a request: PROTOCOL.md section 10. Parsed in one place for every
 * method. */
#include "proto/base/diag.h"
#include "proto/method.h"
#include "proto/value.h"

/* Spans borrow from the request's body. */
struct msd_request_options {
	bool has_deadline;
	uint64_t deadline_ms;
	bool is_unordered;
	bool is_background;       /* priority: "background" */
	bool kills_at_leave;      /* abandon: "kill" */
	bool is_traced;           /* for a call: return the time of each stage */
	bool is_promised;         /* later requests may name its result */
	struct msd_device device; /* type 0: not set */
	bool has_instance;
	struct msd_handle instance; /* the client's handle */
	struct msd_span names;      /* a msgpack array; empty: not set */
	struct msd_span repeat;     /* a checked msgpack array; empty: not set */
};

/**
 * Parse @options, a checked map or empty, of a request for @method. Errors:
 * MSD_UNKNOWN_OPTION, with the key and the keys that the method knows;
 * MSD_BAD_REQUEST, with the expected value.
 */
MSD_MUST_CHECK msd_err msd_request_options_read(struct msd_span options,
						enum msd_method method,
						struct msd_request_options *ret,
						struct msd_diag *d);

#endif
