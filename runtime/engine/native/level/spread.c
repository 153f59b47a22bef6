/*
 * The last step of a transposed convolution: products of one output channel, a plane of
 * the input for each tap, are added where the taps reach. The columns of a row are
 * summed by their phase (their index modulo the stride), so that neighbours of the
 * input are neighbours of a sum, then the phases are interleaved.
 */
#include "runtime/engine/native/level/level.h"

enum { D, H, W };

/* The outputs of one phase of a row: @n, of which output j lies at column
 * @first + j * stride. */
struct phase {
	size_t first, n;
	size_t room; /* for its sums: whole vectors, if the row is not the output's */
};

static struct phase phase_of(const struct msd_native_spread *s, size_t p, size_t room)
{
	const size_t first = s->from[W] + p;
	const size_t n =
		first < s->to[W] ? (s->to[W] - first - 1) / s->stride[W] + 1 : 0;

	return (struct phase){first, n, s->stride[W] == 1 ? n : room};
}

static void fill(float *to, size_t n, float v)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(to + i, all(v));
	for (; i < n; i++)
		to[i] = v;
}

/* sums[j] += x[j]; @room elements of both may be touched, at least @n. */
static void add_row(const float *x, size_t n, size_t room, float *sums)
{
	for (size_t i = 0; i < n; i += LANES) {
		if (i + LANES <= room) {
			store(sums + i, load(sums + i) + load(x + i));
		} else {
			const vec sum = load_some(sums + i, n - i, 0) +
					load_some(x + i, n - i, 0);

			store_some(sums + i, sum, n - i);
		}
	}
}

/* Input position of output @o on an axis by @tap; SIZE_MAX: none. */
static size_t input_at(const struct msd_native_spread *s, size_t axis, size_t o,
		       size_t tap)
{
	const size_t reached = o + s->before[axis];
	const size_t off = tap * s->dilation[axis];
	const size_t at = (reached - off) / s->stride[axis];

	if (off > reached || (reached - off) % s->stride[axis] != 0 ||
	    at >= s->in[axis])
		return SIZE_MAX;
	return at;
}

/* @off / @step if nothing remains; false: something does. */
static bool divide(ptrdiff_t off, ptrdiff_t step, ptrdiff_t *ret)
{
	if (step == 2) { /* a division takes long */
		*ret = off >> 1;
		return (off & 1) == 0;
	}
	*ret = off / step;
	return off % step == 0;
}

/* Add the products of tap @kw with an input row to the outputs of a phase. */
static void add_tap(const struct msd_native_spread *s, const struct phase *p, size_t kw,
		    const float *row, float *sums)
{
	const ptrdiff_t off =
		(ptrdiff_t)(p->first + s->before[W]) - (ptrdiff_t)(kw * s->dilation[W]);
	ptrdiff_t at; /* input column of output 0 */

	if (!divide(off, (ptrdiff_t)s->stride[W], &at))
		return;
	const ptrdiff_t in = (ptrdiff_t)s->in[W];
	const ptrdiff_t n = (ptrdiff_t)p->n;
	const ptrdiff_t from = at < 0 ? -at : 0;
	const ptrdiff_t to = in - at < n ? in - at : n;

	/* Sums behind the last output have no meaning. */
	const ptrdiff_t room = to == n ? (ptrdiff_t)p->room : to;

	if (from < to) {
		add_row(row + at + from, (size_t)(to - from), (size_t)(room - from),
			sums + from);
	}
}

static void add_taps(const struct msd_native_spread *s, const struct phase *p,
		     const float *const *rows, size_t n_rows, float *sums)
{
	for (size_t i = 0; i < n_rows; i++) {
		for (size_t kw = 0; kw < s->kernel[W]; kw++)
			add_tap(s, p, kw, rows[i] + kw * s->pitch, sums);
	}
}

/* The phases of a stride of 2, side by side: @n outputs. */
static void interleave_two(const float *even, const float *odd, size_t n, float *y)
{
	for (size_t i = 0; i < n; i += 2 * LANES) {
		const vec a = load(even + i / 2);
		const vec b = load(odd + i / 2);
		const size_t left = n - i;
		float at[2 * LANES];

		if (left >= 2 * LANES) {
			msd_interleave(a, b, y + i);
			continue;
		}
		msd_interleave(a, b, at);
		store_some(y + i, load(at), left < LANES ? left : LANES);
		if (left > LANES)
			store_some(y + i + LANES, load(at + LANES), left - LANES);
	}
}

static void put_row(const struct msd_native_spread *s, const float *sums, size_t room,
		    float *y)
{
	const size_t step = s->stride[W];
	const size_t n = s->to[W] - s->from[W];

	if (step == 2) {
		interleave_two(sums, sums + room, n, y);
		return;
	}
	for (size_t p = 0; p < step && p < n; p++) {
		for (size_t j = 0; j * step + p < n; j++)
			y[j * step + p] = sums[p * room + j];
	}
}

/* Rows of products that reach a row of the output, for the first tap of the width. */
static size_t find_rows(const struct msd_native_spread *s, const float *x, size_t od,
			size_t oh, const float **ret)
{
	size_t n = 0;

	for (size_t kd = 0; kd < s->kernel[D]; kd++) {
		const size_t d = input_at(s, D, od, kd);

		for (size_t kh = 0; d != SIZE_MAX && kh < s->kernel[H]; kh++) {
			const size_t h = input_at(s, H, oh, kh);
			const size_t tap = (kd * s->kernel[H] + kh) * s->kernel[W];

			if (h != SIZE_MAX) {
				ret[n++] = x + tap * s->pitch +
					   (d * s->in[H] + h) * s->in[W] - s->skipped;
			}
		}
	}
	return n;
}

void LEVEL(spread)(const struct msd_native_spread *s, const float *x, float start,
		   const float **rows, float *room, float *y)
{
	const size_t width = s->to[W] - s->from[W];
	const size_t longest = (width + s->stride[W] - 1) / s->stride[W];
	const size_t size =
		s->stride[W] == 1 ? longest : MSD_NATIVE_SPREAD_ROOM(longest);

	for (size_t od = s->from[D]; od < s->to[D]; od++) {
		for (size_t oh = s->from[H]; oh < s->to[H]; oh++) {
			const size_t n = find_rows(s, x, od, oh, rows);
			float *to = y + (od * s->out[H] + oh) * s->out[W] + s->from[W];
			float *sums = s->stride[W] == 1 ? to : room;

			fill(sums, size * s->stride[W], start);
			for (size_t p = 0; p < s->stride[W] && p < width; p++) {
				const struct phase phase = phase_of(s, p, size);

				add_taps(s, &phase, rows, n, sums + p * size);
			}
			if (s->stride[W] != 1)
				put_row(s, sums, size, to);
		}
	}
}
