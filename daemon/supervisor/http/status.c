#include "daemon/supervisor/http/status.h"

#include "daemon/supervisor/edge/devices.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/method.h"
#include "daemon/supervisor/edge/standing.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/caller.h"
#include "daemon/supervisor/http/page.h"
#include "daemon/supervisor/http/pieces.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/rss.h"

static void begin(struct msd_asking *a, struct msd_status_at *at)
{
	struct msd_buf info = {0};
	struct msd_diag d = {0};

	*at = (struct msd_status_at){.has_begun = true,
				     .generation = a->edge->house->generation,
				     .rss_looks = MSD_RSS_LOOKS,
				     .n_begun = at->n_begun + 1};
	a->body.n = 0;
	msd_buf_printf(&a->body, "{\"server\":");
	a->edge->put_info(a->edge, &info);
	a->body.bad |= msd_page_put_packed(a, &info, &d) != MSD_OK;
	msd_buf_printf(&a->body, ",\"modules\":[");
	msd_buf_finish(&info);
	msd_diag_finish(&d);
}

static void put_module(struct msd_asking *a, struct msd_status_at *at,
		       const struct msd_module *m)
{
	struct msd_method_call call = {.session = &a->caller->session,
				       .method = MSD_M_MODULE_LIST};
	struct msd_diag d = {0};

	if (!msd_standing_sees(call.session, m->crew.name))
		return;
	if (at->has_any)
		msd_buf_put_u8(&a->body, ',');
	at->has_any = true;
	msd_method_list_one(&call, m, &at->rss_looks);
	a->body.bad |= msd_page_put_packed(a, &call.result, &d) != MSD_OK;
	msd_buf_finish(&call.result);
	msd_diag_finish(&d);
}

bool msd_status_go_on(struct msd_asking *a, struct msd_status_at *at)
{
	const struct msd_house *house = a->edge->house;
	uint32_t i = 0, n = 0;

	if (!at->has_begun || at->generation != house->generation)
		begin(a, at);
	MSD_LIST_EACH (it, &house->modules) {
		if (i++ < at->n_passed)
			continue;
		if (n++ == MSD_STATUS_PIECE && at->n_begun < MSD_STATUS_ATTEMPTS)
			return false;
		put_module(a, at, MSD_CONTAINER_OF(it, struct msd_module, link));
		at->n_passed++;
	}
	msd_buf_printf(&a->body, "]}\n");
	return true;
}

static bool go_on(struct msd_asking *a, struct msd_pieces_at *at)
{
	return msd_status_go_on(a, &at->status);
}

void msd_status(struct msd_asking *a)
{
	if (msd_bearer_stand(a, MSD_M_MODULE_LIST) != MSD_OK)
		return;
	msd_asking_say_json(a, 200);
	(void)msd_devices_look(a->edge->devices); /* who asks again is told */
	msd_pieces_begin(a, go_on, (struct msd_pieces_at){0});
}
