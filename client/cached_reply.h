#ifndef MSD_CLIENT_CACHED_REPLY_H
#define MSD_CLIENT_CACHED_REPLY_H
/*
 * Reply template: the decoded value of an answer, for the next answer with the same
 * bytes. The template is one block, which is copied instead of decoded. Only small
 * values that fit into the result's own block have a template. Values with tensors
 * have none, because each caller has its own data.
 */
#include "client/modser.h"

struct msd_cached_reply;

/**
 * Copy the decoded value of @r, which has no tensor, into one block of *@ret_bytes;
 * the caller frees it. NULL: the value is large, or out of memory.
 */
struct msd_cached_reply *msd_cached_reply_create(const modser_result *r,
						 size_t *ret_bytes);
/** Copy the value of @k to @r, a result without a value. */
void msd_cached_reply_copy(const struct msd_cached_reply *k, modser_result *r);

#endif
