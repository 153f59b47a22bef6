#include "runtime/module/nearest.h"

#include <string.h>

#define MAX_NAMES 3
#define MAX_LEN 63 /* longer names are compared by their beginning */

/* Edit distance (insert, delete, replace) of the first MAX_LEN bytes. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[MAX_LEN + 1];
	const size_t n = strnlen(a, MAX_LEN);
	const size_t m = strnlen(b, MAX_LEN);

	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1] ? 1u : 0u);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[m];
}

struct near {
	size_t best[MAX_NAMES]; /* the nearest first */
	unsigned score[MAX_NAMES];
	size_t count;
};

/* Keep name @i at @score where it belongs, if it is among the nearest. */
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

void msd_nearest_names(const char *name, const struct msd_func_info *const *infos,
		       size_t n, struct msd_buf *out)
{
	const unsigned limit = (unsigned)strnlen(name, MAX_LEN) / 2 + 1;
	struct near near = {.count = 0};

	for (size_t i = 0; i < n; i++) {
		unsigned score = distance(name, infos[i]->name);

		if (score <= limit)
			keep(&near, i, score);
	}
	for (size_t k = 0; near.count == 0 && k < n && k < MAX_NAMES; k++)
		msd_buf_printf(out, "%s%s", k > 0 ? ", " : "", infos[k]->name);
	for (size_t k = 0; k < near.count; k++) {
		msd_buf_printf(out, "%s%s", k > 0 ? ", " : "",
			       infos[near.best[k]]->name);
	}
}
