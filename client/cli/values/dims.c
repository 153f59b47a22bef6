#include "client/cli/values/dims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool msd_dims_parse(const char *text, int64_t shape[static MSD_MAX_NDIM],
		    uint32_t *ret_ndim)
{
	const char *p = text;
	uint32_t ndim = 0;

	if (*p++ != '[')
		return false;
	p += strspn(p, " ");
	while (*p != ']') {
		const char *number = *p == '-' ? p + 1 : p;
		char *end;

		if (ndim == MSD_MAX_NDIM || *number < '0' || *number > '9')
			return false;
		errno = 0;
		shape[ndim++] = strtoll(p, &end, 10);
		p = end + strspn(end, " ");
		if (errno == ERANGE || (*p != ',' && *p != ']'))
			return false;
		if (*p == ',') {
			p += 1 + strspn(p + 1, " ");
			if (*p == ']')
				return false;
		}
	}
	*ret_ndim = ndim;
	return p[1] == '\0';
}

void msd_dims_put(struct msd_buf *out, const int64_t *dim, uint32_t ndim)
{
	msd_buf_put_u8(out, '[');
	for (uint32_t i = 0; i < ndim; i++)
		msd_buf_printf(out, "%s%lld", i > 0 ? ", " : "", (long long)dim[i]);
	msd_buf_put_u8(out, ']');
}
