#include "runtime/module/nearest.h"

#include <string.h>

#include "proto/base/spelling.h"

#define MAX_NAMES 3

struct near {
	size_t best[MAX_NAMES]; /* best match first */
	unsigned score[MAX_NAMES];
	size_t count;
};

/* Insert name @i with @score if it is among the best. */
static void keep(struct near *near, size_t i, unsigned score)
{
	size_t at = near->count;

	while (at > 0 && near->score[at - 1] > score) {
		if (at < MAX_NAMES) {
			near->score[at] = near->score[at - 1];
			near->best[at] = near->best[at - 1];
		}
		at--;
	}
	if (at == MAX_NAMES)
		return;
	near->score[at] = score;
	near->best[at] = i;
	near->count += near->count < MAX_NAMES ? 1 : 0;
}

/* No name is similar: list the module's main functions first, then any others. */
static void put_any(const struct msd_func_info *const *infos, size_t n,
		    struct msd_buf *out)
{
	size_t n_put = 0;

	for (int of_models = 1; of_models >= 0; of_models--) {
		for (size_t i = 0; i < n && n_put < MAX_NAMES; i++) {
			if ((infos[i]->style == MSD_FUNC_MODEL) == of_models) {
				msd_buf_printf(out, "%s%s", n_put++ > 0 ? ", " : "",
					       infos[i]->name);
			}
		}
	}
	if (n > MAX_NAMES)
		msd_buf_printf(out, ", ...");
}

void msd_nearest_names(const char *name, const struct msd_func_info *const *infos,
		       size_t n, struct msd_buf *out)
{
	const unsigned limit = (unsigned)strnlen(name, MSD_SPELLING_BYTES) / 3 + 1;
	struct near near = {.count = 0};

	for (size_t i = 0; i < n; i++) {
		unsigned score = msd_spelling_distance(msd_span_of(name),
						       msd_span_of(infos[i]->name));

		if (score <= limit)
			keep(&near, i, score);
	}
	if (n > 0)
		msd_buf_printf(out, "; %s: ", near.count > 0 ? "near it" : "it has");
	if (near.count == 0)
		put_any(infos, n, out);
	for (size_t k = 0; k < near.count; k++) {
		msd_buf_printf(out, "%s%s", k > 0 ? ", " : "",
			       infos[near.best[k]]->name);
	}
}
