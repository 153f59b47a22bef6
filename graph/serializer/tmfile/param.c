#include "graph/serializer/tmfile/param.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tmfile/row.h"

static int read_ints(struct tm_view *v, modser_sg_op *op, const char *param,
		     const struct tm_vector *from)
{
	int64_t *list = calloc(from->n + 1, sizeof(*list));

	if (list == NULL)
		return msd_sg_no_memory(v->graph);
	for (size_t i = 0; i < from->n; i++)
		list[i] = (int32_t)tm_vector_u32(from, i);
	const modser_sg_attr value = {MODSER_ATTR_INTS, from->n, {.ints = list}};
	int result = modser_sg_op_set_param(op, param, &value);
	free(list);
	return result;
}

static int read_floats(struct tm_view *v, modser_sg_op *op, const char *param,
		       const struct tm_vector *from, size_t n)
{
	float *list = calloc(n + 1, sizeof(*list));

	if (list == NULL)
		return msd_sg_no_memory(v->graph);
	for (size_t i = 0; i < n; i++)
		list[i] = tm_f32(from->p + 4 * i);
	const modser_sg_attr value = {MODSER_ATTR_FLOATS, n, {.floats = list}};
	int result = modser_sg_op_set_param(op, param, &value);
	free(list);
	return result;
}

static int read_text(struct tm_view *v, modser_sg_op *op, const char *param,
		     uint32_t offset)
{
	char *text = tm_string(v, offset, param);

	if (text == NULL)
		return -1;
	const modser_sg_attr value = {MODSER_ATTR_STR, 0, {.s = text}};
	int result = modser_sg_op_set_param(op, param, &value);
	free(text);
	return result;
}

static int read_vector(struct tm_view *v, modser_sg_op *op, const char *param,
		       char kind, uint32_t offset)
{
	const size_t wide = kind == 'Q' ? 4 : 1;
	struct tm_vector from;

	if (tm_vector(v, offset, 4 * wide, param, &from) != 0)
		return -1;
	if (kind == 'I')
		return read_ints(v, op, param, &from);
	return read_floats(v, op, param, &from, wide * from.n);
}

static int read_field(struct tm_view *v, modser_sg_op *op, const char *param, char kind,
		      const uint8_t *p)
{
	modser_sg_attr value = {.kind = MODSER_ATTR_INT};

	switch (kind) {
	case 'i':
		value.as.i = (int32_t)msd_le32(p);
		break;
	case 'b':
		value.as.i = *p != 0;
		break;
	case 'f':
		value.kind = MODSER_ATTR_FLOAT;
		value.as.f = tm_f32(p);
		break;
	case 's':
		return read_text(v, op, param, msd_le32(p));
	default:
		return read_vector(v, op, param, kind, msd_le32(p));
	}
	return modser_sg_op_set_param(op, param, &value);
}

int tm_param_read(struct tm_view *v, modser_sg_op *op, const modser_tmfile_row *row,
		  const uint8_t *param, size_t bytes)
{
	const modser_sg_op_schema *schema = op->schema;
	struct tm_field_walk w = tm_fields(row);
	struct tm_field f;

	while (tm_field_next(&w, &f)) {
		const size_t i = tm_field_param(&f, schema);

		if (i < schema->n_fields && w.bytes <= bytes &&
		    read_field(v, op, schema->fields[i].name, f.kind,
			       param + f.offset) != 0)
			return -1;
	}
	return 0;
}

int tm_param_mean(modser_sg_op *op)
{
	static const modser_sg_attr order = {MODSER_ATTR_STR, 0, {.s = "CRD"}};
	const char *name = op->schema->name;

	if (strcmp(name, "DepthToSpace") == 0)
		return modser_sg_op_set_param(op, "mode", &order);
	if (strcmp(name, "Reduction") == 0) {
		/* It has sums of amounts and of squares twice. */
		const int64_t type = modser_sg_op_int(op, "type");

		if (type == 7 || type == 8)
			return modser_sg_op_set_int(op, "type", type - 5);
	}
	return 0;
}
