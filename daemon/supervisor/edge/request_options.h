#ifndef MSD_SUPERVISOR_REQUEST_OPTIONS_H
#define MSD_SUPERVISOR_REQUEST_OPTIONS_H
/* The options of a request: PROTOCOL.md section 10. Read once, for every method. */
#include "proto/diag.h"
#include "proto/method.h"
#include "proto/value.h"

/* Spans borrow from the request's body. */
struct msd_request_options {
	bool has_deadline;
	uint64_t deadline_ms;
	bool is_unordered;
	bool is_background;       /* priority: "background" */
	bool kills_at_leave;      /* abandon: "kill" */
	bool is_traced;           /* of a call: where its time went is asked for */
	bool is_promised;         /* later requests may name its result */
	struct msd_device device; /* type 0: none was named */
	bool has_instance;
	struct msd_handle instance; /* the client's */
	struct msd_span names;      /* a msgpack array; empty: none were given */
};

/**
 * Read @options, a scanned map or nothing, of a request for @method. Errors:
 * MSD_UNKNOWN_OPTION, naming the key and what is known for such a method;
 * MSD_BAD_REQUEST, saying what was expected.
 */
MSD_MUST_CHECK msd_err msd_request_options_read(struct msd_span options,
						enum msd_method method,
						struct msd_request_options *ret,
						struct msd_diag *d);

#endif
