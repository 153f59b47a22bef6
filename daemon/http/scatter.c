#include "daemon/http/scatter.h"

#include <string.h>

/* As many of @n bytes as fit into the first buffer. */
static size_t first_room(const struct msd_scatter *s, size_t n)
{
	return n < s->pieces->iov_len ? n : s->pieces->iov_len;
}

static void advance(struct msd_scatter *s, size_t n)
{
	struct iovec *first = s->pieces;

	first->iov_base = (uint8_t *)first->iov_base + n;
	first->iov_len -= n;
	if (first->iov_len > 0)
		return;
	s->pieces++;
	s->n--;
}

void msd_scatter_came(struct msd_scatter *s, size_t n)
{
	while (n > 0 && s->n > 0) {
		const size_t step = first_room(s, n);
		advance(s, step);
		n -= step;
	}
}

void msd_scatter_put(struct msd_scatter *s, struct msd_span bytes)
{
	while (bytes.n > 0 && s->n > 0) {
		const size_t step = first_room(s, bytes.n);
		if (step > 0)
			memcpy(s->pieces->iov_base, bytes.p, step);
		advance(s, step);
		bytes.p += step;
		bytes.n -= step;
	}
}
