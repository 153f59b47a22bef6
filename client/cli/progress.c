#include "client/cli/progress.h"

#include <stdio.h>
#include <time.h>

#include "client/cli/print.h"

#define EVERY_MS 100u
#define SETTLED_MS 500u /* before that a rate is a guess */

void msd_progress_put(struct msd_buf *out, const char *name, uint64_t sent,
		      uint64_t total, uint64_t elapsed_ms)
{
	const double rate = elapsed_ms > 0 ? (double)sent / (double)elapsed_ms : 0;
	const double part = total > 0 ? (double)sent / (double)total : 1;

	msd_buf_printf(out, "load %s: %d%% of ", name, (int)(100 * part));
	msd_print_size(out, (int64_t)total);
	if (elapsed_ms >= SETTLED_MS && rate > 0) {
		msd_buf_printf(out, ", ");
		msd_print_size(out, (int64_t)(rate * 1e3));
		msd_buf_printf(out, "/s");
	}
	if (sent == total) {
		msd_buf_printf(out, ", starting");
	} else if (elapsed_ms >= SETTLED_MS && rate > 0) {
		msd_buf_printf(out, ", ");
		msd_print_ns(out, (double)(total - sent) / rate * 1e6);
		msd_buf_printf(out, " left");
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

void msd_progress_show(void *progress, uint64_t sent, uint64_t total)
{
	struct msd_progress *p = progress;
	const uint64_t now = now_ms();
	struct msd_buf out = {0};

	if (sent < total && now - p->shown_ms < EVERY_MS)
		return;
	p->shown_ms = now;
	msd_buf_printf(&out, "\r");
	msd_progress_put(&out, p->name, sent, total, now - p->started_ms);
	/* What a longer line left behind it is erased. */
	msd_buf_printf(&out, "\033[K%s", sent == total ? "\n" : "");
	msd_print_flush_to(&out, stderr);
}

struct msd_progress msd_progress_begin(const char *name)
{
	return (struct msd_progress){.name = name, .started_ms = now_ms()};
}
