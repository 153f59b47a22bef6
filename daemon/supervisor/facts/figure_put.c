/* Figures of server.info that are not numbers: maps, lists and results of workers. */
#include "daemon/supervisor/facts/figure_put.h"

#include "daemon/child/cgroup.h"
#include "daemon/supervisor/edge/listen/tls_accept.h"
#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/facts/figures.h"
#include "daemon/supervisor/module/life/registry.h"
#include "proto/value.h"

void msd_figure_put_server(struct msd_edge *e, const struct msd_figure *f,
			   struct msd_buf *b)
{
	(void)e;
	(void)f;
	msd_pack_cstr(b, "modserd");
}

void msd_figure_put_version(struct msd_edge *e, const struct msd_figure *f,
			    struct msd_buf *b)
{
	(void)e;
	(void)f;
	msd_pack_cstr(b, MSD_VERSION);
}

void msd_figure_put_handshakes(struct msd_edge *e, const struct msd_figure *f,
			       struct msd_buf *b)
{
	(void)f;
	msd_tls_accept_put(e, b);
}

void msd_figure_put_listeners(struct msd_edge *e, const struct msd_figure *f,
			      struct msd_buf *b)
{
	uint32_t n = 0;

	(void)f;
	MSD_LIST_EACH (it, &e->listeners) {
		n++;
	}
	msd_pack_array(b, n);
	MSD_LIST_EACH (it, &e->listeners) {
		msd_pack_cstr(b,
			      MSD_CONTAINER_OF(it, struct msd_listening, link)->text);
	}
}

/* The control group of the workers, and the limits that it enforces. */
void msd_figure_put_group(struct msd_edge *e, const struct msd_figure *f,
			  struct msd_buf *b)
{
	const struct msd_cgroups *groups = e->registry->groups;

	(void)f;
	if (groups == NULL) {
		msd_pack_nil(b);
		return;
	}
	msd_pack_map(b, 3);
	msd_pack_pair_str(b, "path", groups->path);
	msd_pack_cstr(b, "processes");
	msd_pack_bool(b, groups->has_pids);
	msd_pack_cstr(b, "memory");
	msd_pack_bool(b, groups->has_memory);
}

static void put_rows(const struct msd_figures *figures, struct msd_edge *e,
		     struct msd_buf *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < figures->n; i++)
		n += figures->row[i].key != NULL;
	msd_pack_map(b, n);
	for (size_t i = 0; i < figures->n; i++) {
		const struct msd_figure *f = &figures->row[i];
		if (f->key == NULL)
			continue;
		msd_pack_cstr(b, f->key);
		if (f->read != NULL) {
			msd_pack_uint(b, f->read(e));
		} else {
			f->put(e, f, b);
		}
	}
}

void msd_figure_put_held(struct msd_edge *e, const struct msd_figure *f,
			 struct msd_buf *b)
{
	(void)f;
	put_rows(&msd_figures_held, e, b);
}

/* nil: there is no HTTP listener. */
void msd_figure_put_http(struct msd_edge *e, const struct msd_figure *f,
			 struct msd_buf *b)
{
	(void)f;
	if (e->http != NULL) {
		put_rows(&msd_figures_http, e, b);
	} else {
		msd_pack_nil(b);
	}
}

/* nil: there is no listener for TVM's RPC. */
void msd_figure_put_rpc(struct msd_edge *e, const struct msd_figure *f,
			struct msd_buf *b)
{
	(void)f;
	if (e->rpc != NULL) {
		put_rows(&msd_figures_rpc, e, b);
	} else {
		msd_pack_nil(b);
	}
}

void msd_figure_put_limits(struct msd_edge *e, const struct msd_figure *f,
			   struct msd_buf *b)
{
	(void)f;
	msd_method_put_limits(b, e->limits);
}

/* The result of the device search under the row's key; nil if the search failed. */
void msd_figure_put_found(struct msd_edge *e, const struct msd_figure *f,
			  struct msd_buf *b)
{
	const struct msd_span found = {e->devices->found.p, e->devices->found.n};
	const struct msd_span value = msd_map_value(found, f->key);

	if (value.n > 0) {
		msd_buf_put(b, value.p, value.n);
	} else {
		msd_pack_nil(b);
	}
}

void msd_figure_put_sandbox(struct msd_edge *e, const struct msd_figure *f,
			    struct msd_buf *b)
{
	(void)f;
	msd_sandbox_figure_put(e, b);
}

void msd_figures_put_info(struct msd_edge *e, struct msd_buf *ret)
{
	put_rows(&msd_figures_daemon, e, ret);
}
