#include "graph/serializer/onnx/external.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/dtype.h"
#include "proto/base/grow.h"

/* Tensors may share their bytes, as tied weights do; together they have at most this
 * many times the bytes of their files. */
#define MAX_SHARED 2u

static int fail(modser_graph *g, const Onnx__TensorProto *p, const char *text)
{
	return msd_sg_fail(g, MSD_BAD_ARTIFACT, "tensor \"%s\": external data: %s",
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

/* Parse a decimal number; @otherwise if it is absent. */
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

/* Compute the bytes that the shape of @p requires. */
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
static int count_file(struct onnx_external *e, modser_graph *g, const modser_part *file)
{
	for (size_t i = 0; i < e->n_files; i++) {
		if (e->files[i] == file->data)
			return 0;
	}
	if (!msd_grow(&e->files, e->n_files, sizeof(*e->files)))
		return msd_sg_no_memory(g);
	e->files[e->n_files++] = file->data;
	e->file_bytes += file->bytes;
	return 0;
}

static int count_bytes(struct onnx_external *e, modser_graph *g,
		       const Onnx__TensorProto *p, const modser_part *file, uint64_t n)
{
	if (count_file(e, g, file) != 0)
		return -1;
	e->used_bytes += n;
	if (e->used_bytes > MAX_SHARED * e->file_bytes)
		return fail(g, p, "too many tensors share the bytes of its file");
	return 0;
}

int onnx_external_find(struct onnx_external *e, modser_graph *g,
		       const Onnx__TensorProto *p, struct msd_span *ret)
{
	const char *name = entry(p, "location");
	modser_part file = {0};
	uint64_t wanted;
	uint64_t offset;
	uint64_t n;

	if (name == NULL || name[0] == '\0')
		return fail(g, p, "no location");
	if (e->read == NULL) {
		return msd_sg_fail(g, MSD_UNSUPPORTED,
				   "tensor \"%s\": its bytes are in another file, "
				   "\"%s\", which did not come with the model",
				   p->name != NULL ? p->name : "", name);
	}
	if (e->read(e->ctx, g, name, &file) != 0) {
		(void)msd_diag_wrap(&g->diag, g->diag.code, "tensor \"%s\"",
				    p->name != NULL ? p->name : "");
		return -1;
	}
	if (!wanted_bytes(p, &wanted))
		return fail(g, p, "its shape and type do not tell how much it is");
	if (!number(entry(p, "offset"), 0, &offset) || offset > file.bytes ||
	    !number(entry(p, "length"), wanted, &n))
		return fail(g, p, "its offset and length are not in the file");
	n = n == 0 ? wanted : n; /* 0: as the shape says */
	if (n > file.bytes - offset)
		return fail(g, p, "its offset and length are not in the file");
	if (n != wanted)
		return fail(g, p, "its length is not that of its shape");
	if (count_bytes(e, g, p, &file, n) != 0)
		return -1;
	*ret = (struct msd_span){(const uint8_t *)file.data + offset, (size_t)n};
	return 0;
}

void onnx_external_finish(struct onnx_external *e)
{
	free((void *)e->files);
	*e = (struct onnx_external){0};
}
