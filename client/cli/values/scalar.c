#include "client/cli/values/scalar.h"

#include <string.h>

#include "client/cli/values/parameters.h"
#include "proto/dtype.h"

#define EXACT 1e15 /* below it a float without a fraction is an exact integer */

static bool is_int(const modser_value *v)
{
	return v->kind == MODSER_INT || v->kind == MODSER_BOOL;
}

/* True if @v is in the range of the integer parameter @param. */
static bool holds(const modser_value *param, const modser_value *v)
{
	const char *dtype = msd_parameters_text(param, "dtype");
	struct msd_dtype t;

	if (v->kind == MODSER_BOOL || dtype == NULL ||
	    !msd_dtype_parse(dtype, strlen(dtype), &t) || t.bits >= 64)
		return true;
	const bool is_signed = t.code == MSD_DT_INT;
	const int64_t limit = (int64_t)1 << (t.bits - (is_signed ? 1 : 0));

	return v->as.i < limit && v->as.i >= (is_signed ? -limit : 0);
}

bool msd_scalar_fits(const modser_value *v, const modser_value *param)
{
	if (msd_parameters_is(param, "int"))
		return is_int(v) && holds(param, v);
	if (msd_parameters_is(param, "bool"))
		return is_int(v);
	if (msd_parameters_is(param, "float"))
		return is_int(v) || v->kind == MODSER_FLOAT;
	if (msd_parameters_is(param, "str"))
		return v->kind == MODSER_STR;
	return !msd_parameters_is(param, "shape") || v->kind == MODSER_SHAPE;
}

void msd_scalar_put(struct msd_buf *out, const modser_value *v,
		    const modser_value *param)
{
	static const struct {
		const char *kind, *form;
	} forms[] = {{"int", "an integer, such as 2"},
		     {"float", "a number, such as 2.5"},
		     {"bool", "true or false"},
		     {"str", "str:TEXT"},
		     {"shape", "shape:[1,2]"}};

	if (msd_parameters_is(param, "int") && v->kind == MODSER_FLOAT &&
	    v->as.f > -EXACT && v->as.f < EXACT &&
	    v->as.f == (double)(int64_t)v->as.f) {
		msd_buf_printf(out, "%lld", (long long)v->as.f);
		return;
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (msd_parameters_is(param, forms[i].kind))
			msd_buf_printf(out, "%s", forms[i].form);
	}
	if (msd_parameters_is(param, "int") && is_int(v)) {
		msd_buf_printf(out, ", that %s holds",
			       msd_parameters_text(param, "dtype"));
	}
}
