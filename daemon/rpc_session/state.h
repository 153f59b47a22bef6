#ifndef MSD_RPC_SESSION_STATE_H
#define MSD_RPC_SESSION_STATE_H
/* The state of a session, and its parts: answers, calls, arrays of the client. */
#include "daemon/rpc_session/channel.h"
#include "daemon/rpc_session/devices.h"
#include "daemon/rpc_session/files.h"
#include "daemon/rpc_session/table.h"

struct msd_rpc_session {
	struct msd_rpc_channel channel;
	struct msd_rpc_table table;
	struct msd_rpc_files files;
	struct msd_rpc_devices devices;
	struct msd_rpc_module *modules; /* all of them, the newest first */
	uint64_t max_bytes;             /* of one array; 0: no limit */
	unsigned max_threads;           /* of the pool */
	bool knows_era;
	enum msd_rpc_era era;
	struct msd_buf out;             /* the answer */
	char text[MSD_DEVICE_TEXT_MAX]; /* an attribute, until it is in out */
};

/* The values of a packet; they borrow from it. */
struct msd_rpc_args {
	struct msd_rpc_value *values;
	uint32_t n;
};

/* A tensor argument for the runtime. */
struct msd_rpc_shaped {
	struct msd_dltensor dl;
	struct msd_storage *memory; /* borrowed; NULL: it is a result's */
	int64_t shape[MSD_MAX_NDIM];
};

/**
 * Set the current action ("call of", "boom") for the crash report and the page; both
 * must stay valid until the next note. NULL: no foreign code runs.
 */
void msd_rpc_session_note(struct msd_rpc_session *s, const char *what,
			  const char *name);
/** Answer with one value. */
void msd_rpc_session_return(struct msd_rpc_session *s, const struct msd_rpc_value *v);
/** Answer a call: the type of the result, and @v. */
void msd_rpc_session_result(struct msd_rpc_session *s, int32_t ffi_type,
			    int32_t classic_type, struct msd_rpc_value v);
/**
 * Answer a call of a function of @of (NULL: of no executor) with @v, which is taken.
 * Errors: MSD_NOMEM, MSD_UNSUPPORTED.
 */
MSD_MUST_CHECK msd_err msd_rpc_session_result_any(struct msd_rpc_session *s,
						  struct msd_any *v,
						  struct msd_rpc_executor *of,
						  struct msd_diag *d);
/** Add @o, and answer a call with its handle. Errors: msd_rpc_table_add(). */
MSD_MUST_CHECK msd_err msd_rpc_session_result_object(struct msd_rpc_session *s,
						     const struct msd_rpc_object *o,
						     struct msd_diag *d);
/**
 * Call @o with @args. Errors: those of msd_loaded_call(), MSD_BAD_ARGUMENT (a handle
 * or a tensor that the session does not have).
 */
MSD_MUST_CHECK msd_err msd_rpc_session_call(struct msd_rpc_session *s,
					    const struct msd_rpc_object *o,
					    struct msd_rpc_args *args,
					    struct msd_diag *d);

/** Call @o with @args, without a note. Errors: those of msd_loaded_call(). */
MSD_MUST_CHECK msd_err msd_rpc_session_enter(const struct msd_rpc_object *o,
					     struct msd_any *args, uint32_t n,
					     struct msd_any *ret, struct msd_diag *d);
/**
 * Call @o as its timer says, and answer with the seconds of each series. Errors: those
 * of the calls, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_rpc_session_time(struct msd_rpc_session *s,
					    const struct msd_rpc_object *o,
					    struct msd_any *args, uint32_t n,
					    struct msd_diag *d);

/* Arrays of the client, on the host or on a device. */
/**
 * Allocate @bytes, and add them. Errors: MSD_NOMEM (also over the limit of the
 * session), msd_rpc_devices_reach(), msd_rpc_table_add().
 */
MSD_MUST_CHECK msd_err msd_rpc_session_alloc(struct msd_rpc_session *s,
					     struct msd_device device, uint64_t bytes,
					     uint64_t *ret, struct msd_diag *d);
/** Copy between two arrays. Errors: msd_rpc_table_reach(), those of the devices. */
MSD_MUST_CHECK msd_err msd_rpc_session_copy(struct msd_rpc_session *s,
					    const struct msd_rpc_tensor *from,
					    const struct msd_rpc_tensor *to,
					    struct msd_diag *d);
/**
 * Read the data of the COPY_TO @p from the client. Errors: as copy, MSD_NOMEM; MSD_IO
 * with an empty @d: the client has gone.
 */
MSD_MUST_CHECK msd_err msd_rpc_session_take(struct msd_rpc_session *s,
					    const struct msd_rpc_packet *p,
					    struct msd_diag *d);
/** Answer the COPY_FROM @p. Errors: as take. */
MSD_MUST_CHECK msd_err msd_rpc_session_send(struct msd_rpc_session *s,
					    const struct msd_rpc_packet *p,
					    struct msd_diag *d);

#endif
