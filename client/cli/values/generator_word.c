#include "client/cli/values/generator_word.h"

#include <string.h>

#include "client/cli/values/generated.h"
#include "client/cli/values/parameters.h"
#include "proto/base/bytes.h"

/* For some types no random elements can be made. */
static const char *fill_of(const char *dtype)
{
	struct msd_dtype t;

	return msd_dtype_parse(dtype, strlen(dtype), &t) && msd_generated_has(t)
		       ? "rand"
		       : "zeros";
}

bool msd_generator_word(const modser_value *param, bool is_out,
			char ret[MSD_GENERATOR_WORD_MAX])
{
	const char *kind = msd_parameters_text(param, "kind");
	const char *dtype = msd_parameters_text(param, "dtype");
	const modser_value *shape = modser_find(param, "shape");
	struct msd_buf word = {0};

	if (kind == NULL || strcmp(kind, "tensor") != 0 || dtype == NULL ||
	    shape == NULL || shape->kind != MODSER_TUPLE)
		return false;
	msd_buf_printf(&word, "%s:%s[", is_out ? "out" : fill_of(dtype), dtype);
	for (size_t i = 0; i < shape->as.tuple.n; i++) {
		const modser_value *extent = &shape->as.tuple.item[i];
		const int64_t n = extent->kind == MODSER_INT ? extent->as.i : -1;

		/* An open extent is 1, the shortest possible input. */
		msd_buf_printf(&word, "%s%lld", i > 0 ? "," : "",
			       (long long)(n >= 0 ? n : 1));
	}
	msd_buf_printf(&word, "]");
	const bool fits = !word.bad && word.n < MSD_GENERATOR_WORD_MAX;
	if (fits) {
		memcpy(ret, word.p, word.n);
		ret[word.n] = '\0';
	}
	msd_buf_finish(&word);
	return fits;
}
