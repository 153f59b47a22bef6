/* Kernels of the convolution fixture (convnet_cuda), each run whole. */
#include <math.h>
#include <string.h>

#include "stub.h"

static float *floats(const struct work *w, size_t i, size_t n)
{
	return memory_at(w->params[i].u64, n * sizeof(float));
}

/* One output of a convolution by 3 x 3 with a border of zeros; planes of n x n. */
static float tap_sum(const float *in, const float *weights, int channels, int n, int y,
		     int x)
{
	float sum = 0.0f;

	for (int c = 0; c < channels; c++) {
		for (int k = 0; k < 9; k++) {
			const int row = y + k / 3 - 1;
			const int column = x + k % 3 - 1;
			if (row < 0 || row >= n || column < 0 || column >= n)
				continue;
			sum += in[(c * n + row) * n + column] * weights[c * 9 + k];
		}
	}
	return sum;
}

static bool convolve(float *out, const float *in, const float *weights,
		     const float *bias, int channels, int filters, int n)
{
	if (out == NULL || in == NULL || weights == NULL)
		return false;
	for (int f = 0; f < filters; f++) {
		for (int i = 0; i < n * n; i++) {
			const float v = tap_sum(in, weights + f * channels * 9,
						channels, n, i / n, i % n) +
					(bias != NULL ? bias[f] : 0.0f);
			out[f * n * n + i] = v > 0.0f ? v : 0.0f;
		}
	}
	return true;
}

/* (in, weights, out, bias) */
static bool conv_add_relu(const struct work *w)
{
	const float *bias = floats(w, 3, 8);

	return bias != NULL && convolve(floats(w, 2, 2048), floats(w, 0, 768),
					floats(w, 1, 216), bias, 3, 8, 16);
}

/* (in, weights, out) */
static bool conv_relu(const struct work *w)
{
	return convolve(floats(w, 2, 1024), floats(w, 0, 512), floats(w, 1, 1152), NULL,
			8, 16, 8);
}

/* (in, out): 8 planes of 16 x 16, the most of 2 x 2 */
static bool max_pool(const struct work *w)
{
	const float *in = floats(w, 0, 2048);
	float *out = floats(w, 1, 512);

	for (int i = 0; in != NULL && out != NULL && i < 512; i++) {
		const float *at = in + i / 64 * 256 + i / 8 % 8 * 32 + i % 8 * 2;
		out[i] = fmaxf(fmaxf(at[0], at[1]), fmaxf(at[16], at[17]));
	}
	return in != NULL && out != NULL;
}

/* (in, out): sums of 16 planes of 64 */
static bool pool_sums(const struct work *w)
{
	const float *in = floats(w, 0, 1024);
	float *out = floats(w, 1, 16);

	for (int i = 0; in != NULL && out != NULL && i < 16; i++) {
		out[i] = 0.0f;
		for (int k = 0; k < 64; k++)
			out[i] += in[i * 64 + k];
	}
	return in != NULL && out != NULL;
}

/* (out, sums) */
static bool pool_means(const struct work *w)
{
	float *out = floats(w, 0, 16);
	const float *in = floats(w, 1, 16);

	for (int i = 0; in != NULL && out != NULL && i < 16; i++)
		out[i] = in[i] / 64.0f;
	return in != NULL && out != NULL;
}

/* (out, in) */
static bool copy16(const struct work *w)
{
	float *out = floats(w, 0, 16);
	const float *in = floats(w, 1, 16);

	if (in == NULL || out == NULL)
		return false;
	memmove(out, in, 16 * sizeof(*out));
	return true;
}

/* (x, weights, out): 16 to 5 */
static bool dense(const struct work *w)
{
	const float *x = floats(w, 0, 16);
	const float *weights = floats(w, 1, 80);
	float *out = floats(w, 2, 5);

	if (x == NULL || weights == NULL || out == NULL)
		return false;
	for (int i = 0; i < 5; i++) {
		out[i] = 0.0f;
		for (int k = 0; k < 16; k++)
			out[i] += x[k] * weights[i * 16 + k];
	}
	return true;
}

/* (in, out): 5 */
static bool softmax(const struct work *w)
{
	return softmax_rows(floats(w, 1, 5), floats(w, 0, 5), 1, 5);
}

static const struct kernel kernels[] = {
	{"tvmgen_default_fused_nn_conv2d_add_nn_relu_kernel0", "pppp", conv_add_relu},
	{"tvmgen_default_fused_nn_conv2d_nn_relu_kernel0", "ppp", conv_relu},
	{"tvmgen_default_fused_nn_max_pool2d_kernel0", "pp", max_pool},
	{"tvmgen_default_fused_nn_global_avg_pool2d_kernel0", "pp", pool_sums},
	{"tvmgen_default_fused_nn_global_avg_pool2d_kernel1", "pp", pool_means},
	{"tvmgen_default_fused_nn_batch_flatten_kernel0", "pp", copy16},
	{"tvmgen_default_fused_reshape_kernel0", "pp", copy16},
	{"tvmgen_default_fused_nn_dense_kernel0", "ppp", dense},
	{"tvmgen_default_fused_nn_softmax_kernel0", "pp", softmax},
};

const struct kernel *convnet_kernel_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	}
	return NULL;
}
