#include "daemon/supervisor/http/roll.h"

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/asking.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/module/expected.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/rss.h"

static void begin(struct msd_asking *a, struct msd_roll_at *at)
{
	*at = (struct msd_roll_at){.of = at->of,
				   .ready_only = at->ready_only,
				   .has_begun = true,
				   .generation = a->edge->house->generation,
				   .rss_looks = MSD_RSS_LOOKS,
				   .n_begun = at->n_begun + 1};
	a->body.n = 0;
	at->of->begin(a);
}

static void put(struct msd_asking *a, struct msd_roll_at *at, struct msd_module *m)
{
	if ((at->ready_only && !msd_expected_serves(m)) ||
	    !msd_bearer_sees(a, m->crew.name))
		return;
	if (at->has_any)
		msd_buf_put_u8(&a->body, ',');
	at->has_any = true;
	at->of->put(a, at, m);
}

bool msd_roll_go_on(struct msd_asking *a, struct msd_roll_at *at)
{
	const struct msd_house *house = a->edge->house;
	uint32_t i = 0, n = 0;

	if (!at->has_begun || at->generation != house->generation)
		begin(a, at);
	MSD_LIST_EACH (it, &house->modules) {
		if (i++ < at->n_passed)
			continue;
		if (n++ == MSD_ROLL_PIECE && at->n_begun < MSD_ROLL_ATTEMPTS)
			return false;
		put(a, at, MSD_CONTAINER_OF(it, struct msd_module, link));
		at->n_passed++;
	}
	msd_buf_printf(&a->body, "%s", at->of->end);
	return true;
}
