#include "daemon/supervisor/rights/glob.h"

bool msd_glob_match(struct msd_span glob, struct msd_span text)
{
	size_t g = 0, t = 0;
	size_t star = glob.n; /* position of the last star; glob.n: none yet */
	size_t resume = 0;    /* end of the text that this star matches */

	/* Backtrack only to the last star: earlier stars can keep their shortest
	 * match, because the last one takes any rest. */
	while (t < text.n) {
		if (g < glob.n && glob.p[g] == '*') {
			star = g++;
			resume = t;
		} else if (g < glob.n && (glob.p[g] == '?' || glob.p[g] == text.p[t])) {
			g++;
			t++;
		} else if (star < glob.n) {
			g = star + 1;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (g < glob.n && glob.p[g] == '*')
		g++;
	return g == glob.n;
}

bool msd_glob_shorten(struct msd_span *g, size_t max)
{
	uint8_t *out = (uint8_t *)(uintptr_t)g->p; /* the caller owns the bytes */
	size_t n = 0, n_others = 0;

	for (size_t i = 0; i < g->n; i++) {
		const uint8_t c = g->p[i];
		if (c == '*' && n > 0 && out[n - 1] == '*')
			continue;
		out[n++] = c;
		n_others += c != '*';
	}
	g->n = n;
	return n > 0 && n_others <= max;
}
