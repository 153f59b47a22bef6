#ifndef MSD_PROTO_ERR_H
#define MSD_PROTO_ERR_H
/*
 * Error codes of modserd. The numbers and names are protocol, sent in the error of a
 * response: append, never renumber. PROTOCOL.md section "Errors" explains each to
 * users and is tested against this table.
 */
#include <stdbool.h>

/* X(enumerator, number, wire name, sentence) */
#define MSD_ERR_MAP(X)                                                                 \
	X(OK, 0, "OK", "no error")                                                     \
	X(NOMEM, 1, "NO_MEMORY", "out of memory")                                      \
	X(PROTOCOL, 2, "PROTOCOL", "the frame breaks the protocol; connection closed") \
	X(BAD_REQUEST, 3, "BAD_REQUEST", "the request is well framed but not valid")   \
	X(TOO_LARGE, 4, "TOO_LARGE", "a size is over its limit")                       \
	X(UNKNOWN_METHOD, 5, "UNKNOWN_METHOD", "no such method")                       \
	X(UNKNOWN_OPTION, 6, "UNKNOWN_OPTION", "no such request option")               \
	X(NOT_FOUND, 7, "NOT_FOUND", "no such module or function")                     \
	X(EXISTS, 8, "EXISTS", "the name is taken")                                    \
	X(NOT_READY, 9, "NOT_READY", "the module was not ready in time")               \
	X(DEADLINE, 10, "DEADLINE_EXCEEDED", "the deadline passed")                    \
	X(CANCELLED, 11, "CANCELLED", "the request was cancelled")                     \
	X(STALE_HANDLE, 12, "STALE_HANDLE", "the handle's object is gone")             \
	X(BAD_ARGUMENT, 13, "BAD_ARGUMENT", "an argument does not fit the function")   \
	X(CALL_FAILED, 14, "CALL_FAILED", "the function itself reported an error")     \
	X(BAD_ARTIFACT, 15, "BAD_ARTIFACT",                                            \
	  "the file is damaged or not what it claims")                                 \
	X(UNSUPPORTED, 16, "UNSUPPORTED",                                              \
	  "valid, but this build or host cannot do it")                                \
	X(WORKER_LOST, 17, "WORKER_LOST", "the worker died during the request")        \
	X(GPU_FAULT, 18, "GPU_FAULT", "the device failed for good; worker replaced")   \
	X(QUARANTINED, 19, "QUARANTINED", "the module died too often")                 \
	X(REFUSED, 20, "REFUSED", "not allowed on this connection")                    \
	X(NO_SPACE, 21, "NO_SPACE", "no room within the memory limits")                \
	X(BUSY, 22, "BUSY", "a limit on concurrent work is reached")                   \
	X(DRAINING, 23, "DRAINING", "shutting down or unloading")                      \
	X(IO, 24, "IO", "the operating system refused an operation")                   \
	X(INTERNAL, 25, "INTERNAL", "a bug in modserd")                                \
	X(MODULE_FAILED, 26, "MODULE_FAILED", "the module's load failed")              \
	X(NOT_VERIFIED, 27, "NOT_VERIFIED",                                            \
	  "the bytes do not match the digest or signature")

typedef enum msd_err {
#define MSD_ERR_ENUM(name, number, wire, sentence) MSD_##name = number,
	MSD_ERR_MAP(MSD_ERR_ENUM)
#undef MSD_ERR_ENUM
		MSD_ERR_COUNT,
	/* No room now; the caller waits and retries. It has no wire number: it is
	 * returned between functions only, never in a response. */
	MSD_WAIT
} msd_err;

#define MSD_MUST_CHECK __attribute__((warn_unused_result))

/** Wire name of @err, e.g. "NOT_FOUND"; "UNKNOWN" for a number not in the table.
 * Static. */
const char *msd_err_name(msd_err err);

/** One-sentence meaning of @err. Static storage. */
const char *msd_err_sentence(msd_err err);

/** True if the caller can avoid @err: its request was wrong, or it cancelled. */
bool msd_err_is_callers(msd_err err);

/** Code for a wire name, MSD_INTERNAL if the name is not in the table. */
msd_err msd_err_from_name(const char *name);

#endif
