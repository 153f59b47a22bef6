#include "daemon/supervisor/http/page/status.h"

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/http/page/chunked_answer.h"
#include "daemon/supervisor/http/page/page.h"

static void begin(struct msd_http_exchange *a)
{
	struct msd_buf info = {0};
	struct msd_diag d = {0};

	msd_buf_printf(&a->body, "{\"server\":");
	a->edge->put_info(a->edge, &info);
	a->body.bad |= msd_page_put_packed(a, &info, &d) != MSD_OK;
	msd_buf_printf(&a->body, ",\"modules\":[");
	msd_buf_finish(&info);
	msd_diag_finish(&d);
}

static void put(struct msd_http_exchange *a, struct msd_module_listing_position *at,
		struct msd_module *m)
{
	struct msd_method_call call = {.session = &a->caller->session,
				       .method = MSD_M_MODULE_LIST};
	struct msd_diag d = {0};

	msd_method_list_one(&call, m, &at->rss_looks);
	a->body.bad |= msd_page_put_packed(a, &call.result, &d) != MSD_OK;
	msd_buf_finish(&call.result);
	msd_diag_finish(&d);
}

const struct msd_module_listing msd_status_roll = {begin, put, "]}\n"};

void msd_status(struct msd_http_exchange *a)
{
	if (msd_bearer_authorize(a, MSD_M_MODULE_LIST) != MSD_OK)
		return;
	msd_http_exchange_say_json(a, 200);
	(void)msd_devices_look(a->edge->devices); /* the next request gets the result */
	msd_chunked_answer_roll(a, &msd_status_roll, false);
}
