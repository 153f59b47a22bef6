#include "client/cli/measure/progress.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/cli/values/print.h"
#include "proto/base/clock.h"

#define EVERY_MS 100u
#define SETTLED_MS 500u /* the rate is unreliable before */

static atomic_bool has_line; /* an unfinished line is on the terminal */

static void put_figures(struct msd_buf *out, uint64_t done, uint64_t total,
			uint64_t elapsed_ms)
{
	const double rate = elapsed_ms > 0 ? (double)done / (double)elapsed_ms : 0;
	const bool is_settled = elapsed_ms >= SETTLED_MS && rate > 0;

	if (total > 0) {
		msd_buf_printf(out, "%d%% of ",
			       (int)(100 * (double)done / (double)total));
	}
	msd_print_size(out, (int64_t)(total > 0 ? total : done));
	if (is_settled) {
		msd_buf_printf(out, ", ");
		msd_print_size(out, (int64_t)(rate * 1e3));
		msd_buf_printf(out, "/s");
	}
	if (total > 0 && done >= total) {
		msd_buf_printf(out, ", starting");
	} else if (total > 0 && is_settled) {
		msd_buf_printf(out, ", ");
		msd_print_ns(out, (double)(total - done) / rate * 1e6);
		msd_buf_printf(out, " left");
	}
}

/* Remove figures from the end until the rest fits; each figure stays whole. */
static void fit(struct msd_buf *figures, size_t columns)
{
	while (figures->n > columns) {
		const uint8_t *comma = memrchr(figures->p, ',', figures->n);

		figures->n = comma != NULL ? (size_t)(comma - figures->p) : columns;
	}
}

void msd_progress_put(struct msd_buf *out, const struct msd_progress *p, uint64_t done,
		      uint64_t total, uint64_t elapsed_ms, size_t columns)
{
	struct msd_buf head = {0}, figures = {0};

	msd_buf_printf(&head, "%s %s: ", p->verb, p->name);
	put_figures(&figures, done, total, elapsed_ms);
	out->bad = out->bad || head.bad || figures.bad;
	if (columns == 0 || head.n + figures.n <= columns) {
		msd_buf_put(out, head.p, head.n);
	} else {
		fit(&figures, columns);
	}
	msd_buf_put(out, figures.p, figures.n);
	msd_buf_finish(&head);
	msd_buf_finish(&figures);
}

/* Columns of the terminal minus one, because some terminals wrap after the last
 * column. 0: unknown. */
static size_t columns_of_terminal(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
		       ? size.ws_col - 1u
		       : 0;
}

void msd_progress_show(void *progress, uint64_t done, uint64_t total)
{
	struct msd_progress *p = progress;
	const uint64_t now = msd_now_ms();
	struct msd_buf out = {0};

	if (done != total && now - p->shown_ms < EVERY_MS)
		return;
	p->shown_ms = now;
	p->is_open = true;
	has_line = true;
	msd_buf_printf(&out, "\r");
	msd_progress_put(&out, p, done, total, now - p->started_ms,
			 columns_of_terminal());
	msd_buf_printf(&out, "\033[K"); /* clear the rest of a longer line */
	msd_print_flush_to(&out, stderr);
}

void msd_progress_end(struct msd_progress *p)
{
	if (p->is_open)
		(void)fputc('\n', stderr);
	p->is_open = false;
	has_line = false;
}

void msd_progress_interrupted(void)
{
	if (has_line && write(STDERR_FILENO, "\n", 1) < 0)
		has_line = false; /* stderr is closed */
}

struct msd_progress msd_progress_begin(const char *verb, const char *name)
{
	return (struct msd_progress){
		.verb = verb, .name = name, .started_ms = msd_now_ms()};
}
