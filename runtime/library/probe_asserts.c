#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"
#include "runtime/library/assert_text.h"
#include "runtime/library/probe.h"
#include "runtime/module/signature.h"
#include "runtime/value/error.h"

/*
 * Probing of code up to 0.23. Arity and kinds are read from its texts:
 *   f: num_args should be 2        f: Expect arg[1] to be pointer|int|float|bool
 * The rest is learned from the errors of calls with tensors that are completely
 * wrong:
 *   arg0.ndim is expected to equal 1
 *   arg0.dtype is expected to be float32
 *   Argument arg0.shape[1] has an unsatisfied constraint: (64 == int32(arg0.shape[1]))
 * Each call corrects the property that the last error names. The last tensor keeps a
 * dtype that no function has, so a check fails in every call and no body runs. All
 * free extents are 0: if a body runs after all, it has nothing to do.
 */
#define MAX_ARGS 256    /* functions with more are not probed */
#define WRONG_NDIM 63   /* no buffer has that rank */
#define SUBJECT_MAX 128 /* "f.A" */
static const struct msd_dtype wrong_dtype = {MSD_DT_HANDLE, 64, 513};

struct dummy {
	struct msd_dltensor t;
	int64_t shape[WRONG_NDIM + 1];
	char subject[SUBJECT_MAX]; /* its name in the texts; "" until an error names it
				    */
};

struct probe {
	struct msd_lib_func *f;
	struct msd_signature *s;
	struct dummy *dummies; /* one per parameter */
	struct msd_any *args;
	size_t last_tensor; /* index of the last tensor parameter */
	void *data;         /* memory of the dummies */
};

#define DATA_BYTES 4096u
#define CONSTRAINT " has an unsatisfied constraint"

/*
 * Read the kinds from the texts; false if one is missing, and then nothing is called.
 */
static bool read_kinds(struct probe *p, const struct msd_probe_texts *texts,
		       bool *ret_any)
{
	char tail[64];

	*ret_any = false;
	for (size_t i = 0; i < p->s->n_params; i++) {
		struct msd_param *param = &p->s->params[i];
		(void)snprintf(tail, sizeof(tail), ": Expect arg[%zu] to be ", i);
		struct msd_span kind =
			msd_probe_find_text(texts, p->f->rules.info.name, tail);
		if (kind.p == NULL)
			return false;
		if (msd_span_begins(kind, "int")) {
			param->kind = MSD_P_INT;
		} else if (msd_span_begins(kind, "float")) {
			param->kind = MSD_P_FLOAT;
		} else if (msd_span_begins(kind, "bool")) {
			param->kind = MSD_P_BOOL;
		} else if (msd_span_begins(kind, "pointer")) {
			param->kind = MSD_P_TENSOR;
		} else {
			return false;
		}
		if (param->kind == MSD_P_TENSOR) {
			p->last_tensor = i;
			*ret_any = true;
		}
	}
	return true;
}

static void prepare(struct probe *p)
{
	for (size_t i = 0; i < p->s->n_params; i++) {
		struct dummy *y = &p->dummies[i];
		y->t = (struct msd_dltensor){.data = p->data,
					     .device = {.type = MSD_DEV_CPU},
					     .ndim = WRONG_NDIM,
					     .dtype = wrong_dtype,
					     .shape = y->shape};
		switch (p->s->params[i].kind) {
		case MSD_P_INT:
			p->args[i] = msd_int(0);
			break;
		case MSD_P_FLOAT:
			p->args[i] = msd_float(0);
			break;
		case MSD_P_BOOL:
			p->args[i] = msd_bool(false);
			break;
		case MSD_P_TENSOR:
		case MSD_P_UNKNOWN:
		case MSD_P_STR:
		case MSD_P_SHAPE:
		case MSD_P_TUPLE:
		case MSD_P_OTHER:
			p->args[i] = (struct msd_any){.type = MSD_T_DLTENSOR,
						      .as.dl = &y->t};
			break;
		}
	}
}

static bool is_subject_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/*
 * The parameter that a text refers to, by the identifier that ends at @end: "arg2",
 * or "f.A". The latter is the first tensor without a name so far, because checks
 * follow the order of the parameters.
 */
static bool subject_before(struct probe *p, const char *text, const char *end,
			   size_t *ret_param)
{
	char subject[SUBJECT_MAX];
	const char *begin = end;
	int64_t index;

	while (begin > text && is_subject_char(begin[-1]))
		begin--;
	const size_t n = (size_t)(end - begin);
	if (n == 0 || n >= sizeof(subject))
		return false;
	memcpy(subject, begin, n);
	subject[n] = '\0';
	if (n > 3 && memcmp(subject, "arg", 3) == 0 &&
	    msd_text_number(msd_span_of(subject + 3), &index)) {
		*ret_param = (size_t)index;
		return *ret_param < p->s->n_params;
	}
	for (size_t i = 0; i < p->s->n_params; i++) {
		struct dummy *y = &p->dummies[i];
		if (p->s->params[i].kind != MSD_P_TENSOR)
			continue;
		if (y->subject[0] == '\0')
			memcpy(y->subject, subject, n + 1);
		if (strcmp(y->subject, subject) == 0) {
			*ret_param = i;
			return true;
		}
	}
	return false;
}

static bool learn_ndim(struct probe *p, size_t i, const char *text, const char *value)
{
	struct msd_param *param = &p->s->params[i];
	int64_t ndim;

	(void)text;
	if (param->ndim >= 0 || !msd_text_number(msd_span_of(value), &ndim) ||
	    ndim >= WRONG_NDIM)
		return false;
	param->shape = calloc((size_t)ndim + 1, sizeof(*param->shape));
	if (param->shape == NULL)
		return false;
	for (int64_t k = 0; k < ndim; k++)
		param->shape[k] = -1;
	param->ndim = (int32_t)ndim;
	p->dummies[i].t.ndim = (int32_t)ndim;
	return true;
}

static bool learn_dtype(struct probe *p, size_t i, const char *text, const char *value)
{
	struct msd_param *param = &p->s->params[i];
	size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_");
	struct msd_dtype t;

	(void)text;
	if (!msd_dtype_parse(value, n, &t))
		return false;
	const bool is_bool = t.code == MSD_DT_BOOL;
	if (is_bool && p->f->rules.bool_style != MSD_BOOL_BOOL8)
		t = (struct msd_dtype){MSD_DT_UINT, 1, t.lanes};
	if (param->has_dtype) { /* rejects the dtype that it requires: bool of the other
				   style? */
		if (!is_bool || p->f->rules.bool_style != MSD_BOOL_UNKNOWN)
			return false;
		p->f->rules.bool_style = MSD_BOOL_BOOL8;
		t = (struct msd_dtype){MSD_DT_BOOL, 8, t.lanes};
	}
	param->has_dtype = true;
	param->dtype = t;
	if (i == p->last_tensor)
		return false; /* keeps its wrong dtype: this was the last call */
	p->dummies[i].t.dtype = t;
	return true;
}

/* "1] has an unsatisfied constraint..." */
static bool learn_extent(struct probe *p, size_t i, const char *text, const char *rest)
{
	struct msd_param *param = &p->s->params[i];
	const char *after = strchr(rest, ']');
	int64_t axis;
	int64_t extent;

	if (after == NULL || strncmp(after + 1, CONSTRAINT, strlen(CONSTRAINT)) != 0 ||
	    !msd_text_number(msd_span_of(rest), &axis) || axis >= param->ndim ||
	    param->shape[axis] >= 0 ||
	    !msd_text_constraint(text, after + 1 + strlen(CONSTRAINT), &extent))
		return false;
	param->shape[axis] = extent;
	p->dummies[i].shape[axis] = extent;
	return true;
}

/* The code is for another device. */
static bool learn_device(struct probe *p, size_t i, const char *text, const char *rest)
{
	struct msd_device *device = &p->dummies[i].t.device;
	int64_t type;

	if (!msd_text_constraint(text, rest, &type) || type > INT32_MAX ||
	    device->type == type)
		return false;
	device->type = (int32_t)type;
	return true;
}

/* Correct the property that @text complains about; false ends the probe. */
static bool learn(struct probe *p, const char *text)
{
	static const struct {
		const char *mark;
		bool (*take)(struct probe *p, size_t i, const char *text,
			     const char *rest);
	} rules[] = {
		{".ndim is expected to equal ", learn_ndim},
		{".dtype is expected to be ", learn_dtype},
		{".shape[", learn_extent},
		{".device_type" CONSTRAINT, learn_device},
	};
	const char *argument =
		strstr(text, "Argument "); /* the text, not the condition */
	size_t i;

	for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
		const char *at =
			strstr(argument != NULL ? argument : text, rules[r].mark);
		if (at == NULL)
			continue;
		if (!subject_before(p, text, at, &i) ||
		    p->s->params[i].kind != MSD_P_TENSOR)
			return false;
		return rules[r].take(p, i, text, at + strlen(rules[r].mark));
	}
	return false;
}

static void ask(struct probe *p)
{
	const size_t limit = p->s->n_params * 16 + 16;
	bool more = true;

	for (size_t round = 0; more && round < limit; round++) {
		struct msd_function *fn = &p->f->thunk.fn;
		struct msd_any ret = {0};
		struct msd_diag said = {0};
		msd_abi_clear();
		if (fn->call(fn, p->args, (int32_t)p->s->n_params, &ret) == 0) {
			msd_any_drop(&ret); /* the function has no useful checks */
			return;
		}
		(void)msd_abi_fetch_error(&said);
		more = learn(p, msd_diag_text(&said));
		msd_diag_finish(&said);
	}
}

/* "f.A" names the parameter A. */
static void keep_names(struct probe *p)
{
	for (size_t i = 0; i < p->s->n_params; i++) {
		const char *dot = strrchr(p->dummies[i].subject, '.');
		if (dot != NULL && dot[1] != '\0')
			p->s->params[i].name = strdup(dot + 1);
	}
}

msd_err msd_probe_asserts(struct msd_lib_func *f, const struct msd_probe_texts *texts,
			  struct msd_diag *d)
{
	const char *name = f->rules.info.name;
	struct msd_span arity =
		msd_probe_find_text(texts, name, ": num_args should be ");
	struct probe p = {.f = f, .s = &f->signature};
	bool has_tensor;
	int64_t n;
	msd_err err;

	if (!msd_text_number(arity, &n) || n > MAX_ARGS)
		return MSD_OK;
	err = msd_signature_init(p.s, (size_t)n, d);
	if (err != MSD_OK)
		return err;
	if (read_kinds(&p, texts, &has_tensor) && has_tensor) {
		p.dummies = calloc((size_t)n + 1, sizeof(*p.dummies));
		p.args = calloc((size_t)n + 1, sizeof(*p.args));
		p.data = aligned_alloc(MSD_TENSOR_ALIGN, DATA_BYTES);
		if (p.dummies != NULL && p.args != NULL && p.data != NULL) {
			memset(p.data, 0, DATA_BYTES);
			prepare(&p);
			ask(&p);
			keep_names(&p);
		}
		free(p.dummies);
		free(p.args);
		free(p.data);
	}
	return msd_signature_compose(p.s, name, d);
}
