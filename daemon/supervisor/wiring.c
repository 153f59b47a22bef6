/*
 * Wire the components of the supervisor together. Each component gets its
 * dependencies, and callbacks for decisions that involve other components. No
 * component knows the server.
 */
#include "daemon/supervisor/wiring.h"

#include <time.h>

#include "daemon/loop/disabled_features.h"
#include "daemon/supervisor/config/preload.h"
#include "daemon/supervisor/edge/listen/tls_accept.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/session/frontend.h"
#include "daemon/supervisor/facts/answer_desk.h"
#include "daemon/supervisor/facts/figures.h"
#include "daemon/supervisor/repository/repository.h"

static void retry_space(struct msd_server *s)
{
	if (!msd_list_is_empty(&s->edge.space_waiters))
		msd_task_begin(&s->wire.tasks, &s->space);
}

static void on_room(struct msd_budget *budget)
{
	retry_space(MSD_CONTAINER_OF(budget, struct msd_server, budget));
}

static void on_module_room(struct msd_module_registry *registry)
{
	retry_space(MSD_CONTAINER_OF(registry, struct msd_server, registry));
}

static uint64_t unix_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static bool keep_worker(struct msd_module_registry *registry, const char *name,
			const int *fds, unsigned n)
{
	const struct msd_server *s =
		MSD_CONTAINER_OF(registry, struct msd_server, registry);

	return msd_sd_store(&s->sd, name, fds, n);
}

static void give_worker_up(struct msd_module_registry *registry, const char *name)
{
	const struct msd_server *s =
		MSD_CONTAINER_OF(registry, struct msd_server, registry);

	msd_sd_unstore(&s->sd, msd_span_of(name));
}

static void on_module_gone(struct msd_module_registry *registry)
{
	struct msd_server *s = MSD_CONTAINER_OF(registry, struct msd_server, registry);

	msd_wanted_look_later(&s->wanted);
	msd_server_check_drained(s);
}

static void on_kept(struct msd_keeper *keeper)
{
	msd_server_check_drained(MSD_CONTAINER_OF(keeper, struct msd_server, keeper));
}

static void on_fetcher_gone(struct msd_fetcher *fetcher)
{
	msd_server_check_drained(MSD_CONTAINER_OF(fetcher, struct msd_server, fetcher));
}

/* Requests for server.info and modserd-fetch wait for the device list. */
static void on_devices_known(void *user)
{
	struct msd_server *s = user;

	msd_method_devices_known(&s->edge);
	msd_fetcher_devices_known(&s->fetcher);
}

static const struct msd_buf *devices(struct msd_fetcher *fetcher)
{
	struct msd_server *s = MSD_CONTAINER_OF(fetcher, struct msd_server, fetcher);

	return msd_devices_look(&s->devices) ? &s->devices.found : NULL;
}

static msd_err on_reload(struct msd_edge *e, struct msd_buf *ret, struct msd_diag *d)
{
	return msd_server_reload(MSD_CONTAINER_OF(e, struct msd_server, edge), ret, d);
}

static msd_err on_load(struct msd_edge *e, const char *name,
		       const struct msd_said *said, uint32_t n_said, struct msd_req *r,
		       struct msd_diag *d)
{
	struct msd_preload more;
	msd_err err = msd_preload_say(said, n_said, &more, d);

	if (err == MSD_OK) {
		err = msd_reload_module(MSD_CONTAINER_OF(e, struct msd_server, edge),
					name, &more, r, d);
	}
	msd_preload_finish(&more);
	return err;
}

static const char *config_word(struct msd_edge *e, const struct msd_module *m)
{
	return msd_wanted_word(&MSD_CONTAINER_OF(e, struct msd_server, edge)->wanted,
			       m);
}

static void on_session_gone(struct msd_edge *e)
{
	msd_server_check_drained(MSD_CONTAINER_OF(e, struct msd_server, edge));
}

static msd_err answer_in_chunks(struct msd_edge *e, struct msd_method_call *c,
				struct msd_diag *d)
{
	return msd_answer_desk_ask(
		&MSD_CONTAINER_OF(e, struct msd_server, edge)->answers, c, d);
}

static void furnish_edge(struct msd_server *s)
{
	s->edge = (struct msd_edge){
		.loop = &s->loop,
		.wire = &s->wire,
		.deadlines = &s->deadlines,
		.limits = &s->limits,
		.unpack = &s->unpack,
		.registry = &s->registry,
		.budget = &s->budget,
		.devices = &s->devices,
		.gauges = &s->gauges,
		.keeper = &s->keeper,
		.fetcher = &s->fetcher,
		.tls = &s->tls,
		.proxies = s->edge.proxies,   /* set by main */
		.load_tcp = s->edge.load_tcp, /* set by main */
		.rights = s->edge.rights,     /* set by main */
		.started_ms = uv_now(&s->loop),
		.started_unix_ms = unix_ms(),
		.on_reload = on_reload,
		.on_load = on_load,
		.config_word = config_word,
		.put_info = msd_figures_put_info,
		.answer_in_chunks = answer_in_chunks,
		.on_session_gone = on_session_gone,
	};
	msd_answer_desk_init(&s->answers, &s->edge);
	msd_frontend_init(&s->edge);
	msd_tls_accept_init(&s->edge);
}

void msd_server_connect_parts(struct msd_server *s)
{
	s->registry = (struct msd_module_registry){
		.loop = &s->loop,
		.reaper = &s->reaper,
		.groups = s->groups.is_open ? &s->groups : NULL,
		.wire = &s->wire,
		.deadlines = &s->deadlines,
		.limits = &s->limits,
		.budget = &s->budget,
		.unpack = &s->unpack,
		.worker_path = s->worker_path,
		.threads = s->threads,
		.plugins = s->plugins,
		.sandbox = s->sandbox,
		.worker_user = s->worker_user_name != NULL ? &s->worker_user : NULL,
		.warm = {.keep = keep_worker, .give_up = give_worker_up},
		.on_room = on_module_room,
		.repository = &s->repository,
		.on_gone = on_module_gone,
	};
	msd_handover_shelf_init(&s->registry.warm.shelf);
	msd_list_init(&s->registry.warm.artifacts);
	msd_list_init(&s->registry.modules);
	msd_list_init(&s->registry.directs);
	s->registry.leaves_calls_uncounted = msd_feature_is_disabled("metrics");
	msd_call_log_init(&s->registry.call_log, MSD_ALL_CALLS);
	msd_call_log_init(&s->registry.slow_log, MSD_SLOW_ONES);
	s->budget = (struct msd_budget){.max_bytes = s->limits.max_memory,
					.on_room = on_room};
	msd_devices_init(&s->devices, &s->reaper, &s->deadlines, s->worker_path);
	msd_device_gauges_init(&s->gauges, &s->reaper, s->worker_path);
	s->devices.plugins = s->plugins;
	s->devices.on_known = on_devices_known;
	s->devices.user = s;
	s->fetcher = (struct msd_fetcher){
		.path = s->fetcher.path, /* set by main, like the trust settings */
		.vouch = {.keeper = &s->keeper, .trust = s->fetcher.vouch.trust},
		.terms = s->fetcher.terms,
		.reaper = &s->reaper,
		.wire = &s->wire,
		.limits = &s->limits,
		.unpack = &s->unpack,
		.devices = devices,
		.on_gone = on_fetcher_gone,
	};
	msd_fetcher_init(&s->fetcher);
	s->repository = (struct msd_repository){.ops = &msd_repository_ops,
						.registry = &s->registry,
						.keeper = &s->keeper,
						.pollers = &s->source_pollers};
	s->source_pollers = (struct msd_source_pollers){
		.registry = &s->registry, .keeper = &s->keeper, .fetcher = &s->fetcher};
	msd_source_pollers_init(&s->source_pollers);
	s->wanted = (struct msd_wanted){.registry = &s->registry,
					.source_pollers = &s->source_pollers,
					.options = s->reload.started};
	msd_wanted_init(&s->wanted);
	furnish_edge(s);
	s->keeper.on_idle = on_kept;
}
