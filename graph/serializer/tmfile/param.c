#include "graph/serializer/tmfile/param.h"

#include <stdlib.h>

#include "graph/ir/graph.h"

static int read_ints(struct tm_view *v, modser_sg_op *op,
		     const modser_sg_op_field *field, const struct tm_vector *from)
{
	int64_t *list = calloc(from->n + 1, sizeof(*list));

	if (list == NULL)
		return msd_sg_no_memory(v->graph);
	for (size_t i = 0; i < from->n; i++)
		list[i] = (int32_t)tm_vector_u32(from, i);
	const modser_sg_attr value = {MODSER_ATTR_INTS, from->n, {.ints = list}};
	int result = modser_sg_op_set_param(op, field->name, &value);
	free(list);
	return result;
}

static int read_floats(struct tm_view *v, modser_sg_op *op,
		       const modser_sg_op_field *field, const struct tm_vector *from,
		       size_t n)
{
	float *list = calloc(n + 1, sizeof(*list));

	if (list == NULL)
		return msd_sg_no_memory(v->graph);
	for (size_t i = 0; i < n; i++)
		list[i] = tm_f32(from->p + 4 * i);
	const modser_sg_attr value = {MODSER_ATTR_FLOATS, n, {.floats = list}};
	int result = modser_sg_op_set_param(op, field->name, &value);
	free(list);
	return result;
}

static int read_text(struct tm_view *v, modser_sg_op *op,
		     const modser_sg_op_field *field, uint32_t offset)
{
	char *text = tm_string(v, offset, field->name);

	if (text == NULL)
		return -1;
	const modser_sg_attr value = {MODSER_ATTR_STR, 0, {.s = text}};
	int result = modser_sg_op_set_param(op, field->name, &value);
	free(text);
	return result;
}

static int read_vector(struct tm_view *v, modser_sg_op *op,
		       const modser_sg_op_field *field, uint32_t offset)
{
	const size_t wide = field->tm_encoding == MODSER_TM_F32X4_VECTOR ? 4 : 1;
	struct tm_vector from;

	if (tm_vector(v, offset, 4 * wide, field->name, &from) != 0)
		return -1;
	if (field->tm_encoding == MODSER_TM_I32_VECTOR)
		return read_ints(v, op, field, &from);
	return read_floats(v, op, field, &from, wide * from.n);
}

static int read_field(struct tm_view *v, modser_sg_op *op,
		      const modser_sg_op_field *field, const uint8_t *p)
{
	modser_sg_attr value = {.kind = MODSER_ATTR_INT};

	switch (field->tm_encoding) {
	case MODSER_TM_NONE:
		return 0;
	case MODSER_TM_I32:
		value.as.i = (int32_t)msd_le32(p);
		break;
	case MODSER_TM_U8:
		value.as.i = *p != 0;
		break;
	case MODSER_TM_F32:
		value.kind = MODSER_ATTR_FLOAT;
		value.as.f = tm_f32(p);
		break;
	case MODSER_TM_STRING:
		return read_text(v, op, field, msd_le32(p));
	case MODSER_TM_I32_VECTOR:
	case MODSER_TM_F32_VECTOR:
	case MODSER_TM_F32X4_VECTOR:
		return read_vector(v, op, field, msd_le32(p));
	}
	return modser_sg_op_set_param(op, field->name, &value);
}

int tm_param_read(struct tm_view *v, modser_sg_op *op, const uint8_t *param,
		  size_t bytes)
{
	for (size_t i = 0; i < op->schema->n_fields; i++) {
		const modser_sg_op_field *field = &op->schema->fields[i];
		const size_t width = field->tm_encoding == MODSER_TM_U8 ? 1 : 4;

		if (field->tm_offset + width <= bytes &&
		    read_field(v, op, field, param + field->tm_offset) != 0)
			return -1;
	}
	return 0;
}
