#include "daemon/supervisor/facts/metrics.h"

#include "daemon/supervisor/edge/listen/proxy_accept.h"
#include "daemon/supervisor/facts/device_gauges.h"
#include "daemon/supervisor/facts/exposition.h"
#include "daemon/supervisor/facts/figures.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/registry.h"
#include "proto/words/words.h"

static void put_build(struct msd_exposition *x)
{
	static const struct msd_family f = {.name = "modserd_build_info",
					    .help = "The daemon's version; always 1."};
	const struct msd_label version = {"version", MSD_VERSION};

	msd_exposition_open(x, &f);
	msd_exposition_put(x, &f, &version, 1, 1);
}

static void put_figures(struct msd_exposition *x, const struct msd_edge *e,
			const struct msd_figures *figures)
{
	for (size_t i = 0; i < figures->n; i++) {
		const struct msd_figure *f = &figures->row[i];
		if (f->family.name == NULL)
			continue;
		msd_exposition_open(x, &f->family);
		msd_exposition_put(x, &f->family, NULL, 0, f->read(e));
	}
}

/* Report an error that never happened as 0, so that its first occurrence is an
 * increase. */
static void put_errors(struct msd_exposition *x, const struct msd_edge *e)
{
	static const struct msd_family f = {
		.name = "modserd_errors",
		.help = "Requests that the daemon itself answered with an error.",
		.kind = MSD_COUNTER};

	msd_exposition_open(x, &f);
	for (unsigned i = MSD_OK + 1; i < MSD_ERR_COUNT; i++) {
		const struct msd_label code = {"code", msd_err_name((msd_err)i)};
		msd_exposition_put(x, &f, &code, 1, e->counts.errors[i]);
	}
}

static MSD_WORDS_DEFINE(refusal_word, enum msd_refusal, MSD_REFUSAL_MAP)

	static void put_refusals(struct msd_exposition *x, const struct msd_edge *e)
{
	static const struct msd_family f = {.name = "modserd_connections_refused",
					    .help = "Refused connections.",
					    .kind = MSD_COUNTER};

	msd_exposition_open(x, &f);
	for (unsigned i = 0; i < MSD_REFUSAL_COUNT; i++) {
		const struct msd_label cause = {"cause",
						refusal_word((enum msd_refusal)i)};
		msd_exposition_put(x, &f, &cause, 1, e->counts.refused[i]);
	}
}

static void put_handshakes(struct msd_exposition *x, const struct msd_edge *e)
{
	static const struct msd_family f = {.name = "modserd_tls_handshakes_failed",
					    .help = "TLS handshakes that failed.",
					    .kind = MSD_COUNTER};

	msd_exposition_open(x, &f);
	for (unsigned i = 0; i < MSD_HANDSHAKE_FAULT_COUNT; i++) {
		const struct msd_label cause = {
			"cause", msd_handshake_fault_word((enum msd_handshake_fault)i)};
		msd_exposition_put(x, &f, &cause, 1, e->counts.handshakes_failed[i]);
	}
}

static void put_gate(struct msd_exposition *x, const struct msd_edge *e)
{
	static const struct msd_family f = {
		.name = "modserd_proxy_headers_refused",
		.help = "Connections refused for their PROXY header.",
		.kind = MSD_COUNTER};

	msd_exposition_open(x, &f);
	for (unsigned i = 0; i < MSD_PROXY_ACCEPT_FAULT_COUNT; i++) {
		const struct msd_label cause = {
			"cause",
			msd_proxy_accept_fault_word((enum msd_proxy_accept_fault)i)};
		msd_exposition_put(x, &f, &cause, 1, e->counts.gate_failed[i]);
	}
}

/* Write until @out has more than @until bytes. */
static bool write_until(struct msd_edge *e, const struct msd_view *view,
			struct msd_metrics_at *at, struct msd_exposition *x,
			size_t until)
{
	if (!at->has_begun) {
		msd_direct_count_all(e->registry);
		put_build(x);
		put_figures(x, e, &msd_figures_daemon);
		put_figures(x, e, &msd_figures_held);
		if (e->http != NULL)
			put_figures(x, e, &msd_figures_http);
		if (e->rpc != NULL)
			put_figures(x, e, &msd_figures_rpc);
		put_refusals(x, e);
		put_errors(x, e);
		at->has_begun = true;
		at->generation = e->registry->generation;
	}
	if (!msd_module_metrics_put(x, e, view, &at->modules, until))
		return false;
	msd_device_gauges_put(e->gauges, x);
	put_handshakes(x, e);
	if (msd_proxy_accept_is_there(e))
		put_gate(x, e);
	msd_exposition_close(x);
	return true;
}

bool msd_metrics_go_on(struct msd_edge *e, const struct msd_view *view,
		       struct msd_metrics_at *at, struct msd_buf *out,
		       bool is_openmetrics)
{
	struct msd_exposition x = {.out = out, .is_openmetrics = is_openmetrics};

	if (at->has_begun && at->generation != e->registry->generation) {
		*at = (struct msd_metrics_at){.before_bytes = at->before_bytes,
					      .n_begun = at->n_begun + 1};
		out->n = at->before_bytes;
	}
	return write_until(e, view, at, &x,
			   at->n_begun < MSD_METRICS_ATTEMPTS
				   ? out->n + MSD_METRICS_PIECE
				   : SIZE_MAX);
}
