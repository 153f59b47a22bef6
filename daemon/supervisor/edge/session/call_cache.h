#ifndef MSD_SUPERVISOR_CALL_CACHE_H
#define MSD_SUPERVISOR_CALL_CACHE_H
/*
 * The call cache of a connection: repeated calls and their call templates
 * (daemon/supervisor/request/call_template.h). A call that names an object of the
 * connection is parsed each time, because objects change.
 */
#include "daemon/supervisor/edge/session/request_options.h"
#include "daemon/supervisor/edge/session/session.h"
#include "proto/method.h"

/**
 * Return the method of @in. A request in the cache is a call, so no names are
 * compared.
 */
static inline enum msd_method msd_call_cache_method(const struct msd_in *in)
{
	return in->known != NULL ? MSD_M_CALL : msd_method_find(in->body.method);
}
/** True if @in is in the cache and its template is still valid. */
bool msd_call_cache_knows(const struct msd_session *s, const struct msd_in *in);
/**
 * Cache @r, the request parsed from @in without error, with the options @o and
 * outputs of @out_bytes. It must use no resident tensors; s->inlines lists the
 * tensors in its payload. An old template becomes valid again. For limits see
 * msd_memory_add().
 */
void msd_call_cache_call(struct msd_session *s, const struct msd_in *in,
			 const struct msd_req *r, const struct msd_request_options *o,
			 uint64_t out_bytes);

#endif
