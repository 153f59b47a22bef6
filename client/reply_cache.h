#ifndef MSD_CLIENT_REPLY_CACHE_H
#define MSD_CLIENT_REPLY_CACHE_H
/*
 * Reply cache of a connection. An answer that differs from an earlier one only in its
 * id and time needs no scan. If its value is small and has no tensors or handles, it
 * needs no decoding either: the cached value is copied.
 */
#include "client/modser.h"
#include "proto/recognise.h"

struct msd_reply_cache {
	struct msd_memory answers; /* their templates are struct msd_cached_reply */
};

void msd_reply_cache_init(struct msd_reply_cache *h);
void msd_reply_cache_finish(struct msd_reply_cache *h);
/**
 * Set @ret to the parts of @bytes, which precede @payload_bytes. *@ret_known is the
 * equal cached answer; NULL: none, and the parts were scanned.
 */
MSD_MUST_CHECK msd_err msd_reply_cache_read(
	struct msd_reply_cache *h, struct msd_span bytes, uint64_t payload_bytes,
	struct msd_body *ret, const struct msd_known **ret_known, struct msd_diag *d);
/**
 * Fill @r, an empty result, from @known, the cached equal of the answer @bytes.
 * False: the answer must be decoded.
 */
bool msd_reply_cache_tell(const struct msd_known *known, struct msd_span bytes,
			  modser_result *r);
/**
 * Cache @bytes, which were scanned to @body and decoded to @r, if they may be cached.
 */
void msd_reply_cache_keep(struct msd_reply_cache *h, struct msd_span bytes,
			  uint64_t payload_bytes, const struct msd_body *body,
			  const modser_result *r);

#endif
