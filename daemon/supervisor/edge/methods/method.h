#ifndef MSD_SUPERVISOR_METHOD_H
#define MSD_SUPERVISOR_METHOD_H
/* The methods that the supervisor answers itself. Each has a handler, and a row in
 * methods.c. */
#include <msgpack/object.h>

#include "daemon/supervisor/edge/session/request_options.h"
#include "daemon/supervisor/edge/session/session.h"

/** Return the destination for the payload of a module.upload write. */
MSD_MUST_CHECK msd_err msd_method_place_upload(struct msd_session *s, struct msd_in *in,
					       uint8_t **ret, struct msd_diag *d);

struct msd_limits;
struct msd_upload;

/* A handler reads @params. It fills @result, which is then sent, or fails with @d, or
 * sets @later after it created a request that is answered later. */
struct msd_method_call {
	struct msd_session *session;
	struct msd_in *in;
	enum msd_method method;
	const msgpack_object *params; /* an array with an allowed number of elements */
	struct msd_request_options options;
	struct msd_buf result;
	bool has_meta;               /* a map of further facts follows the result */
	struct msd_shared *shared;   /* borrowed; NULL: none */
	struct msd_span shared_part; /* part of @shared that ends the result */
	int fd;                      /* sent with the reply, which takes it; -1: none */
	bool later;                  /* the reply is sent later */
};
typedef msd_err (*msd_method_handler)(struct msd_method_call *c, struct msd_diag *d);

/* Handlers; methods.c assigns the methods. c->params is an array with an allowed
 * number of parameters. */
/* method_upload.c */
msd_err msd_method_upload(struct msd_method_call *c, struct msd_diag *d);
/** Find the session's upload that parameter @i names. Errors: MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_method_find_upload(const struct msd_method_call *c,
					      uint32_t i, struct msd_upload **ret,
					      struct msd_diag *d);
/* method_channel.c */
msd_err msd_method_segment_add(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_segment_remove(struct msd_method_call *c, struct msd_diag *d);
/* method_channel.c */
msd_err msd_method_channel(struct msd_method_call *c, struct msd_diag *d);
/* method_module.c */
msd_err msd_method_load(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_unload(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_rollback(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_wait(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_sleep(struct msd_method_call *c, struct msd_diag *d);
/* method_pull.c */
msd_err msd_method_pull(struct msd_method_call *c, struct msd_diag *d);
/** Cancel the pull of the module @name before it is loaded. False: no such pull. */
bool msd_method_pull_stop(struct msd_edge *e, struct msd_span name);
/* method_read.c */
msd_err msd_method_read(struct msd_method_call *c, struct msd_diag *d);
/* method_store.c */
msd_err msd_method_store(struct msd_method_call *c, struct msd_diag *d);
/* method_clients.c */
msd_err msd_method_clients(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_kill(struct msd_method_call *c, struct msd_diag *d);
/* method_monitor.c */
msd_err msd_method_monitor(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_slowlog(struct msd_method_call *c, struct msd_diag *d);
/* method_acl.c */
msd_err msd_method_whoami(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_acl_list(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_acl_log(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_dry_run(struct msd_method_call *c, struct msd_diag *d);
/* method_info.c */
msd_err msd_method_hello(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_info(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_metrics(struct msd_method_call *c, struct msd_diag *d);
/** Append the limits in force, as a map. */
void msd_method_put_limits(struct msd_buf *b, const struct msd_limits *limits);
/**
 * Answer the server.info requests that wait for the devices. @edge is a struct
 * msd_edge.
 */
void msd_method_devices_known(void *edge);
/* method_list.c */
#define MSD_METHOD_LIST_PIECE 16u   /* modules: about 150 us */
#define MSD_METHOD_LIST_ATTEMPTS 8u /* then the whole list is written at once */

/* Position in a list. All zeros: not started. */
struct msd_method_list_at {
	bool has_begun;
	uint64_t generation; /* the module registry's, at the start */
	uint32_t n_passed;   /* modules written or skipped */
	uint32_t n;          /* written */
	uint32_t rss_looks;  /* reads of /proc that are left */
	unsigned n_begun;    /* number of restarts */
};

/**
 * Append the next MSD_METHOD_LIST_PIECE modules that @s may see to @out, which holds
 * only the list. Returns true if it is complete. If a module was added or removed in
 * between, it starts again, so that no module is listed twice.
 */
bool msd_method_list_go_on(struct msd_session *s, struct msd_method_list_at *at,
			   struct msd_buf *out);
msd_err msd_method_list(struct msd_method_call *c, struct msd_diag *d);
/**
 * Append the list entry of @m to the result of @c. *@rss_looks is the number of reads
 * of /proc that are left for the request.
 */
void msd_method_list_one(struct msd_method_call *c, const struct msd_module *m,
			 uint32_t *rss_looks);
msd_err msd_method_describe(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_functions(struct msd_method_call *c, struct msd_diag *d);
/* later.c */
/**
 * Create a request with the deadline of @c, which is answered later by its owner. NULL:
 * out of memory.
 */
struct msd_req *msd_method_later(struct msd_method_call *c);
/* method_logs.c */
msd_err msd_method_logs(struct msd_method_call *c, struct msd_diag *d);
/** Find the module that parameter 0 names. Errors: MSD_NOT_FOUND. */
msd_err msd_method_module(struct msd_method_call *c, struct msd_module **ret,
			  struct msd_diag *d);

#endif
