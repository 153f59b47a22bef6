#include "proto/base/spelling.h"

#include <string.h>

static size_t length(struct msd_span s)
{
	return s.n < MSD_SPELLING_BYTES ? s.n : MSD_SPELLING_BYTES;
}

unsigned msd_spelling_distance(struct msd_span a, struct msd_span b)
{
	unsigned row[MSD_SPELLING_BYTES + 1];
	const size_t n = length(a);
	const size_t m = length(b);

	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = diagonal + (a.p[i - 1] != b.p[j - 1] ? 1u : 0u);
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

/* Allow errors in a third of the name plus one; for up to three characters, one
 * error. */
void msd_spelling_start(struct msd_spelling *near, struct msd_span name)
{
	*near = (struct msd_spelling){
		.name = name,
		.score = length(name) < 4 ? 2 : (unsigned)length(name) / 3 + 2};
}

static bool begins_so(struct msd_span candidate, struct msd_span name)
{
	return name.n >= 2 && candidate.n > name.n &&
	       memcmp(candidate.p, name.p, name.n) == 0;
}

void msd_spelling_look(struct msd_spelling *near, struct msd_span candidate)
{
	unsigned score;

	if (near->n_looked == MSD_SPELLING_MOST)
		return;
	near->n_looked++;
	score = begins_so(candidate, near->name)
			? 1
			: msd_spelling_distance(near->name, candidate);
	if (score < near->score) {
		near->score = score;
		near->best = candidate;
	}
}
