/* Kernels of the fixtures, each run whole: threads beyond the grid are not there. */
#include <math.h>
#include <string.h>

#include "stub.h"

static int64_t n_threads(const struct work *w)
{
	return (int64_t)w->grid[0] * w->block[0];
}

static int64_t at_most(const struct work *w, int64_t n)
{
	return n < n_threads(w) ? n : n_threads(w);
}

static float *floats(const struct work *w, size_t i, int64_t n)
{
	return memory_at(w->params[i].u64, n > 0 ? (size_t)n * sizeof(float) : 0);
}

/* (A, B, n) */
static bool addone(const struct work *w)
{
	const int64_t n = at_most(w, w->params[2].i64);
	const float *a = floats(w, 0, n);
	float *b = floats(w, 1, n);

	for (int64_t i = 0; a != NULL && b != NULL && i < n; i++)
		b[i] = a[i] + 1.0f;
	return a != NULL && b != NULL;
}

/* (B, A, n, stride of A, stride of B) */
static bool addone0(const struct work *w)
{
	const int64_t n = at_most(w, w->params[2].i32);
	float *b = floats(w, 0, n);
	const float *a = floats(w, 1, n);

	for (int64_t i = 0; a != NULL && b != NULL && i < n; i++)
		b[i * w->params[4].i32] = a[i * w->params[3].i32] + 1.0f;
	return a != NULL && b != NULL;
}

/* (A, C, alpha, c, n) */
static bool axpb(const struct work *w)
{
	const int64_t n = at_most(w, w->params[4].i64);
	const float *a = floats(w, 0, n);
	float *c = floats(w, 1, n);

	for (int64_t i = 0; a != NULL && c != NULL && i < n; i++)
		c[i] = a[i] * w->params[2].f32;
	return a != NULL && c != NULL;
}

/* (B, C, beta, c, n) */
static bool axpb_1(const struct work *w)
{
	const int64_t n = at_most(w, w->params[4].i64);
	float *b = floats(w, 0, n);
	const float *c = floats(w, 1, n);

	for (int64_t i = 0; b != NULL && c != NULL && i < n; i++)
		b[i] = c[i] + (float)w->params[2].i32;
	return b != NULL && c != NULL;
}

/* (C, A, n, stride, alpha, beta, stride) */
static bool scale_shift0(const struct work *w)
{
	const int64_t n = at_most(w, w->params[2].i32);
	float *c = floats(w, 0, n);
	const float *a = floats(w, 1, n);

	for (int64_t i = 0; a != NULL && c != NULL && i < n; i++)
		c[i] = a[i] * w->params[4].f32 + (float)w->params[5].i64;
	return a != NULL && c != NULL;
}

/* (A, B): each block's part reversed */
static bool reverse(const struct work *w)
{
	const unsigned n = w->block[0];
	const float *a = floats(w, 0, n_threads(w));
	float *b = floats(w, 1, n_threads(w));

	for (unsigned g = 0; a != NULL && b != NULL && g < w->grid[0]; g++) {
		for (unsigned i = 0; i < n; i++)
			b[g * n + i] = a[g * n + n - 1 - i];
	}
	return a != NULL && b != NULL;
}

/* What is multiplied: m x k by k x n, which may be stored as n x k; clipped below. */
struct product {
	int64_t m, n, k;
	bool is_b_transposed;
	float floor;
};

/* out = a b + bias; bias may be NULL */
static bool product(struct product p, float *out, const float *a, const float *b,
		    const float *bias)
{
	const int64_t n = p.n, k = p.k;

	if (out == NULL || a == NULL || b == NULL)
		return false;
	for (int64_t i = 0; i < p.m; i++) {
		for (int64_t j = 0; j < n; j++) {
			float sum = 0.0f;
			for (int64_t x = 0; x < k; x++) {
				sum += a[i * k + x] *
				       b[p.is_b_transposed ? j * k + x : x * n + j];
			}
			sum += bias != NULL ? bias[j] : 0.0f;
			out[i * n + j] = sum > p.floor ? sum : p.floor;
		}
	}
	return true;
}

/* (C, A, B), 64 x 64 */
static bool matmul0(const struct work *w)
{
	return product((struct product){64, 64, 64, false, -INFINITY},
		       floats(w, 0, 4096), floats(w, 1, 4096), floats(w, 2, 4096),
		       NULL);
}

/* (x, weight, out, bias); a row for each block of the second axis */
static bool dense_relu0(const struct work *w)
{
	const int64_t m = w->grid[1];

	return product((struct product){m, 32, 16, true, 0.0f}, floats(w, 2, 32 * m),
		       floats(w, 0, 16 * m), floats(w, 1, 512), floats(w, 3, 32));
}

static bool dense0(const struct work *w)
{
	const int64_t m = w->grid[1];

	return product((struct product){m, 10, 32, true, -INFINITY},
		       floats(w, 2, 10 * m), floats(w, 0, 32 * m), floats(w, 1, 320),
		       floats(w, 3, 10));
}

/* (out, bias, transposed weight, x) */
static bool matmul_relu(const struct work *w)
{
	return product((struct product){3, 64, 32, false, 0.0f}, floats(w, 0, 192),
		       floats(w, 3, 96), floats(w, 2, 2048), floats(w, 1, 64));
}

static bool matmul1(const struct work *w)
{
	return product((struct product){3, 10, 64, false, -INFINITY}, floats(w, 0, 30),
		       floats(w, 3, 192), floats(w, 2, 640), floats(w, 1, 10));
}

bool softmax_rows(float *out, const float *in, int64_t rows, int columns)
{
	if (out == NULL || in == NULL)
		return false;
	for (int64_t r = 0; r < rows; r++, out += columns, in += columns) {
		float most = in[0];
		float sum = 0.0f;
		for (int i = 1; i < columns; i++)
			most = in[i] > most ? in[i] : most;
		for (int i = 0; i < columns; i++)
			sum += expf(in[i] - most);
		for (int i = 0; i < columns; i++)
			out[i] = expf(in[i] - most) / sum;
	}
	return true;
}

static bool softmax0(const struct work *w)
{
	const int64_t m = w->grid[0];

	return softmax_rows(floats(w, 1, 10 * m), floats(w, 0, 10 * m), m, 10);
}

static bool softmax3(const struct work *w)
{
	return softmax_rows(floats(w, 0, 30), floats(w, 1, 30), 3, 10);
}

static bool transpose(const struct work *w, int64_t rows, int64_t columns)
{
	float *out = floats(w, 0, rows * columns);
	const float *in = floats(w, 1, rows * columns);

	if (out == NULL || in == NULL)
		return false;
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < columns; j++)
			out[j * rows + i] = in[i * columns + j];
	}
	return true;
}

static bool transpose_fc1(const struct work *w)
{
	return transpose(w, 64, 32);
}

static bool transpose_fc2(const struct work *w)
{
	return transpose(w, 10, 64);
}

/* For tests of the launch itself. */
static bool nothing(const struct work *w)
{
	(void)w;
	return true;
}

/* (p, i, u, l, f, d): what arrived, as doubles */
static bool show(const struct work *w)
{
	double *out = memory_at(w->params[0].u64, 5 * sizeof(*out));

	if (out == NULL)
		return false;
	out[0] = w->params[1].i32;
	out[1] = (uint32_t)w->params[2].i32;
	out[2] = (double)w->params[3].i64;
	out[3] = w->params[4].f32;
	out[4] = w->params[5].f64;
	return true;
}

static bool map(const struct work *w)
{
	note_map(w->params[0].u64);
	return true;
}

static const struct kernel kernels[] = {
	{"addone_kernel", "ppl", addone},
	{"addone_kernel0", "ppiii", addone0},
	{"axpb_kernel", "ppfll", axpb},
	{"axpb_kernel_1", "ppill", axpb_1},
	{"scale_shift_kernel0", "ppiifli", scale_shift0},
	{"matmul_kernel0", "ppp", matmul0},
	{"rev256_kernel", "pp", reverse},
	{"reverse_dyn_kernel0", "pp", reverse},
	{"tvmgen_default_fused_nn_dense_add_nn_relu_kernel0", "pppp", dense_relu0},
	{"tvmgen_default_fused_nn_dense_add_kernel0", "pppp", dense0},
	{"tvmgen_default_fused_nn_softmax_kernel0", "pp", softmax0},
	{"fused_matmul_add_relu_kernel", "pppp", matmul_relu},
	{"fused_matmul1_add1_kernel", "pppp", matmul1},
	{"softmax_kernel", "pp", softmax3},
	{"transpose_kernel", "pp", transpose_fc1},
	{"transpose1_kernel", "pp", transpose_fc2},
	{"stub_nothing", "", nothing},
	{"stub_show", "piilfd", show},
	{"stub_map", "T", map},
};

const struct kernel *kernel_find(const char *name, const void *image, size_t n)
{
	static const char convnet[] = "fused_nn_conv2d";

	if (memmem(image, n, convnet, sizeof(convnet) - 1) != NULL)
		return convnet_kernel_find(name);
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	}
	return own_kernel_find(name);
}
