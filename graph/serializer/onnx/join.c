/*
 * External data put into the model that names it.
 *
 * Happy path: the scan copies the file message by message; a tensor that says that its
 * bytes are elsewhere is written anew, without its place and with raw_data, before
 * which a field that nobody knows makes room so that the bytes are aligned. Failures
 * name the tensor: a file that cannot be read, a place that is not in it, a length that
 * is not the shape's, files that are shared by so many that the model would be larger
 * than they are.
 */
#include "graph/serializer/onnx/join.h"

#include <errno.h>
#include <onnx.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/tensor.h"
#include "graph/serializer/onnx/wire.h"

#define ALIGN 64u
enum { IS_EXTERNAL = 1 };
#define PAD_TAG "\xa2\x06" /* field 100, bytes: ONNX has none of that number */
#define PAD_HEADER 3u      /* that tag, and a length below 128 */
#define RAW_TAG 0x4a       /* field 9, bytes */
#define RAW_HEADER 11u     /* that tag, and a length of ten bytes */

/* Tensors may share their bytes, as tied weights do; the whole has no more of them than
 * this many times those of its files. */
#define MAX_SHARED 2u

struct join {
	modser_graph *g;
	modser_read_beside *read;
	void *ctx;
	size_t n_joined;
	uint64_t joined_bytes;
	const void **files; /* that were read */
	size_t n_files;
	uint64_t file_bytes;
};

static bool is_external(struct msd_span message)
{
	struct msd_cur c = msd_cur_of(message);
	struct onnx_field f;
	bool is_so = false;

	while (c.left > 0 && onnx_field_take(&c, &f)) {
		if (f.number == ONNX_DATA_LOCATION && f.type == 0)
			is_so = f.value == IS_EXTERNAL;
	}
	return is_so;
}

static int fail(const struct join *j, const Onnx__TensorProto *p, const char *text)
{
	return msd_sg_fail(j->g, MSD_BAD_ARTIFACT, "tensor \"%s\": external data: %s",
			   p->name != NULL ? p->name : "", text);
}

static const char *entry(const Onnx__TensorProto *p, const char *key)
{
	for (size_t i = 0; i < p->n_external_data; i++) {
		const Onnx__StringStringEntryProto *e = p->external_data[i];

		if (e->key != NULL && e->value != NULL && strcmp(e->key, key) == 0)
			return e->value;
	}
	return NULL;
}

/* A number in digits; @otherwise when it is not there. */
static bool number(const char *text, uint64_t otherwise, uint64_t *ret)
{
	char *end;

	*ret = otherwise;
	if (text == NULL)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

/* Bytes that the shape of @p has. */
static bool wanted_bytes(const Onnx__TensorProto *p, uint64_t *ret)
{
	const char *name = onnx_dtype_name(p->data_type);
	struct msd_dtype dtype;
	uint64_t n = 1;

	for (size_t i = 0; i < p->n_dims; i++) {
		if (p->dims[i] < 0 ||
		    __builtin_mul_overflow(n, (uint64_t)p->dims[i], &n))
			return false;
	}
	return name != NULL && msd_dtype_parse(name, strlen(name), &dtype) &&
	       msd_dtype_bytes(dtype, n, ret);
}

/* A file counts once, however many tensors are in it. */
static int count_file(struct join *j, const modser_part *file)
{
	for (size_t i = 0; i < j->n_files; i++) {
		if (j->files[i] == file->data)
			return 0;
	}
	if (!msd_sg_grow(&j->files, j->n_files, sizeof(*j->files)))
		return msd_sg_no_memory(j->g);
	j->files[j->n_files++] = file->data;
	j->file_bytes += file->bytes;
	return 0;
}

static int count_bytes(struct join *j, const Onnx__TensorProto *p,
		       const modser_part *file, uint64_t n)
{
	if (count_file(j, file) != 0)
		return -1;
	j->joined_bytes += n;
	if (j->joined_bytes > MAX_SHARED * j->file_bytes)
		return fail(j, p, "too many tensors share the bytes of its file");
	return 0;
}

/* The tensor's bytes in the file that it names. */
static int find_bytes(struct join *j, const Onnx__TensorProto *p, struct msd_span *ret)
{
	const char *name = entry(p, "location");
	modser_part file = {0};
	uint64_t wanted;
	uint64_t offset;
	uint64_t n;

	if (name == NULL || name[0] == '\0')
		return fail(j, p, "no location");
	if (j->read(j->ctx, j->g, name, &file) != 0) {
		(void)msd_diag_wrap(&j->g->diag, j->g->diag.code, "tensor \"%s\"",
				    p->name != NULL ? p->name : "");
		return -1;
	}
	if (!wanted_bytes(p, &wanted))
		return fail(j, p, "its shape and type do not tell how much it is");
	if (!number(entry(p, "offset"), 0, &offset) || offset > file.bytes ||
	    !number(entry(p, "length"), wanted, &n) || n > file.bytes - offset)
		return fail(j, p, "its offset and length are not in the file");
	if (n != wanted)
		return fail(j, p, "its length is not that of its shape");
	if (count_bytes(j, p, &file, n) != 0)
		return -1;
	*ret = (struct msd_span){(const uint8_t *)file.data + offset, (size_t)n};
	return 0;
}

/* Lengths in ten bytes are as good as shorter ones. */
static void put_raw(struct msd_buf *out, struct msd_span bytes)
{
	const size_t used = (out->n + PAD_HEADER + RAW_HEADER) % ALIGN;
	const size_t pad = used > 0 ? ALIGN - used : 0;

	msd_buf_put(out, PAD_TAG, 2);
	msd_buf_put_u8(out, (uint8_t)pad);
	for (size_t i = 0; i < pad; i++)
		msd_buf_put_u8(out, 0);
	msd_buf_put_u8(out, RAW_TAG);
	for (unsigned i = 0; i < 10; i++) {
		const uint8_t more = i < 9 ? 0x80 : 0;

		msd_buf_put_u8(out,
			       (uint8_t)(((uint64_t)bytes.n >> (7 * i) & 0x7f) | more));
	}
	msd_buf_put(out, bytes.p, bytes.n);
}

static int join_tensor(void *ctx, struct msd_span message, struct msd_buf *out,
		       bool *ret_is_written)
{
	struct join *j = ctx;
	struct msd_span bytes = {0};

	if (!is_external(message))
		return 0;
	Onnx__TensorProto *p = onnx__tensor_proto__unpack(NULL, message.n, message.p);
	if (p == NULL)
		return msd_sg_fail(j->g, MSD_BAD_ARTIFACT, "a tensor is no message");
	const int result = find_bytes(j, p, &bytes);
	onnx__tensor_proto__free_unpacked(p, NULL);
	if (result != 0)
		return -1;
	onnx_wire_put_others(out, message);
	put_raw(out, bytes);
	j->n_joined++;
	*ret_is_written = true;
	return 0;
}

int onnx_join(const modser_part *model, modser_read_beside *read, void *ctx,
	      modser_graph *graph, modser_part *ret)
{
	struct join j = {.g = graph, .read = read, .ctx = ctx};
	struct msd_buf out = {0};
	const int result =
		onnx_wire_copy(graph, (struct msd_span){model->data, model->bytes},
			       ONNX_LONG_LENGTHS, join_tensor, &j, &out);

	free((void *)j.files);
	if (result != 0 || j.n_joined == 0) {
		msd_buf_finish(&out);
		return result;
	}
	*ret = (modser_part){out.p, out.n};
	return 0;
}
