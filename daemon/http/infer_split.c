#include "daemon/http/infer_split.h"

#include "daemon/http/infer_ask.h"

bool msd_infer_text_bytes(struct msd_span field, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < field.n; i++) {
		if (field.p[i] < '0' || field.p[i] > '9' || n > MSD_INFER_JSON_BYTES)
			return false;
		n = 10 * n + (size_t)(field.p[i] - '0');
	}
	if (field.n == 0 || n > MSD_INFER_JSON_BYTES)
		return false;
	*ret = n;
	return true;
}

bool msd_infer_split(struct msd_span field, struct msd_span body,
		     struct msd_span *ret_text, struct msd_span *ret_behind)
{
	size_t n = body.n;

	if (field.p != NULL && !msd_infer_text_bytes(field, &n))
		return false;
	if (n > body.n || n > MSD_INFER_JSON_BYTES)
		return false;
	*ret_text = (struct msd_span){body.p, n};
	*ret_behind = (struct msd_span){body.p + n, body.n - n};
	return true;
}
