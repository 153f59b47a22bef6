#include <stdlib.h>

#include "proto/body.h"
#include "proto/limits.h"
#include "proto/unpack.h"
#include "proto/value.h"
#include "tests/fuzz/fuzz.h"

/* Read every value of @items, tuples' elements included: a scanned body has no bad ones
 * but those that are refused with a text. */
static void read_values(struct msd_span items, unsigned depth)
{
	struct msd_cur c = msd_cur_of(items);
	struct msd_diag d = {0};

	if (depth > MSD_MAX_DEPTH)
		abort();
	while (c.left > 0) {
		struct msd_wire_value v;
		struct msd_wire_tensor t;

		msd_err err = msd_value_read(&c, &v, &d);
		if (c.bad)
			abort(); /* the scan promised whole objects */
		if (err != MSD_OK)
			continue;
		if (v.kind == MSD_K_TUPLE)
			read_values(v.as.tuple.items, depth + 1);
		if (v.kind == MSD_K_TENSOR &&
		    msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, &t, &d) ==
			    MSD_OK &&
		    t.ndim > MSD_MAX_NDIM)
			abort();
	}
	msd_diag_finish(&d);
}

static void unpack(struct msd_span object)
{
	struct msd_unpack u = {0};
	const msgpack_object *o;
	struct msd_diag d = {0};

	/* What the scan passes msgpack-c must take. */
	if (object.n > 0 && msd_unpack(&u, object, &o, &d) != MSD_OK)
		abort();
	msd_unpack_finish(&u);
	msd_diag_finish(&d);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_diag d = {0};
	struct msd_body b;
	struct msd_body_error e;
	struct msd_cur c;
	uint32_t n_params;

	msd_err err = msd_body_read((struct msd_span){data, n}, NULL, &b, &d);
	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	unpack((struct msd_span){data, n});
	if (b.kind == MSD_RESPONSE) {
		(void)msd_body_error_read(b.error, &e);
		read_values(b.result, 0);
	} else if (msd_array_open(b.params, &c, &n_params)) {
		read_values((struct msd_span){c.p, c.left}, 0);
	} else {
		abort();
	}
	return 1;
}
