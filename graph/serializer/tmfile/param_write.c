#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tmfile/param.h"
#include "graph/serializer/tmfile/row.h"

static int put_ints(struct tm_writer *w, const modser_sg_op *op, const char *name,
		    const modser_sg_attr *value, uint32_t *ret)
{
	uint32_t *words = calloc(value->n + 1, sizeof(*words));
	int result = 0;

	if (words == NULL)
		return msd_sg_no_memory(op->graph);
	for (size_t i = 0; i < value->n && result == 0; i++) {
		const int64_t v = value->as.ints[i];

		if (v < INT32_MIN || v > INT32_MAX) {
			result = msd_sg_fail(op->graph, MSD_UNSUPPORTED,
					     "%s: %s: %" PRId64 " is over 32 bits",
					     op->schema->name, name, v);
		}
		words[i] = (uint32_t)v;
	}
	if (result == 0)
		*ret = tm_put_vector(w, words, value->n);
	free(words);
	return result;
}

static int put_floats(struct tm_writer *w, const modser_sg_op *op, size_t wide,
		      const modser_sg_attr *value, uint32_t *ret)
{
	uint32_t *words = calloc(value->n + 1, sizeof(*words));

	if (words == NULL)
		return msd_sg_no_memory(op->graph);
	for (size_t i = 0; i < value->n; i++)
		words[i] = tm_f32_bits(value->as.floats[i]);
	const uint32_t count = (uint32_t)(value->n / wide);
	*ret = tm_put_words(w, &count, 1);
	(void)tm_put_words(w, words, wide * count);
	free(words);
	return 0;
}

/* Lists and texts precede the parameters that refer to them. */
static int put_apart(struct tm_writer *w, const modser_sg_op *op,
		     const modser_sg_op_field *field, char kind,
		     const modser_sg_attr *value, uint32_t *ret)
{
	if (kind == 's') {
		if (value->as.s[0] != '\0')
			*ret = tm_put_string(w, value->as.s);
		return 0;
	}
	if (value->n == 0)
		return 0;
	return kind == 'I' ? put_ints(w, op, field->name, value, ret)
			   : put_floats(w, op, kind == 'Q' ? 4 : 1, value, ret);
}

static int put_number(const modser_sg_op *op, const modser_sg_op_field *field,
		      char kind, const modser_sg_attr *value, uint8_t *at)
{
	if (kind == 'f') {
		msd_put_le32(at, tm_f32_bits(value->as.f));
		return 0;
	}
	if (value->as.i < INT32_MIN || value->as.i > INT32_MAX) {
		return msd_sg_fail(op->graph, MSD_UNSUPPORTED,
				   "%s: %s: %" PRId64 " is over 32 bits",
				   op->schema->name, field->name, value->as.i);
	}
	if (kind == 'b') {
		*at = value->as.i != 0;
	} else {
		msd_put_le32(at, (uint32_t)value->as.i);
	}
	return 0;
}

static int fill(struct tm_writer *w, const modser_sg_op *op,
		const modser_tmfile_row *row, uint8_t *param)
{
	struct tm_field_walk walk = tm_fields(row);
	struct tm_field f;

	while (tm_field_next(&walk, &f)) {
		const size_t i = tm_field_param(&f, op->schema);
		uint32_t offset = 0;
		int result;

		if (i == op->schema->n_fields)
			continue;
		const modser_sg_op_field *field = &op->schema->fields[i];
		const modser_sg_attr *value = &op->params[i];
		if (strchr("IFQs", f.kind) != NULL) {
			result = put_apart(w, op, field, f.kind, value, &offset);
			msd_put_le32(param + f.offset, offset);
		} else {
			result = put_number(op, field, f.kind, value, param + f.offset);
		}
		if (result != 0)
			return result;
	}
	return 0;
}

int tm_param_write(struct tm_writer *w, const modser_sg_op *op,
		   const modser_tmfile_row *row, uint32_t *ret)
{
	const unsigned bytes = tm_row_bytes(row);

	if (bytes == 0)
		return 0;
	uint8_t *param = calloc(bytes, 1);
	if (param == NULL)
		return msd_sg_no_memory(op->graph);
	int result = fill(w, op, row, param);
	if (result == 0) {
		const uint32_t at = tm_put_words(w, NULL, 0);

		msd_buf_put(&w->out, param, bytes);
		*ret = at;
	}
	free(param);
	return result;
}
