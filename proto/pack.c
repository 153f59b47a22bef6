/*
 * The writers of proto/value.h: msgpack-c's packer over a struct msd_buf. None
 * reports an error: a buffer that cannot grow is marked bad, and the sender checks
 * that.
 */
#include <msgpack/pack.h>
#include <string.h>

#include "proto/base/utf8.h"
#include "proto/limits.h"
#include "proto/value.h"

/* A full buffer marks itself bad, so the packer needs no error. Inline, so that a nil
 * or a short number costs only its bytes. */
static inline __attribute__((always_inline)) int write_buf(void *data,
							   const char *bytes, size_t n)
{
	msd_buf_put(data, bytes, n);
	return 0;
}

static inline msgpack_packer packer_of(struct msd_buf *out)
{
	return (msgpack_packer){.data = out, .callback = write_buf};
}

void msd_pack_nil(struct msd_buf *out)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_nil(&pk);
}

void msd_pack_bool(struct msd_buf *out, bool v)
{
	msgpack_packer pk = packer_of(out);

	(void)(v ? msgpack_pack_true(&pk) : msgpack_pack_false(&pk));
}

void msd_pack_int(struct msd_buf *out, int64_t v)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_int64(&pk, v);
}

void msd_pack_uint(struct msd_buf *out, uint64_t v)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_uint64(&pk, v);
}

void msd_pack_u64(struct msd_buf *out, uint64_t v)
{
	uint8_t bytes[9] = {0xcf};

	for (size_t i = 0; i < 8; i++)
		bytes[1 + i] = (uint8_t)(v >> (56 - 8 * i));
	msd_buf_put(out, bytes, sizeof(bytes));
}

void msd_pack_float(struct msd_buf *out, double v)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_double(&pk, v);
}

void msd_pack_str(struct msd_buf *out, const char *p, size_t n)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_str_with_body(&pk, p, n);
}

void msd_pack_cstr(struct msd_buf *out, const char *text)
{
	msd_pack_str(out, text, strlen(text));
}

void msd_pack_pair_str(struct msd_buf *out, const char *key, const char *value)
{
	msd_pack_cstr(out, key);
	msd_pack_cstr(out, value);
}

void msd_pack_pair_uint(struct msd_buf *out, const char *key, uint64_t value)
{
	msd_pack_cstr(out, key);
	msd_pack_uint(out, value);
}

void msd_pack_text(struct msd_buf *out, const char *p, size_t n)
{
	struct msd_buf clean = {0};
	struct msd_span left = {.p = (const uint8_t *)p, .n = n};
	size_t good = msd_utf8_prefix(left);

	if (good == n) {
		msd_pack_str(out, p, n);
		return;
	}
	while (left.n > 0) {
		msd_buf_put(&clean, left.p, good);
		left = (struct msd_span){.p = left.p + good, .n = left.n - good};
		if (left.n == 0)
			break;
		msd_buf_put_u8(&clean, '?');
		left = (struct msd_span){.p = left.p + 1, .n = left.n - 1};
		good = msd_utf8_prefix(left);
	}
	if (clean.bad)
		out->bad = true;
	msd_pack_str(out, (const char *)clean.p, clean.n);
	msd_buf_finish(&clean);
}

void msd_pack_bin(struct msd_buf *out, const void *p, size_t n)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_bin_with_body(&pk, p, n);
}

void msd_pack_array(struct msd_buf *out, size_t n)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_array(&pk, n);
}

void msd_pack_map(struct msd_buf *out, size_t n)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_map(&pk, n);
}

void msd_pack_ext(struct msd_buf *out, enum msd_ext type, const void *p, size_t n)
{
	msgpack_packer pk = packer_of(out);

	(void)msgpack_pack_ext_with_body(&pk, p, n, (int8_t)type);
}

void msd_pack_handle(struct msd_buf *out, enum msd_ext type, struct msd_handle h)
{
	uint8_t data[8];

	msd_handle_write(h, data);
	msd_pack_ext(out, type, data, sizeof(data));
}

void msd_pack_object(struct msd_buf *out, struct msd_handle h, bool is_function,
		     struct msd_span key)
{
	uint8_t data[MSD_WIRE_OBJECT_BYTES + MSD_MAX_TYPE_KEY_BYTES];
	uint8_t *text = data + MSD_WIRE_OBJECT_BYTES;
	size_t n = key.n < MSD_MAX_TYPE_KEY_BYTES ? key.n : MSD_MAX_TYPE_KEY_BYTES;

	msd_handle_write(h, data);
	data[8] = is_function ? MSD_OBJECT_IS_FUNCTION : 0;
	if (n > 0)
		memcpy(text, key.p, n);
	for (size_t good = 0; good < n; good++) {
		good += msd_utf8_prefix((struct msd_span){text + good, n - good});
		if (good < n)
			text[good] = '?';
	}
	msd_pack_ext(out, MSD_EXT_OBJECT, data, MSD_WIRE_OBJECT_BYTES + n);
}

void msd_pack_map_value(struct msd_buf *out, size_t n)
{
	msd_pack_array(out, 2 * n + 1);
	msd_pack_ext(out, MSD_EXT_MAP, "", 0);
}

void msd_pack_dtype(struct msd_buf *out, struct msd_dtype t)
{
	uint8_t data[4] = {t.code, t.bits};

	msd_put_le16(data + 2, t.lanes);
	msd_pack_ext(out, MSD_EXT_DTYPE, data, sizeof(data));
}

void msd_pack_device(struct msd_buf *out, struct msd_device dev)
{
	uint8_t data[8];

	msd_put_le32(data, (uint32_t)dev.type);
	msd_put_le32(data + 4, (uint32_t)dev.id);
	msd_pack_ext(out, MSD_EXT_DEVICE, data, sizeof(data));
}

void msd_pack_shape(struct msd_buf *out, const int64_t *dim, size_t ndim)
{
	uint8_t data[8 * MSD_MAX_NDIM];

	if (ndim > MSD_MAX_NDIM) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < ndim; i++)
		msd_put_le64(data + 8 * i, (uint64_t)dim[i]);
	msd_pack_ext(out, MSD_EXT_SHAPE, data, 8 * ndim);
}

void msd_pack_tensor(struct msd_buf *out, const struct msd_wire_tensor *t)
{
	uint8_t data[MSD_WIRE_TENSOR_BYTES + 8 * MSD_MAX_NDIM];

	if (t->ndim > MSD_MAX_NDIM) {
		out->bad = true;
		return;
	}
	msd_pack_ext(out, MSD_EXT_TENSOR, data, msd_wire_tensor_write(t, data));
}

static void begin_error(struct msd_buf *out, msd_err err, const char *text)
{
	if ((unsigned)err >= MSD_ERR_COUNT) /* MSD_WAIT has no wire number */
		err = MSD_INTERNAL;
	msd_pack_array(out, 4);
	msd_pack_uint(out, err);
	msd_pack_cstr(out, msd_err_name(err));
	msd_pack_text(out, text, strlen(text));
}

void msd_pack_error(struct msd_buf *out, msd_err err, const char *text)
{
	begin_error(out, err, text);
	msd_pack_map(out, 0);
}

void msd_pack_diag(struct msd_buf *out, const struct msd_diag *d)
{
	size_t n_kind;
	const char *kind = msd_diag_kind(d, &n_kind);

	begin_error(out, d->code, msd_diag_text(d));
	msd_pack_map(out, (size_t)(d->retry_after_ms > 0) + (d->hint != NULL) +
				  (n_kind > 0));
	if (d->retry_after_ms > 0)
		msd_pack_pair_uint(out, "retry_after_ms", d->retry_after_ms);
	if (d->hint != NULL)
		msd_pack_pair_str(out, "hint", d->hint);
	if (n_kind > 0) {
		msd_pack_cstr(out, "kind");
		msd_pack_text(out, kind, n_kind);
	}
}
