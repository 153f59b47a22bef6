/*
 * Depthwise convolutions of bytes by VNNI. Neighbours in a row of the input are units:
 * a row of the kernel has one for each four columns. The bytes of a vector are loaded
 * once and put in place by two shuffles. Other kernels, and other levels, convolve
 * floats.
 */
#include "runtime/engine/native/level/sums.h"

enum { D, H, W, QUAD = 4, BYTES = 64 };

#ifdef MSD_HAS_QUADS
size_t LEVEL(integer_depthwise_units)(const struct msd_native_window *w)
{
	const size_t reach =
		(QUAD - 1) * w->stride[W] + (w->kernel[W] - 1) * w->dilation[W];

	if (w->kernel[D] != 1 || w->stride[W] > QUAD || reach >= 16)
		return 0;
	return w->kernel[H] * ((w->kernel[W] + QUAD - 1) / QUAD);
}

/* Bytes of a padded row; vectors read beyond them. */
static size_t pitch_of(const struct msd_native_window *w)
{
	return (w->out[W] - 1) * w->stride[W] + (w->kernel[W] - 1) * w->dilation[W] + 1;
}

size_t LEVEL(integer_depthwise_scratch)(const struct msd_native_window *w)
{
	return (w->rows[1] * pitch_of(w) + 4 * BYTES * w->stride[W]) / sizeof(float) +
	       1;
}

INLINE __mmask64 first_bytes(size_t n)
{
	return n < BYTES ? ((__mmask64)1 << n) - 1 : ~(__mmask64)0;
}

/* The padding has the zero point; all bytes are unsigned. */
static void pad_bytes(const struct msd_native_window *w,
		      const struct msd_native_bytes *x, uint8_t *ret)
{
	const size_t pitch = pitch_of(w);
	const size_t in = w->in[W];
	const size_t room = pitch > w->before[W] ? pitch - w->before[W] : 0;
	const size_t n = in < room ? in : room;
	const __mmask64 last = first_bytes(n > 0 ? (n - 1) % BYTES + 1 : 0);
	const __m512i flip = _mm512_set1_epi8((char)x->flip);
	const size_t rows = w->rows[1] > w->before[H] ? w->rows[1] - w->before[H] : 0;
	const uint8_t *from = x->p;
	uint8_t *to = ret + w->before[H] * pitch + w->before[W];

	memset(ret, x->zero, w->rows[1] * pitch);
	for (size_t h = w->in[H] < rows ? w->in[H] : rows; h > 0; h--) {
		size_t i = 0;

		for (; i + BYTES < n; i += BYTES) {
			const __m512i v = _mm512_loadu_si512(from + i);

			_mm512_storeu_si512(to + i, _mm512_xor_si512(v, flip));
		}
		const __m512i v = _mm512_maskz_loadu_epi8(last, from + i);
		_mm512_mask_storeu_epi8(to + i, last, _mm512_xor_si512(v, flip));
		from += in;
		to += pitch;
	}
}

/* Which bytes become units: lane i of 128 bits gets those from 4 i strides on, and then
 * its units begin a stride apart. */
struct order {
	__m512i lanes, units[QUAD]; /* of four columns of the kernel each */
};

static struct order order_of(const struct msd_native_window *w, size_t quads)
{
	struct order o;
	uint8_t units[BYTES];
	int32_t lanes[16];

	for (size_t i = 0; i < 16; i++)
		lanes[i] = (int32_t)(i / 4 * w->stride[W] + i % 4);
	o.lanes = _mm512_loadu_si512(lanes);
	for (size_t q = 0; q < quads; q++) {
		for (size_t i = 0; i < BYTES; i++) {
			const size_t column = q * QUAD + i % QUAD;

			units[i] = (uint8_t)(i / QUAD % 4 * w->stride[W] +
					     column * w->dilation[W]);
			if (column >= w->kernel[W])
				units[i] = 0x80; /* 0 */
		}
		o.units[q] = _mm512_loadu_si512(units);
	}
	return o;
}

/* Up to 16 outputs of a row, from @x on. */
INLINE ivec sums_at(const struct order *o, const uint8_t *x, size_t line,
		    const int32_t *weights, const size_t height, const size_t quads,
		    int32_t start)
{
	__m512i sum = _mm512_set1_epi32(start);

#pragma GCC unroll 5
	for (size_t h = 0; h < height; h++, x += line) {
		const __m512i lanes =
			_mm512_permutexvar_epi32(o->lanes, _mm512_loadu_si512(x));

#pragma GCC unroll 2
		for (size_t q = 0; q < quads; q++) {
			sum = _mm512_dpbusd_epi32(
				sum, _mm512_shuffle_epi8(lanes, o->units[q]),
				_mm512_set1_epi32(weights[h * quads + q]));
		}
	}
	return (ivec)sum;
}

/* A channel. */
struct rows {
	const uint8_t *x; /* padded */
	size_t line, step,
		stride; /* bytes to the next row of a kernel, row and output */
	const int32_t *weights;
	int32_t start;
	size_t height, width; /* of the output */
	struct msd_native_sums sums;
	size_t channel;
};

/* @is_plain: bytes of a scale and an offset that are numbers. */
INLINE void run_rows(const struct rows r, const struct order o, const size_t height,
		     const size_t quads, const bool is_plain, char *y)
{
	const struct msd_native_rounding to = r.sums.rounding;
	const vec scale = all(is_plain ? r.sums.scales[r.channel] : 1);
	const vec offset =
		all(is_plain && r.sums.offsets != NULL ? r.sums.offsets[r.channel] : 0);
	const size_t size =
		r.sums.scales != NULL && !r.sums.is_float ? 1 : sizeof(float);

	for (size_t h = 0; h < r.height; h++, y += r.width * size) {
		const uint8_t *x = r.x + h * r.step;

		for (size_t i = 0; i < r.width; i += LANES, x += LANES * r.stride) {
			const ivec sum = sums_at(&o, x, r.line, r.weights, height,
						 quads, r.start);

			if (!is_plain) {
				put_vector(&r.sums, sum, r.channel, i, r.width - i, y);
				continue;
			}
			const vec v = to_floats(sum) * scale + offset;
			store_some_bytes((uint8_t *)y + i,
					 round_limited(v, to.low, to.high) + to.zero,
					 r.width - i);
		}
	}
}

static bool is_plain(const struct msd_native_sums *s, size_t channel)
{
	return s->scales != NULL && !s->is_float &&
	       __builtin_isfinite(s->scales[channel]) &&
	       (s->offsets == NULL || __builtin_isfinite(s->offsets[channel]));
}

void LEVEL(integer_depthwise)(const struct msd_native_window *w,
			      const struct msd_native_bytes *x, const int32_t *weights,
			      const struct msd_native_sums *s, size_t channel,
			      float *scratch, void *y)
{
	const size_t pitch = pitch_of(w);
	const size_t quads = (w->kernel[W] + QUAD - 1) / QUAD;
	const struct order o = order_of(w, quads);
	const struct rows r = {
		.x = (const uint8_t *)scratch,
		.line = w->dilation[H] * pitch,
		.step = w->stride[H] * pitch,
		.stride = w->stride[W],
		.weights = weights,
		.start = s->start != NULL ? s->start[channel] : 0,
		.height = w->out[H],
		.width = w->out[W],
		.sums = *s,
		.channel = channel,
	};

	pad_bytes(w, x, (uint8_t *)scratch);
	if (!is_plain(s, channel)) {
		run_rows(r, o, w->kernel[H], quads, false, y);
	} else if (w->kernel[H] == 3 && quads == 1) {
		run_rows(r, o, 3, 1, true, y);
	} else if (w->kernel[H] == 5 && quads == 2) {
		run_rows(r, o, 5, 2, true, y);
	} else {
		run_rows(r, o, w->kernel[H], quads, true, y);
	}
}
#endif
