/*
 * Happy path: the first input with a variable extent determines its value for all
 * other tensors. Failures: two inputs conflict, an input conflicts with the model, or
 * the requested shape of an output conflicts with either. An extent of an output may
 * also be undetermined.
 */
#include "daemon/supervisor/http/infer/infer_shape.h"

#include <ctype.h>
#include <string.h>

#include "daemon/http/infer_json.h"
#include "proto/value.h"

void msd_infer_extents_init(struct msd_infer_extents *x,
			    const struct msd_function_signature *f)
{
	x->function = f;
	memset(x->known, 0, f->n_symbols * sizeof(*x->known));
}

/* The extent @word, if an input determines it. */
static const struct msd_infer_extent *find(const struct msd_infer_extents *x,
					   struct msd_span word)
{
	for (uint32_t i = 0; word.n > 0 && i < x->function->n_symbols; i++) {
		if (x->known[i].of != NULL &&
		    msd_span_same(x->function->symbols[i], word))
			return &x->known[i];
	}
	return NULL;
}

static bool is_of_word(uint8_t c)
{
	return isalnum(c) || c == '_';
}

static void skip_spaces(struct msd_cur *c)
{
	while (c->left > 0 && *c->p == ' ')
		(void)msd_cur_u8(c);
}

/* A number, or an extent that an input determines; -1: unknown. */
static int64_t take_factor(const struct msd_infer_extents *x, struct msd_cur *c)
{
	struct msd_span word = {c->p, 0};
	int64_t value = 0;

	while (word.n < c->left && is_of_word(c->p[word.n]))
		word.n++;
	(void)msd_cur_read(c, word.n);
	if (word.n == 0 || word.n > 18 || !isdigit(*word.p)) {
		const struct msd_infer_extent *known = find(x, word);
		return known != NULL ? known->value : -1;
	}
	for (size_t i = 0; i < word.n; i++) {
		if (!isdigit(word.p[i]))
			return -1;
		value = value * 10 + (word.p[i] - '0');
	}
	return value;
}

/* The product that starts here, up to the first character that is not part of it; -1:
 * unknown. */
static int64_t take_product(const struct msd_infer_extents *x, struct msd_cur *c)
{
	int64_t product = 1;

	for (;;) {
		skip_spaces(c);
		const int64_t factor = take_factor(x, c);
		if (factor < 0 || __builtin_mul_overflow(product, factor, &product))
			return -1;
		skip_spaces(c);
		if (c->left == 0 || *c->p != '*')
			return product;
		(void)msd_cur_u8(c);
	}
}

/* The value of @text, a sum of products of names and numbers; -1: unknown. */
static int64_t evaluate(const struct msd_infer_extents *x, struct msd_span text)
{
	struct msd_cur c = msd_cur_of(text);
	int64_t sum = 0;
	bool is_less = false;

	for (;;) {
		const int64_t product = take_product(x, &c);
		if (product < 0 ||
		    (is_less ? __builtin_sub_overflow(sum, product, &sum)
			     : __builtin_add_overflow(sum, product, &sum)))
			return -1;
		if (c.left == 0)
			return sum < 0 ? -1 : sum;
		const uint8_t sign = msd_cur_u8(&c);
		if (sign != '+' && sign != '-')
			return -1;
		is_less = sign == '-';
	}
}

static bool fits(const int64_t *shape, uint32_t ndim, const int64_t *extents,
		 uint32_t n_extents)
{
	bool is_fit = ndim == n_extents;

	for (uint32_t i = 0; is_fit && i < ndim; i++)
		is_fit = extents[i] < 0 || extents[i] == shape[i];
	return is_fit;
}

static bool is_known(const struct msd_wire_tensor *w)
{
	bool is_known = true;

	for (uint32_t i = 0; i < w->ndim; i++)
		is_known = is_known && w->shape[i] >= 0;
	return is_known;
}

/* The error contains the expected shape. */
static msd_err wrong_shape(struct msd_diag *d, const char *what, struct msd_span name,
			   const char *why, const int64_t *extents, uint32_t ndim)
{
	struct msd_buf text = {0};

	msd_infer_put_shape(&text, extents, ndim);
	msd_buf_put_u8(&text, 0);
	const msd_err err = msd_infer_wrong(d, what, name, "%s, %s", why,
					    text.bad ? "" : (const char *)text.p);
	msd_buf_finish(&text);
	return err;
}

static msd_err conflict(const struct msd_infer_extents *x, uint32_t symbol,
			const struct msd_infer_input *t, int64_t value,
			struct msd_diag *d)
{
	const struct msd_span name = x->function->symbols[symbol - 1];
	const struct msd_infer_extent *other = &x->known[symbol - 1];

	return msd_infer_wrong(d, "input", t->name,
			       "its extent %.*s is %lld, but %lld in input %.*s",
			       (int)(name.n < 64 ? name.n : 64), (const char *)name.p,
			       (long long)value, (long long)other->value,
			       (int)(other->of->name.n < 200 ? other->of->name.n : 200),
			       (const char *)other->of->name.p);
}

static msd_err not_of_model(const struct msd_signature_param *p,
			    const struct msd_infer_input *t, struct msd_diag *d)
{
	int64_t extents[MSD_MAX_NDIM];

	for (uint32_t i = 0; i < p->n_extents; i++)
		extents[i] = p->extents[i].value;
	return wrong_shape(d, "input", t->name, "its shape is not that of the model",
			   extents, p->n_extents);
}

msd_err msd_infer_shape_check(struct msd_infer_extents *x,
			      const struct msd_signature_param *p,
			      const struct msd_infer_input *t, struct msd_diag *d)
{
	if (p->kind != MSD_SIGNATURE_TENSOR || !p->has_shape)
		return MSD_OK;
	bool is_fit = t->ndim == p->n_extents;
	for (uint32_t i = 0; is_fit && i < t->ndim; i++) {
		const int64_t value = p->extents[i].value;
		is_fit = value < 0 || value == t->shape[i];
	}
	if (!is_fit)
		return not_of_model(p, t, d);
	for (uint32_t i = 0; i < t->ndim; i++) {
		const uint32_t symbol = p->extents[i].symbol;
		if (symbol == 0)
			continue;
		struct msd_infer_extent *known = &x->known[symbol - 1];
		if (known->of != NULL && known->value != t->shape[i])
			return conflict(x, symbol, t, t->shape[i], d);
		if (known->of == NULL)
			*known = (struct msd_infer_extent){t->shape[i], t};
	}
	return MSD_OK;
}

/* Returns false if no input determines one of its extents. */
static bool follow_names(const struct msd_infer_extents *x,
			 const struct msd_signature_param *p, struct msd_wire_tensor *w)
{
	bool has_all = true;

	for (uint32_t i = 0; i < w->ndim; i++) {
		const uint32_t symbol = p->extents[i].symbol;
		if (symbol == 0 || w->shape[i] >= 0)
			continue;
		const struct msd_infer_extent *known = &x->known[symbol - 1];
		w->shape[i] = known->of != NULL
				      ? known->value
				      : evaluate(x, x->function->symbols[symbol - 1]);
		has_all = has_all && w->shape[i] >= 0;
	}
	return has_all;
}

/* The requested shape of the output @name; NULL if not given. */
static const struct msd_infer_output *find_told(const struct msd_infer_ask *ask,
						struct msd_span name)
{
	for (uint32_t i = 0; i < ask->n_outputs; i++) {
		if (ask->outputs[i].has_shape &&
		    msd_span_same(ask->outputs[i].name, name))
			return &ask->outputs[i];
	}
	return NULL;
}

/* Use the extents of an input with the same number of dimensions; the function checks
 * them. */
static void follow_inputs(const struct msd_infer_ask *ask, struct msd_wire_tensor *w)
{
	for (uint32_t i = 0; i < ask->n_inputs; i++) {
		const struct msd_infer_input *t = &ask->inputs[i];
		if (fits(t->shape, t->ndim, w->shape, w->ndim)) {
			memcpy(w->shape, t->shape, sizeof(w->shape));
			return;
		}
	}
}

msd_err msd_infer_shape_complete(const struct msd_infer_extents *x,
				 const struct msd_signature_param *p,
				 const struct msd_infer_ask *ask,
				 struct msd_wire_tensor *w, struct msd_diag *d)
{
	const struct msd_infer_output *told = find_told(ask, p->name);
	const bool may_follow = follow_names(x, p, w);

	if (told != NULL) {
		if (!fits(told->shape, told->ndim, w->shape, w->ndim)) {
			return wrong_shape(d, "output", p->name,
					   "the requested shape does not match the "
					   "model and its inputs",
					   w->shape, w->ndim);
		}
		memcpy(w->shape, told->shape, sizeof(w->shape));
		return MSD_OK;
	}
	if (!is_known(w) && may_follow)
		follow_inputs(ask, w);
	return is_known(w) ? MSD_OK
			   : wrong_shape(d, "input", p->name,
					 "it is missing; the shape of this output "
					 "varies: give parameters.shape of the output",
					 w->shape, w->ndim);
}
