#include "daemon/http/infer_split.h"

#include "daemon/http/infer_ask.h"

bool msd_infer_split(struct msd_span field, struct msd_span body,
		     struct msd_span *ret_text, struct msd_span *ret_behind)
{
	size_t n = field.p != NULL ? 0 : body.n;

	for (size_t i = 0; field.p != NULL && i < field.n; i++) {
		if (field.p[i] < '0' || field.p[i] > '9' || n > body.n)
			return false;
		n = 10 * n + (size_t)(field.p[i] - '0');
	}
	if (n > body.n || n > MSD_INFER_JSON_BYTES || (field.p != NULL && field.n == 0))
		return false;
	*ret_text = (struct msd_span){body.p, n};
	*ret_behind = (struct msd_span){body.p + n, body.n - n};
	return true;
}
