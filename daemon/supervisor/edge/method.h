#ifndef MSD_SUPERVISOR_METHOD_H
#define MSD_SUPERVISOR_METHOD_H
/*
 * The methods that the supervisor answers itself: a handler each, a row each in
 * methods.c.
 */
#include <msgpack/object.h>

#include "daemon/supervisor/edge/request_options.h"
#include "daemon/supervisor/edge/session.h"

/** Where the payload of a module.upload write goes. */
MSD_MUST_CHECK msd_err msd_method_place_upload(struct msd_session *s, struct msd_in *in,
					       uint8_t **ret, struct msd_diag *d);

struct msd_limits;
struct msd_upload;

/*
 * A handler reads @params and either fills @result (then it is sent), fails with @d, or
 * sets @later after it has made a request that will be answered.
 */
struct msd_method_call {
	struct msd_session *session;
	struct msd_in *in;
	enum msd_method method;
	const msgpack_object *params; /* an array of the right size */
	struct msd_request_options options;
	struct msd_buf result;
	bool has_meta;               /* a map of further facts is behind the result */
	struct msd_shared *shared;   /* borrowed; NULL: none */
	struct msd_span shared_part; /* of it: the result's end */
	int fd;     /* goes with the answer, which takes it; -1: none */
	bool later; /* nothing is sent now */
};
typedef msd_err (*msd_method_handler)(struct msd_method_call *c, struct msd_diag *d);

/*
 * Handlers, each of the method that methods.c has it for. c->params is an array of a
 * number of parameters that the row allows.
 */
/* method_upload.c */
msd_err msd_method_upload(struct msd_method_call *c, struct msd_diag *d);
/** The upload of the session that parameter @i names. MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_method_find_upload(const struct msd_method_call *c,
					      uint32_t i, struct msd_upload **ret,
					      struct msd_diag *d);
/* method_segment.c */
msd_err msd_method_segment_add(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_segment_remove(struct msd_method_call *c, struct msd_diag *d);
/* method_channel.c */
msd_err msd_method_channel(struct msd_method_call *c, struct msd_diag *d);
/* method_module.c */
msd_err msd_method_load(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_unload(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_rollback(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_wait(struct msd_method_call *c, struct msd_diag *d);
/* method_pull.c */
msd_err msd_method_pull(struct msd_method_call *c, struct msd_diag *d);
/** End the pull of the module @name, before it is loaded; false: there is none. */
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
/** Answer who asked for server.info before the devices were known; @edge is a struct
 * msd_edge. */
void msd_method_devices_known(void *edge);
/* method_list.c */
msd_err msd_method_list(struct msd_method_call *c, struct msd_diag *d);
/** Append to the result of @c what the list says of @m; *@rss_looks are those into
 * /proc that are left for it. */
void msd_method_list_one(struct msd_method_call *c, const struct msd_module *m,
			 uint32_t *rss_looks);
msd_err msd_method_describe(struct msd_method_call *c, struct msd_diag *d);
msd_err msd_method_functions(struct msd_method_call *c, struct msd_diag *d);
/* method_logs.c */
msd_err msd_method_logs(struct msd_method_call *c, struct msd_diag *d);
/** The module that parameter 0 names. MSD_NOT_FOUND. */
msd_err msd_method_module(struct msd_method_call *c, struct msd_module **ret,
			  struct msd_diag *d);

#endif
