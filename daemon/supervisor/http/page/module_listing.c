#include "daemon/supervisor/http/page/module_listing.h"

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/exchange.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/stats/rss.h"

static void begin(struct msd_http_exchange *a, struct msd_module_listing_position *at)
{
	*at = (struct msd_module_listing_position){
		.of = at->of,
		.ready_only = at->ready_only,
		.has_begun = true,
		.generation = a->edge->registry->generation,
		.rss_looks = MSD_RSS_LOOKS,
		.n_begun = at->n_begun + 1};
	a->body.n = 0;
	at->of->begin(a);
}

static void put(struct msd_http_exchange *a, struct msd_module_listing_position *at,
		struct msd_module *m)
{
	if ((at->ready_only && !msd_readiness_serves(m)) ||
	    !msd_bearer_sees(a, m->group.name))
		return;
	if (at->has_any)
		msd_buf_put_u8(&a->body, ',');
	at->has_any = true;
	at->of->put(a, at, m);
}

bool msd_module_listing_go_on(struct msd_http_exchange *a,
			      struct msd_module_listing_position *at)
{
	const struct msd_module_registry *registry = a->edge->registry;
	uint32_t i = 0, n = 0;

	if (!at->has_begun || at->generation != registry->generation)
		begin(a, at);
	MSD_LIST_EACH (it, &registry->modules) {
		if (i++ < at->n_passed)
			continue;
		if (n++ == MSD_MODULE_LISTING_PIECE &&
		    at->n_begun < MSD_MODULE_LISTING_ATTEMPTS)
			return false;
		put(a, at, MSD_CONTAINER_OF(it, struct msd_module, link));
		at->n_passed++;
	}
	msd_buf_printf(&a->body, "%s", at->of->end);
	return true;
}
