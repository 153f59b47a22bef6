#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/facts/figures.h"

static bool is_in(const struct msd_figures *figures, const char *key)
{
	for (size_t i = 0; i < figures->n; i++) {
		const char *its = figures->row[i].key;
		if (its != NULL && strcmp(its, key) == 0)
			return true;
	}
	return false;
}

static size_t count_keys(const struct msd_figures *figures)
{
	size_t n = 0;

	for (size_t i = 0; i < figures->n; i++)
		n += figures->row[i].key != NULL;
	return n;
}

static void expect_keys(const struct msd_figures *figures, const char *const *keys,
			size_t n)
{
	cr_expect_eq(count_keys(figures), n);
	for (size_t i = 0; i < n; i++)
		cr_expect(is_in(figures, keys[i]), "%s", keys[i]);
}

/* Of server.info. */
static const char *const daemon_keys[] = {"server",
					  "version",
					  "protocol",
					  "pid",
					  "uptime_ms",
					  "rss_bytes",
					  "listen",
					  "handshakes",
					  "connections",
					  "modules",
					  "connections_total",
					  "requests",
					  "calls",
					  "errors",
					  "spin_hits",
					  "spin_misses",
					  "spin_waste_ns",
					  "denied",
					  "turns",
					  "loop_lag_ms",
					  "frames",
					  "bytes_in",
					  "bytes_out",
					  "cpu_us",
					  "control_group",
					  "held",
					  "http",
					  "tvm_rpc",
					  "limits",
					  "devices",
					  "absent",
					  "machine",
					  "eras",
					  "kinds",
					  "symbols",
					  "slots",
					  "packed_functions",
					  "sandbox"};

Test(figures, server_info_has_the_keys_that_it_promises)
{
	static const char *const held[] = {"bytes",    "tensor_bytes",  "upload_bytes",
					   "segments", "segment_bytes", "peers",
					   "held_back"};

	static const char *const http[] = {"connections", "connections_total",
					   "requests", "unreadable"};

	expect_keys(&msd_figures_http, http, sizeof(http) / sizeof(*http));
	expect_keys(&msd_figures_daemon, daemon_keys,
		    sizeof(daemon_keys) / sizeof(*daemon_keys));
	expect_keys(&msd_figures_held, held, sizeof(held) / sizeof(*held));
}

static void expect_whole(const struct msd_figure *f)
{
	cr_expect((f->read == NULL) != (f->put == NULL), "it is read, or put");
	cr_expect(f->key != NULL || f->family.name != NULL, "somebody is told of it");
	cr_expect(f->put == NULL || f->family.name == NULL, "a metric is a number");
	cr_expect(f->family.name == NULL || f->family.help != NULL);
}

Test(figures, each_row_is_whole)
{
	for (size_t i = 0; i < msd_figures_daemon.n; i++)
		expect_whole(&msd_figures_daemon.row[i]);
	for (size_t i = 0; i < msd_figures_held.n; i++)
		expect_whole(&msd_figures_held.row[i]);
	for (size_t i = 0; i < msd_figures_http.n; i++)
		expect_whole(&msd_figures_http.row[i]);
}

Test(figures, no_family_is_there_twice)
{
	for (size_t i = 0; i < msd_figures_daemon.n; i++) {
		const char *a = msd_figures_daemon.row[i].family.name;
		for (size_t k = 0; a != NULL && k < i; k++) {
			const char *b = msd_figures_daemon.row[k].family.name;
			cr_expect(b == NULL || strcmp(a, b) != 0, "%s", a);
		}
	}
}
