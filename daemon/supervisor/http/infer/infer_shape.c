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

/* Iterator over the names of a tensor's extents. */
struct names {
	struct msd_cur left;
	bool has;
};

static struct names open_names(const struct msd_model_param *p, uint32_t ndim)
{
	struct names n = {0};
	uint32_t count;

	n.has = p->extents.n > 0 && msd_array_open(p->extents, &n.left, &count) &&
		count == ndim;
	return n;
}

/* "?" means that it is not known. */
static bool is_name(struct msd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (isalpha(s.p[i]))
			return true;
	}
	return false;
}

/* The name of the next extent; n is 0: no name. */
static struct msd_span next_name(struct names *n)
{
	struct msd_wire_value v;

	if (!n->has || msd_value_read(&n->left, &v, NULL) != MSD_OK ||
	    v.kind != MSD_K_STR || !is_name(v.as.str))
		return (struct msd_span){0};
	return v.as.str;
}

static const struct msd_infer_extent *find(const struct msd_infer_extents *x,
					   struct msd_span name)
{
	for (uint32_t i = 0; name.n > 0 && i < x->n; i++) {
		if (msd_span_same(x->known[i].name, name))
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

static msd_err bind(struct msd_infer_extents *x, struct msd_span name,
		    const struct msd_infer_input *t, int64_t value, struct msd_diag *d)
{
	const struct msd_infer_extent *other = find(x, name);

	if (other != NULL && other->value != value) {
		return msd_infer_wrong(
			d, "input", t->name,
			"its extent %.*s is %lld, but %lld in input %.*s",
			(int)(name.n < 64 ? name.n : 64), (const char *)name.p,
			(long long)value, (long long)other->value,
			(int)(other->of->name.n < 200 ? other->of->name.n : 200),
			(const char *)other->of->name.p);
	}
	if (other == NULL && name.n > 0 && x->n < MSD_INFER_EXTENTS) {
		x->known[x->n++] = (struct msd_infer_extent){
			.name = name, .value = value, .of = t};
	}
	return MSD_OK;
}

msd_err msd_infer_shape_check(struct msd_infer_extents *x,
			      const struct msd_model_param *p,
			      const struct msd_infer_input *t, struct msd_diag *d)
{
	int64_t extents[MSD_MAX_NDIM];
	uint32_t ndim;
	msd_err err = MSD_OK;

	if (p->is_scalar || !msd_model_read_extents(p->shape, &ndim, extents))
		return MSD_OK;
	if (!fits(t->shape, t->ndim, extents, ndim)) {
		return wrong_shape(d, "input", t->name,
				   "its shape is not that of the model", extents, ndim);
	}
	struct names names = open_names(p, ndim);
	for (uint32_t i = 0; err == MSD_OK && i < ndim; i++)
		err = bind(x, next_name(&names), t, t->shape[i], d);
	return err;
}

/* Returns false if no input determines one of its extents. */
static bool follow_names(const struct msd_infer_extents *x,
			 const struct msd_model_param *p, struct msd_wire_tensor *w)
{
	struct names names = open_names(p, w->ndim);
	bool has_all = true;

	for (uint32_t i = 0; i < w->ndim; i++) {
		const struct msd_span name = next_name(&names);
		if (name.n == 0 || w->shape[i] >= 0)
			continue;
		const struct msd_infer_extent *known = find(x, name);
		w->shape[i] = known != NULL ? known->value : evaluate(x, name);
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
				 const struct msd_model_param *p,
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
