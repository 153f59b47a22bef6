#include "proto/name.h"

#include <string.h>

#include "proto/limits.h"

static bool is_alnum(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

bool msd_name_valid(struct msd_span name)
{
	if (name.n == 0 || name.n > MSD_MAX_NAME_BYTES || !is_alnum(name.p[0]))
		return false;
	for (size_t i = 1; i < name.n; i++) {
		uint8_t c = name.p[i];

		if (!is_alnum(c) && c != '.' && c != '_' && c != '-')
			return false;
	}
	return true;
}

msd_err msd_name_check(struct msd_span name, struct msd_diag *d)
{
	if (msd_name_valid(name))
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BAD_REQUEST,
		"module name \"%.*s\": expected [A-Za-z0-9][A-Za-z0-9._-]*, at "
		"most %u bytes",
		(int)(name.n < 80 ? name.n : 80), (const char *)name.p,
		MSD_MAX_NAME_BYTES);
}

bool msd_target_split(struct msd_span target, struct msd_span *ret_module,
		      struct msd_span *ret_function)
{
	const uint8_t *colon = target.n > 0 ? memchr(target.p, ':', target.n) : NULL;

	if (colon == NULL)
		return false;
	struct msd_span module = {.p = target.p, .n = (size_t)(colon - target.p)};
	struct msd_span function = {.p = colon + 1, .n = target.n - module.n - 1};
	if (!msd_name_valid(module) || function.n == 0 ||
	    function.n > MSD_MAX_FUNC_NAME_BYTES)
		return false;
	*ret_module = module;
	*ret_function = function;
	return true;
}
