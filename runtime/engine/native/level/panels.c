/*
 * Panels of units: the columns of a convolution, from padded planes. Neighbours of the
 * output are neighbours in a plane up to the end of a row. With masks, a vector of a
 * panel is put together from the rows that it has, and stored once; else each stretch
 * of a row is stored, and the next one overwrites what is too much.
 */
#include "runtime/engine/native/level/integers.h"

enum { D, H, W };

/* Offset of a tap in its padded plane. */
static size_t tap_at(const struct msd_native_window *w, size_t tap)
{
	const size_t kw = tap % w->kernel[W] * w->dilation[W];
	const size_t kh = tap / w->kernel[W] % w->kernel[H] * w->dilation[H];
	const size_t kd = tap / w->kernel[W] / w->kernel[H] * w->dilation[D];
	const size_t row = w->columns * w->stride[W];

	return (kd * w->rows[1] + kh) * row + kw % w->stride[W] * w->columns +
	       kw / w->stride[W];
}

/* Vectors of a panel: from a place in the plane to a column. */
struct stretch {
	size_t from, to;
};

/* A vector may write beyond its row of the output: the next one overwrites that, and
 * columns beyond @n have no meaning. */
static size_t find_stretches(const struct msd_native_window *w, size_t n0, size_t n,
			     struct stretch *ret)
{
	const size_t row = w->columns * w->stride[W];
	size_t count = 0;

	for (size_t i = 0; i < n;) {
		const size_t x = (n0 + i) % w->out[W];
		const size_t line = (n0 + i) / w->out[W];
		const size_t y = line % w->out[H] * w->stride[H];
		const size_t z = line / w->out[H] * w->stride[D];
		const size_t left = w->out[W] - x < n - i ? w->out[W] - x : n - i;
		const size_t from = (z * w->rows[1] + y) * row + x;

		for (size_t c = 0; c < left; c += LANES)
			ret[count++] = (struct stretch){from + c, i + c};
		i += left;
	}
	return count;
}

void LEVEL(integer_fill_taps)(const struct msd_native_window *w, struct unit_taps *ret)
{
	ret->n = w->is_direct ? 1 : w->kernel[D] * w->kernel[H] * w->kernel[W];
	for (size_t i = 0; i < ret->n && i < MSD_NATIVE_TAPS; i++)
		ret->at[i] = w->is_direct ? 0 : tap_at(w, i);
}

/* All @k rows of a panel: planes, and in them taps. */
INLINE void bring_rows(const struct msd_native_window *w, size_t k,
		       const struct unit_taps *t, const struct stretch *s,
		       const size_t n, float *to)
{
	const float *plane = w->x;

	for (size_t left = k; left > 0; left -= t->n, plane += w->plane) {
		for (size_t i = 0; i < t->n; i++, to += PANEL) {
			const float *from =
				plane + (i < MSD_NATIVE_TAPS ? t->at[i] : tap_at(w, i));

#pragma GCC unroll 4
			for (size_t v = 0; v < n; v++) {
				store_units(to + s[v].to, load_units(from + s[v].from));
			}
		}
	}
}

/* One function for each small number of stretches. */
typedef void bring_fn(const struct msd_native_window *w, size_t k,
		      const struct unit_taps *t, const struct stretch *s, size_t n,
		      float *to);

#define BRING(count)                                                                   \
	static void bring_##count(const struct msd_native_window *w, size_t k,         \
				  const struct unit_taps *t, const struct stretch *s,  \
				  size_t n, float *to)                                 \
	{                                                                              \
		struct stretch own[count];                                             \
                                                                                       \
		(void)n;                                                               \
		memcpy(own, s, sizeof(own));                                           \
		bring_rows(w, k, t, own, count, to);                                   \
	}
BRING(1)
BRING(2)
BRING(3)
BRING(4)

static void bring_many(const struct msd_native_window *w, size_t k,
		       const struct unit_taps *t, const struct stretch *s, size_t n,
		       float *to)
{
	bring_rows(w, k, t, s, n, to);
}

#ifdef MSD_HAS_MASKS
enum { PIECES = 3 };

/* The first one fills its vector, the others what they have of it. */
struct piece {
	ptrdiff_t from;
	__mmask16 mask;
};

struct pieces {
	struct piece of[VECTORS][PIECES];
	size_t n[VECTORS];
};

/* False: a vector has too many of them. */
static bool find_pieces(const struct msd_native_window *w, size_t n0, size_t n,
			struct pieces *ret)
{
	const size_t row = w->columns * w->stride[W];

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < n;) {
		const size_t x = (n0 + i) % w->out[W];
		const size_t line = (n0 + i) / w->out[W];
		const size_t y = line % w->out[H] * w->stride[H];
		const size_t z = line / w->out[H] * w->stride[D];
		const size_t end = w->out[W] - x < n - i ? i + w->out[W] - x : n;
		const ptrdiff_t from =
			(ptrdiff_t)((z * w->rows[1] + y) * row + x) - (ptrdiff_t)i;

		while (i < end) {
			const size_t v = i / LANES;
			const size_t next =
				end < (v + 1) * LANES ? end : (v + 1) * LANES;
			const uint32_t mask = ((1u << (next - i)) - 1) << i % LANES;

			if (ret->n[v] == PIECES)
				return false;
			ret->of[v][ret->n[v]++] = (struct piece){
				from + (ptrdiff_t)(v * LANES), (__mmask16)mask};
			i = next;
		}
	}
	return true;
}

/* Vectors of @n pieces each; an empty piece has no lanes. */
INLINE void join_rows(const struct msd_native_window *w, size_t k,
		      const struct unit_taps *t, const struct pieces *pieces,
		      const int vectors, const int n[VECTORS], float *to)
{
	const struct pieces p = *pieces;
	const float *plane = w->x;

	for (size_t left = k; left > 0; left -= t->n, plane += w->plane) {
		for (size_t i = 0; i < t->n; i++, to += PANEL) {
			const float *from =
				plane + (i < MSD_NATIVE_TAPS ? t->at[i] : tap_at(w, i));

#pragma GCC unroll 3
			for (int v = 0; v < vectors; v++) {
				__m512i x = _mm512_loadu_si512(from + p.of[v][0].from);

#pragma GCC unroll 3
				for (int q = 1; q < n[v]; q++) {
					x = _mm512_mask_loadu_epi32(
						x, p.of[v][q].mask,
						from + p.of[v][q].from);
				}
				store_units(to + v * LANES, (ivec)x);
			}
		}
	}
}

/* One function for each number of pieces of three vectors. */
#define JOIN(vectors, a, b, c)                                                         \
	static void join_##vectors##_##a##b##c(const struct msd_native_window *w,      \
					       size_t k, const struct unit_taps *t,    \
					       const struct pieces *p, float *to)      \
	{                                                                              \
		join_rows(w, k, t, p, vectors, (const int[]){a, b, c}, to);            \
	}
JOIN(1, 3, 0, 0)
JOIN(2, 3, 3, 0)
JOIN(3, 1, 1, 1)
JOIN(3, 2, 1, 1)
JOIN(3, 1, 2, 1)
JOIN(3, 2, 2, 1)
JOIN(3, 1, 1, 2)
JOIN(3, 2, 1, 2)
JOIN(3, 1, 2, 2)
JOIN(3, 2, 2, 2)
JOIN(3, 3, 3, 3)

typedef void join_fn(const struct msd_native_window *w, size_t k,
		     const struct unit_taps *t, const struct pieces *p, float *to);

/* True if the panel is brought. */
static bool join_panel(const struct msd_native_window *w, size_t k,
		       const struct unit_taps *t, size_t n0, size_t n, float *ret)
{
	static join_fn *const joins[] = {join_3_111, join_3_211, join_3_121,
					 join_3_221, join_3_112, join_3_212,
					 join_3_122, join_3_222};
	struct pieces p;
	size_t most = 1;
	size_t which = 0;

	if (!find_pieces(w, n0, n, &p))
		return false;
	for (size_t v = 0; v < VECTORS; v++) {
		most = p.n[v] > most ? p.n[v] : most;
		which |= (size_t)(p.n[v] > 1) << v;
	}
	if (n <= LANES) {
		join_1_300(w, k, t, &p, ret);
	} else if (n <= LANES * 2) {
		join_2_330(w, k, t, &p, ret);
	} else if (most == PIECES) {
		join_3_333(w, k, t, &p, ret);
	} else {
		joins[which](w, k, t, &p, ret);
	}
	return true;
}
#endif

/* @k rows of columns @n0 .. @n0 + @n - 1. */
void LEVEL(integer_bring)(const struct msd_native_window *w, size_t k,
			  const struct unit_taps *t, size_t n0, size_t n, float *ret)
{
	static bring_fn *const brings[] = {bring_many, bring_1, bring_2, bring_3,
					   bring_4};
	struct stretch s[PANEL];
	size_t count = (n + LANES - 1) / LANES;

#ifdef MSD_HAS_MASKS
	if (!w->is_direct && join_panel(w, k, t, n0, n, ret))
		return;
#endif
	for (size_t i = 0; i < count; i++)
		s[i] = (struct stretch){n0 + i * LANES, i * LANES};
	if (!w->is_direct)
		count = find_stretches(w, n0, n, s);
	brings[count <= 4 ? count : 0](w, k, t, s, count, ret);
}
