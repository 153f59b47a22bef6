#include "runtime/engine/reference/element/activation.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static double f_relu(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x > 0 ? x : 0;
}

static double f_tanh(double x, double a, double b)
{
	(void)a;
	(void)b;
	return tanh(x);
}

static double f_sigmoid(double x, double a, double b)
{
	(void)a;
	(void)b;
	return 1 / (1 + exp(-x));
}

static double f_affine(double x, double a, double b)
{
	return a * x + b;
}

static double f_leaky(double x, double a, double b)
{
	(void)b;
	return x >= 0 ? x : a * x;
}

static double f_thresholded(double x, double a, double b)
{
	(void)b;
	return x >= a ? x : 0;
}

static double f_scaled_tanh(double x, double a, double b)
{
	return a * tanh(b * x);
}

static double f_hard_sigmoid(double x, double a, double b)
{
	const double y = a * x + b;

	return y < 0 ? 0 : y > 1 ? 1 : y;
}

static double f_elu(double x, double a, double b)
{
	(void)b;
	return x >= 0 ? x : a * expm1(x);
}

static double f_softsign(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x / (1 + fabs(x));
}

static double f_softplus(double x, double a, double b)
{
	(void)a;
	(void)b;
	return log1p(exp(x));
}

static const struct {
	const char *name;
	struct msd_activation f;
} rows[] = {
	{"Relu", {f_relu, 0, 0}},
	{"Tanh", {f_tanh, 0, 0}},
	{"Sigmoid", {f_sigmoid, 0, 0}},
	{"Affine", {f_affine, 1, 0}},
	{"LeakyRelu", {f_leaky, 0.01, 0}},
	{"ThresholdedRelu", {f_thresholded, 1, 0}},
	{"ScaledTanh", {f_scaled_tanh, 1, 1}},
	{"HardSigmoid", {f_hard_sigmoid, 0.2, 0.5}},
	{"Elu", {f_elu, 1, 0}},
	{"Softsign", {f_softsign, 0, 0}},
	{"Softplus", {f_softplus, 0, 0}},
};

double msd_activate(const struct msd_activation *f, double x)
{
	return f->f(x, f->a, f->b);
}

/* Token @i of a space-separated text; "" if there are fewer. */
static const char *word(const char *text, size_t i, size_t *ret_n)
{
	for (; i > 0 && *text != '\0'; i--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	*ret_n = strcspn(text, " ");
	return text;
}

msd_err msd_activation_read(const struct msd_op_recurrent *r, size_t i,
			    const char *otherwise, struct msd_activation *ret,
			    struct msd_diag *d)
{
	const char *list = r->activations;
	size_t n = strlen(otherwise);
	const char *name = list[0] != '\0' ? word(list, i, &n) : otherwise;

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		if (strlen(rows[k].name) != n ||
		    strncasecmp(rows[k].name, name, n) != 0)
			continue;
		*ret = rows[k].f;
		if (i < r->alpha.n)
			ret->a = (double)r->alpha.at[i];
		if (i < r->beta.n)
			ret->b = (double)r->beta.at[i];
		return MSD_OK;
	}
	return msd_diag_set(d, MSD_UNSUPPORTED, "activation \"%.*s\" is not known",
			    (int)(n < 64 ? n : 64), name);
}
