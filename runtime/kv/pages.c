#include "runtime/kv/pages.h"

bool msd_kv_pages_init(struct msd_kv_pages *p, int32_t n_total)
{
	*p = (struct msd_kv_pages){.n_total = n_total};
	return msd_ints_reserve(&p->released, (size_t)n_total);
}

void msd_kv_pages_finish(struct msd_kv_pages *p)
{
	msd_ints_finish(&p->released);
}

void msd_kv_pages_clear(struct msd_kv_pages *p)
{
	p->released.n = 0;
	p->n_fresh = 0;
}

int32_t msd_kv_pages_free(const struct msd_kv_pages *p)
{
	return p->n_total - p->n_fresh + (int32_t)p->released.n;
}

int32_t msd_kv_pages_take(struct msd_kv_pages *p)
{
	if (p->released.n > 0)
		return p->released.v[--p->released.n];
	return p->n_fresh < p->n_total ? p->n_fresh++ : MSD_KV_NO_PAGE;
}

void msd_kv_pages_release(struct msd_kv_pages *p, int32_t page)
{
	/* there is room for all pages */
	p->released.v[p->released.n++] = page;
}
