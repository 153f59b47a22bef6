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
	const __m512i flip = _mm512_set1_epi8((char)x->flip);
	const size_t room = pitch > w->before[W] ? pitch - w->before[W] : 0;
	const size_t n = w->in[W] < room ? w->in[W] : room;

	memset(ret, x->zero, w->rows[1] * pitch);
	for (size_t h = 0; h < w->in[H] && h + w->before[H] < w->rows[1]; h++) {
		const uint8_t *from = x->p + h * w->in[W];
		uint8_t *to = ret + (h + w->before[H]) * pitch + w->before[W];

		for (size_t i = 0; i < n; i += BYTES) {
			const __mmask64 mask = first_bytes(n - i);
			const __m512i v = _mm512_maskz_loadu_epi8(mask, from + i);

			_mm512_mask_storeu_epi8(to + i, mask,
						_mm512_xor_si512(v, flip));
		}
	}
}

/* Which bytes become units: lane i of 128 bits gets those from 4 i strides on, and then
 * its units begin a stride apart. */
struct order {
	__m512i lanes, units[QUAD]; /* of four columns of the kernel each */
};

static struct order order_of(const struct msd_native_window *w)
{
	struct order o;
	uint8_t units[BYTES];
	int32_t lanes[16];

	for (size_t i = 0; i < 16; i++)
		lanes[i] = (int32_t)(i / 4 * w->stride[W] + i % 4);
	o.lanes = _mm512_loadu_si512(lanes);
	for (size_t q = 0; q < QUAD; q++) {
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

	for (size_t h = 0; h < height; h++, x += line) {
		const __m512i lanes =
			_mm512_permutexvar_epi32(o->lanes, _mm512_loadu_si512(x));

		for (size_t q = 0; q < quads; q++) {
			sum = _mm512_dpbusd_epi32(
				sum, _mm512_shuffle_epi8(lanes, o->units[q]),
				_mm512_set1_epi32(weights[h * quads + q]));
		}
	}
	return (ivec)sum;
}

INLINE void run_rows(const struct msd_native_window *w, const uint8_t *plane,
		     const int32_t *weights, const size_t height, const size_t quads,
		     const struct msd_native_sums *s, size_t channel, char *y)
{
	const struct order o = order_of(w);
	const struct msd_native_sums own = *s;
	const size_t pitch = pitch_of(w);
	const size_t size = own.scales != NULL && !own.is_float ? 1 : sizeof(float);
	const int32_t start = own.start != NULL ? own.start[channel] : 0;

	for (size_t h = 0; h < w->out[H]; h++, y += w->out[W] * size) {
		const uint8_t *x = plane + h * w->stride[H] * pitch;

		for (size_t i = 0; i < w->out[W]; i += LANES) {
			const ivec sum = sums_at(&o, x + i * w->stride[W],
						 w->dilation[H] * pitch, weights,
						 height, quads, start);

			put_vector(&own, sum, channel, i, w->out[W] - i, y);
		}
	}
}

void LEVEL(integer_depthwise)(const struct msd_native_window *w,
			      const struct msd_native_bytes *x, const int32_t *weights,
			      const struct msd_native_sums *s, size_t channel,
			      float *scratch, void *y)
{
	uint8_t *plane = (uint8_t *)scratch;
	const size_t quads = (w->kernel[W] + QUAD - 1) / QUAD;

	pad_bytes(w, x, plane);
	if (w->kernel[H] == 3 && quads == 1) {
		run_rows(w, plane, weights, 3, 1, s, channel, y);
	} else if (w->kernel[H] == 5 && quads == 2) {
		run_rows(w, plane, weights, 5, 2, s, channel, y);
	} else {
		run_rows(w, plane, weights, w->kernel[H], quads, s, channel, y);
	}
}
#endif
