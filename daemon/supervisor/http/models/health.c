#include "daemon/supervisor/http/models/health.h"

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "daemon/supervisor/module/workers/busy.h"

#define RETRY_AFTER_S 1u

void msd_health_live(struct msd_http_exchange *a)
{
	msd_http_exchange_say(a, 200, "live\n");
}

void msd_health_ready(struct msd_http_exchange *a)
{
	const struct msd_edge *e = a->edge;
	const uint32_t n_all = e->registry->n_expected;
	const uint32_t n_ready = msd_readiness_count_ready(e->registry);

	if (e->registry->is_leaving) {
		msd_http_exchange_say(a, 503, "draining\n");
	} else if (n_ready < n_all) {
		msd_http_exchange_say(a, 503, "");
		msd_buf_printf(&a->body, "not ready: %u of %u modules are\n", n_ready,
			       n_all);
	} else {
		msd_http_exchange_say(a, 200, "ready\n");
		return;
	}
	a->reply.retry_after_s = RETRY_AFTER_S;
}

void msd_health_module(struct msd_http_exchange *a)
{
	const struct msd_edge *e = a->edge;
	struct msd_module *m;
	struct msd_diag d = {0};
	uint64_t silent_ms;

	if (msd_module_require(e->registry, a->names[0], &m, &d) != MSD_OK) {
		msd_http_exchange_fail(a, 404, &d);
		return;
	}
	const bool is_hung = msd_busy_is_hung(&m->group, &silent_ms);
	if (msd_readiness_serves(m) && !is_hung && !e->registry->is_leaving) {
		msd_http_exchange_say(a, 200, "ready\n");
		return;
	}
	msd_http_exchange_say(a, 503, "");
	if (is_hung) {
		msd_buf_printf(&a->body,
			       "not ready: no worker of %s has answered for %llu s\n",
			       m->group.name, (unsigned long long)silent_ms / 1000);
	} else {
		msd_buf_printf(&a->body, "not ready: %s is %s\n", m->group.name,
			       msd_module_state_name(m->life.state));
	}
	a->reply.retry_after_s = RETRY_AFTER_S;
}

void msd_health_version(struct msd_http_exchange *a)
{
	msd_http_exchange_say_json(a, 200);
	msd_buf_printf(&a->body, "{\"name\":\"modserd\",\"version\":\"%s\"}\n",
		       MSD_VERSION);
}
