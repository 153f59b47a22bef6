#include "tests/proto/golden.h"

#include "proto/body.h"

struct msd_wire_tensor golden_tensor(enum msd_where where)
{
	struct msd_wire_tensor t = {
		.where = where,
		.dtype = {MSD_DT_FLOAT, 32, 1},
		.bytes = 24,
		.ndim = 2,
		.shape = {2, 3},
	};

	if (where == MSD_AT_RESIDENT)
		t.handle = (struct msd_handle){.slot = 5, .generation = 1};
	if (where == MSD_AT_SEGMENT)
		t.segment = 2;
	if (where == MSD_AT_INLINE || where == MSD_AT_SEGMENT)
		t.offset = 256;
	return t;
}

struct msd_buf golden_call(void)
{
	struct msd_wire_tensor in = golden_tensor(MSD_AT_INLINE);
	struct msd_wire_tensor out = golden_tensor(MSD_AT_OUT);
	struct msd_buf b = {0};

	msd_body_begin_request(&b, 7, "call", true);
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "add:addone");
	msd_pack_tensor(&b, &in);
	msd_pack_tensor(&b, &out);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "deadline_ms");
	msd_pack_uint(&b, 1000);
	return b;
}

static void pack_plain_kinds(struct msd_buf *b)
{
	static const uint8_t bytes[] = {0, 0xff};

	msd_pack_nil(b);
	msd_pack_bool(b, true);
	msd_pack_int(b, INT64_MIN);
	msd_pack_float(b, 2.5);
	msd_pack_cstr(b, "na\xc3\xafve");
	msd_pack_bin(b, bytes, sizeof(bytes));
}

struct msd_buf golden_every_kind(void)
{
	static const int64_t dim[] = {1, 2, 3};
	struct msd_wire_tensor t = golden_tensor(MSD_AT_RESIDENT);
	struct msd_handle h = {.slot = 3, .generation = 9};
	struct msd_buf b = {0};

	msd_body_begin_request(&b, UINT64_MAX, "call", false);
	msd_pack_array(&b, 17);
	pack_plain_kinds(&b);
	msd_pack_dtype(&b, (struct msd_dtype){MSD_DT_BFLOAT, 16, 1});
	msd_pack_device(&b, (struct msd_device){MSD_DEV_CUDA, 1});
	msd_pack_shape(&b, dim, 3);
	msd_pack_tensor(&b, &t);
	msd_pack_handle(&b, MSD_EXT_FUNCTION, h);
	msd_pack_handle(&b, MSD_EXT_MODULE, h);
	msd_pack_handle(&b, MSD_EXT_INSTANCE, h);
	msd_pack_handle(&b, MSD_EXT_UPLOAD, h);
	msd_pack_array(&b, 2);
	msd_pack_array(&b, 0);
	msd_pack_int(&b, 1);
	msd_pack_object(&b, h, true, msd_span_of("ffi.Function"));
	msd_pack_map_value(&b, 1);
	msd_pack_int(&b, 1);
	msd_pack_cstr(&b, "one");
	return b;
}

struct msd_buf golden_response(void)
{
	struct msd_wire_tensor t = golden_tensor(MSD_AT_SEGMENT);
	struct msd_buf b = {0};

	msd_body_begin_response(&b, 7, true);
	msd_pack_nil(&b);
	msd_pack_array(&b, 2);
	msd_pack_array(&b, 1);
	msd_pack_tensor(&b, &t);
	msd_pack_nil(&b);
	msd_pack_map(&b, 1);
	msd_pack_cstr(&b, "exec_ns");
	msd_pack_uint(&b, 1234);
	return b;
}

struct msd_buf golden_error(void)
{
	struct msd_buf b = {0};

	msd_body_begin_response(&b, 8, false);
	msd_pack_error(&b, MSD_NOT_FOUND, "call: no module \"ad\"");
	msd_pack_nil(&b);
	return b;
}

struct msd_buf golden_notification(void)
{
	struct msd_buf b = {0};

	msd_body_begin_notification(&b, "worker.release");
	msd_pack_array(&b, 2);
	msd_pack_uint(&b, 0);
	msd_pack_uint(&b, 4096);
	return b;
}

struct msd_buf golden_body(unsigned i)
{
	static struct msd_buf (*const make[GOLDEN_COUNT])(void) = {
		golden_call,  golden_every_kind,   golden_response,
		golden_error, golden_notification,
	};

	return make[i]();
}
