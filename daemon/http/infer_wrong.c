#include "daemon/http/infer_wrong.h"

#include <stdarg.h>
#include <stdio.h>

#define NAME_SHOWN 200u /* bytes of a name */
#define WHY_BYTES 1024u

msd_err msd_infer_wrong_as(struct msd_diag *d, msd_err err, const char *what,
			   struct msd_span name, const char *fmt, ...)
{
	char why[WHY_BYTES];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return msd_diag_set(d, err, "%s %.*s: %s", what,
			    (int)(name.n < NAME_SHOWN ? name.n : NAME_SHOWN),
			    (const char *)name.p, why);
}

void msd_infer_put_shape(struct msd_buf *out, const int64_t *shape, uint32_t ndim)
{
	msd_buf_printf(out, "[");
	for (uint32_t i = 0; i < ndim; i++) {
		msd_buf_printf(out, "%s", i > 0 ? "," : "");
		if (shape[i] < 0) {
			msd_buf_printf(out, "*");
		} else {
			msd_buf_printf(out, "%lld", (long long)shape[i]);
		}
	}
	msd_buf_printf(out, "]");
}
