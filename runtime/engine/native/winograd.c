/*
 * Each thread pads its rows of the input, then each part computes some tiles of some
 * output channels: values of the tiles, 16 products with the packed kernels, the
 * outputs. Its memory stays in the cache between these steps.
 */
#include "runtime/engine/native/winograd.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"

enum { VALUES = MSD_NATIVE_WINOGRAD, FEWEST = 64, KEPT = 6400, SUMS = 2400, LONG = 16 };
/* Floats between the tiles of two values: a power of two would put all values of a tile
 * into the same few lines of the cache. */
enum { GAP = 16 };
enum { ALIGNED = 16 }; /* floats of a line of the cache */

/* G g G', with G = 1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1 */
static void values_of(const float g[9], double factor, float *ret, size_t size)
{
	double rows[4][3];

	for (size_t c = 0; c < 3; c++) {
		const double a = g[c];
		const double b = g[3 + c];
		const double d = g[6 + c];

		rows[0][c] = a;
		rows[1][c] = (a + b + d) / 2;
		rows[2][c] = (a - b + d) / 2;
		rows[3][c] = d;
	}
	for (size_t r = 0; r < 4; r++) {
		const double a = rows[r][0] * factor;
		const double b = rows[r][1] * factor;
		const double d = rows[r][2] * factor;

		ret[(r * 4 + 0) * size] = (float)a;
		ret[(r * 4 + 1) * size] = (float)((a + b + d) / 2);
		ret[(r * 4 + 2) * size] = (float)((a - b + d) / 2);
		ret[(r * 4 + 3) * size] = (float)d;
	}
}

size_t msd_native_winograd_floats(size_t channels, size_t in_channels)
{
	return VALUES * msd_native_kernels()->pack_a_floats(channels, in_channels);
}

/* A tile of rows at a time: its values are packed from a matrix of each. */
bool msd_native_winograd_pack(const float *w, const float *factors, size_t channels,
			      size_t in_channels, float *ret)
{
	const struct msd_native_kernels *k = msd_native_kernels();
	const size_t size = k->rows * in_channels;
	const size_t all = k->pack_a_floats(channels, in_channels);
	float *values = malloc(VALUES * size * sizeof(float));
	bool is_tame = values != NULL;

	for (size_t m = 0; is_tame && m < channels; m += k->rows) {
		const size_t rows = channels - m < k->rows ? channels - m : k->rows;
		const size_t n = rows * in_channels;

		for (size_t i = 0; i < n; i++) {
			const size_t at = m * in_channels + i;
			const double factor =
				factors != NULL ? (double)factors[at / in_channels] : 1;

			values_of(w + 9 * at, factor, values + i, size);
		}
		for (size_t v = 0; v < VALUES; v++) {
			is_tame = is_tame && k->is_tame(values + v * size, n);
			k->pack_a(values + v * size, in_channels, 1, rows, in_channels,
				  NULL, ret + v * all + m * in_channels);
		}
	}
	free(values);
	return is_tame;
}

enum { STRETCH = 16 << 10 }; /* floats that a thread checks at once */

struct check {
	const float *x;
	size_t n;
	_Atomic bool *is_wild;
};

static void check(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct check *c = ctx;
	const size_t from = first * STRETCH;
	const size_t to = end * STRETCH < c->n ? end * STRETCH : c->n;

	(void)thread;
	if (!msd_native_kernels()->is_tame(c->x + from, to - from))
		atomic_store(c->is_wild, true);
}

bool msd_native_winograd_takes(const float *x, size_t n)
{
	_Atomic bool is_wild = false;
	const struct check c = {x, n, &is_wild};

	/* A quarter of a nanosecond a float: they often come from another core. */
	msd_native_each((n + STRETCH - 1) / STRETCH, (double)STRETCH / 4, check, &c);
	return !is_wild;
}

struct job {
	const struct msd_native_kernels *k;
	const struct msd_native_winograd_run *r;
	struct msd_native_winograd shape;
	struct msd_native_window window; /* as pad_plane() needs it */
	float *scratch;
	size_t scratch_floats; /* per thread: padded planes, values, sums */
	size_t plane_floats;
	size_t n_step, n_parts, m_step, m_parts;
	size_t group; /* parts that share padded planes */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Columns that the product computes in lanes of rows: a vector would be empty for the
 * most part. */
static size_t few_of(const struct job *j, size_t n)
{
	const size_t few = n % j->k->lanes;

	return few <= j->k->lanes / 4 ? few : 0;
}

/* Pad what rows @from .. @to - 1 of tiles read. Each thread does so for its own tiles:
 * the layer before has left most of their inputs in the cache of the same core. */
static void pad(const struct job *j, size_t from, size_t to, float *planes,
		struct msd_native_winograd *ret)
{
	const struct msd_native_winograd_run *r = j->r;
	const size_t plane = r->in[0] * r->in[1];
	const size_t first = 2 * from > r->before[0] ? 2 * from - r->before[0] : 0;
	const size_t skipped = first < r->in[0] ? first : r->in[0];
	struct msd_native_window w = j->window;

	w.lines = to - from + 1;
	w.rows[1] = 2 * w.lines;
	w.plane = 4 * w.lines * w.columns;
	w.before[1] = r->before[0] > 2 * from ? r->before[0] - 2 * from : 0;
	w.in[1] -= skipped;
	for (size_t c = 0; c < r->in_channels; c++) {
		j->k->pad_plane(&w, r->x + c * plane + skipped * r->in[1], false,
				planes + c * w.plane);
	}
	*ret = j->shape;
	ret->phase = w.lines * w.columns;
}

/* Floats from the values of @n tiles to the next ones. */
static size_t values_size(const struct job *j, size_t n)
{
	return round_up(n, j->k->panel) * j->r->in_channels + GAP;
}

/* Channels @m0 .. @m1 - 1 of @n tiles: whole vectors, and few columns behind them. */
static void multiply(const struct job *j, size_t m0, size_t m1, size_t n,
		     const float *values, float *sums)
{
	const size_t depth = j->r->in_channels;
	const size_t size = round_up(n, j->k->lanes);
	const size_t columns = few_of(j, n) > 0 ? n : size;
	const size_t all = j->k->pack_a_floats(j->r->channels, depth);

	for (size_t v = 0; v < VALUES; v++) {
		const struct msd_native_product p = {
			.m = m1 - m0,
			.n = columns,
			.k = depth,
			.packed_a = j->r->weights + v * all + m0 * depth,
			.packed_b = values + v * values_size(j, n),
			.y = sums + v * size,
			.y_row = VALUES * size,
		};

		j->k->product(&p, 0, m1 - m0, 0, columns, sums);
	}
}

static void put(const struct job *j, size_t m0, size_t m1, size_t tile, size_t n,
		const float *sums)
{
	const struct msd_native_winograd_run *r = j->r;
	const size_t size = round_up(n, j->k->lanes);
	const size_t plane = r->out[0] * r->out[1];

	for (size_t m = m0; m < m1; m++, sums += VALUES * size) {
		const struct msd_native_winograd_out o = {
			.sums = sums,
			.size = size,
			.tile = tile,
			.n = n,
			.start = r->start[m],
			.residual =
				r->residual != NULL ? r->residual + m * plane : NULL,
			.finish = r->finish,
			.y = r->y + m * plane,
		};

		j->k->winograd_put(&j->shape, &o);
	}
}

/* Channels whose sums stay close. Processors with long vectors have larger caches. */
static size_t sums_step(const struct job *j, size_t columns)
{
	const size_t rows = j->k->rows;
	const size_t most = j->k->lanes < LONG ? SUMS : 2 * SUMS;
	const size_t n = most / columns / rows * rows;

	return n > rows ? n : rows;
}

/* The tile behind those of part @i. */
static size_t end_of(const struct job *j, size_t i)
{
	const size_t n = i / j->m_parts + 1;

	return n < j->n_parts ? n * j->n_step : j->shape.rows * j->shape.columns;
}

static void run_part(const struct job *j, size_t i, const float *values, float *sums)
{
	const struct msd_native_winograd_run *r = j->r;
	const size_t tile = i / j->m_parts * j->n_step;
	const size_t n = end_of(j, i) - tile;
	const size_t m0 = i % j->m_parts * j->m_step;
	const size_t m1 = m0 + j->m_step < r->channels ? m0 + j->m_step : r->channels;
	const size_t step = sums_step(j, round_up(n, j->k->lanes));

	for (size_t m = m0; m < m1; m += step) {
		const size_t end = m1 - m < step ? m1 : m + step;

		multiply(j, m, end, n, values, sums);
		put(j, m, end, tile, n, sums);
	}
}

static void run_group(const struct job *j, size_t first, size_t end, float *planes)
{
	const size_t columns = j->shape.columns;
	const size_t from = first / j->m_parts * j->n_step / columns;
	const size_t to = (end_of(j, end - 1) + columns - 1) / columns;
	float *values = planes + j->plane_floats;
	struct msd_native_winograd shape;

	pad(j, from, to, planes, &shape);
	for (size_t i = first; i < end; i++) {
		const size_t tile = i / j->m_parts * j->n_step;
		const size_t n = end_of(j, i) - tile;
		const size_t size = values_size(j, n);

		if (i == first || i % j->m_parts == 0) {
			j->k->winograd_bring(&shape, planes, j->r->in_channels,
					     tile - from * columns, n, size, values);
		}
		run_part(j, i, values, values + VALUES * size);
	}
}

static void run_parts(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct job *j = ctx;

	for (size_t i = first; i < end; i += j->group) {
		run_group(j, i, end - i < j->group ? end : i + j->group,
			  j->scratch + thread * j->scratch_floats);
	}
}

static void set_shapes(struct job *j)
{
	const struct msd_native_winograd_run *r = j->r;
	const size_t rows = (r->out[0] + 1) / 2;
	const size_t columns = (r->out[1] + 1) / 2;
	const size_t row = columns + 1;
	const size_t lines = rows + 1;

	j->shape = (struct msd_native_winograd){
		rows, columns, {r->out[0], r->out[1]}, row, lines * row};
	j->window = (struct msd_native_window){
		.kernel = {1, 3, 3},
		.stride = {1, 2, 2},
		.dilation = {1, 1, 1},
		.in = {1, r->in[0], r->in[1]},
		.before = {0, r->before[0], r->before[1]},
		.rows = {1, 2 * lines},
		.lines = lines,
		.columns = row,
		.plane = 4 * lines * row,
	};
}

/* Values and sums of a part should stay in the cache, but each part reads all packed
 * kernels. Channels are divided only if there are too few tiles for the threads, since
 * each thread brings the values of its tiles. */
static void divide(struct job *j)
{
	const struct msd_native_winograd_run *r = j->r;
	const size_t tiles = j->shape.rows * j->shape.columns;
	const size_t few = few_of(j, tiles); /* They join the last part. */
	const size_t whole = tiles > few ? tiles - few : tiles;
	const size_t panel = j->k->panel;
	const size_t wanted = msd_native_threads();
	const size_t row_tiles = round_up(r->channels, j->k->rows) / j->k->rows;
	const size_t most = MSD_NATIVE_WINOGRAD_TILES / panel;
	size_t n = KEPT / (r->channels + r->in_channels); /* in a part */

	n = (n < FEWEST ? FEWEST : n) / panel;
	n = (n < most ? n : most) * panel;
	if (whole >= msd_native_threads() * panel) {
		const size_t share = round_up(whole / msd_native_threads(), panel);

		n = n < share ? n : share;
	}
	n = (whole + n - 1) / n; /* parts; equal ones may be fewer */
	j->n_step = round_up((whole + n - 1) / n, panel);
	j->n_parts = (whole + j->n_step - 1) / j->n_step;
	j->m_parts = 1;
	if (msd_native_threads() > 1 && j->n_parts < wanted)
		j->m_parts = (wanted + j->n_parts - 1) / j->n_parts;
	j->m_parts = j->m_parts < row_tiles ? j->m_parts : row_tiles;
	j->m_step = (row_tiles + j->m_parts - 1) / j->m_parts * j->k->rows;
}

/* A group has the share of a thread, and may begin and end within a row of tiles. */
static void set_group(struct job *j)
{
	const size_t threads = msd_native_threads();
	const size_t n = (j->n_parts + threads - 1) / threads;
	const size_t tiles = (n + 1) * j->n_step + j->k->lanes;
	const size_t most = tiles / j->shape.columns + 2;
	const size_t rows = most < j->shape.rows ? most : j->shape.rows;

	j->group = n * j->m_parts;
	j->plane_floats = round_up(j->r->in_channels * 4 * (rows + 1) * j->shape.row +
					   MSD_NATIVE_ROOM,
				   ALIGNED);
}

bool msd_native_winograd_convolve(const struct msd_native_winograd_run *r)
{
	struct job j = {.k = msd_native_kernels(), .r = r};

	set_shapes(&j);
	divide(&j);
	set_group(&j);
	const size_t most = j.n_step + j.k->lanes; /* tiles of the last part */
	j.scratch_floats = j.plane_floats +
			   round_up(VALUES * (values_size(&j, most) + most * j.m_step) +
					    *j.k->product_scratch,
				    ALIGNED);
	j.scratch = msd_native_scratch_take(msd_native_threads() * j.scratch_floats);
	if (j.scratch == NULL)
		return false;
	msd_native_each(j.n_parts * j.m_parts,
			(double)(j.n_step * r->in_channels) * (double)j.m_step *
				VALUES / 32,
			run_parts, &j);
	msd_native_scratch_give(j.scratch);
	return true;
}
