#ifndef MSD_RUNTIME_KV_PAGES_H
#define MSD_RUNTIME_KV_PAGES_H
/*
 * The pages of a cache by number. The page that was released last is taken first, as
 * TVM does: a sequence that was shortened and grows again finds its old contents.
 */
#include "runtime/kv/ints.h"

#define MSD_KV_NO_PAGE (-1)

struct msd_kv_pages {
	struct msd_ints released;
	int32_t n_fresh; /* pages 0 to @n_fresh - 1 were taken before */
	int32_t n_total;
};

/** False if memory is short. */
MSD_MUST_CHECK bool msd_kv_pages_init(struct msd_kv_pages *p, int32_t n_total);
void msd_kv_pages_finish(struct msd_kv_pages *p);
/** All pages are free again. */
void msd_kv_pages_clear(struct msd_kv_pages *p);
int32_t msd_kv_pages_free(const struct msd_kv_pages *p);
/** A free page, or MSD_KV_NO_PAGE. */
int32_t msd_kv_pages_take(struct msd_kv_pages *p);
void msd_kv_pages_release(struct msd_kv_pages *p, int32_t page);

#endif
