/* The scan: it walks through messages that ONNX defines and copies everything else
 * unchanged. */
#include "graph/serializer/onnx/wire.h"

#include "graph/ir/graph.h"

#define MAX_DEPTH (4 * MODSER_GRAPH_MAX_DEPTH) /* messages: graph, node, attribute */
/* Number of bytes of a length that is filled in later: for protobuf-c, and for files
 * that may exceed its limit. */

enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum message {
	NONE,
	MODEL,
	GRAPH,
	NODE,
	ATTRIBUTE,
	TENSOR,
	VALUE_INFO,
	TYPE,
	TENSOR_TYPE,
	SHAPE,
	DIMENSION,
	ENTRY,
	OPSET,
	FUNCTION,
	SPARSE,
	MESSAGE_COUNT
};

/* Fields that are messages. The table lists all messages in onnx.proto, so that
 * protobuf-c nests no deeper than the scan does. */
static const struct {
	enum message in;
	uint32_t field;
	enum message is;
} nested[] = {
	{MODEL, 7, GRAPH},       {MODEL, 8, OPSET},       {GRAPH, 1, NODE},
	{GRAPH, 5, TENSOR},      {GRAPH, 11, VALUE_INFO}, {GRAPH, 12, VALUE_INFO},
	{GRAPH, 13, VALUE_INFO}, {NODE, 5, ATTRIBUTE},    {ATTRIBUTE, 5, TENSOR},
	{ATTRIBUTE, 6, GRAPH},   {ATTRIBUTE, 10, TENSOR}, {ATTRIBUTE, 11, GRAPH},
	{TENSOR, 13, ENTRY},     {VALUE_INFO, 2, TYPE},   {TYPE, 1, TENSOR_TYPE},
	{TENSOR_TYPE, 2, SHAPE}, {SHAPE, 1, DIMENSION},   {MODEL, 25, FUNCTION},
	{FUNCTION, 7, NODE},     {FUNCTION, 9, OPSET},    {FUNCTION, 11, ATTRIBUTE},
	{GRAPH, 15, SPARSE},     {ATTRIBUTE, 22, SPARSE}, {SPARSE, 1, TENSOR},
	{SPARSE, 2, TENSOR},
};

struct scan {
	modser_graph *g;
	const uint8_t *file;
	struct msd_buf *out;
	size_t left; /* number of fields still allowed */
	unsigned length_bytes;
	onnx_wire_tensor *tensor; /* NULL: weights are replaced by their locations */
	void *ctx;
};

static int fail(const struct scan *s, const uint8_t *at, const char *text)
{
	return msd_sg_fail(s->g, MSD_BAD_ARTIFACT, "byte %zu: %s",
			   (size_t)(at - s->file), text);
}

static bool take_varint(struct msd_cur *c, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t byte = msd_cur_u8(c);

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = v;
			return !c->bad;
		}
	}
	return false;
}

bool onnx_field_take(struct msd_cur *c, struct onnx_field *ret)
{
	uint64_t tag;
	uint64_t v;

	if (!take_varint(c, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
		return false;
	*ret = (struct onnx_field){.number = (uint32_t)(tag >> 3), .type = tag & 7};
	switch (ret->type) {
	case VARINT:
		return take_varint(c, &ret->value);
	case FIXED64:
		return msd_cur_read(c, 8) != NULL;
	case FIXED32:
		return msd_cur_read(c, 4) != NULL;
	case BYTES:
		if (!take_varint(c, &v) || v > c->left)
			return false;
		ret->n = (size_t)v;
		ret->body = msd_cur_read(c, ret->n);
		return ret->body != NULL;
	default: /* groups are older than ONNX */
		return false;
	}
}

static enum message message_of(enum message in, const struct onnx_field *f)
{
	for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
		if (nested[i].in == in && nested[i].field == f->number)
			return nested[i].is;
	}
	return NONE;
}

static void put_tag(struct msd_buf *out, const struct onnx_field *f)
{
	uint32_t tag = f->number << 3 | BYTES;

	for (; tag >= 0x80; tag >>= 7)
		msd_buf_put_u8(out, (uint8_t)(tag | 0x80));
	msd_buf_put_u8(out, (uint8_t)tag);
}

static void put_place(const struct scan *s, const struct onnx_field *f)
{
	put_tag(s->out, f);
	msd_buf_put_u8(s->out, ONNX_PLACE_BYTES);
	msd_buf_put_u64(s->out, (uint64_t)(f->body - s->file));
	msd_buf_put_u64(s->out, f->n);
}

/* Write the length of the data from @at on into the bytes reserved for it. */
static bool fill_length(const struct scan *s, size_t at)
{
	struct msd_buf *out = s->out;
	const uint64_t n = out->n - at - s->length_bytes;

	if (out->bad)
		return true; /* checked once, at the end */
	if (s->length_bytes == ONNX_SHORT_LENGTHS && n > INT32_MAX)
		return false;
	for (unsigned i = 0; i < s->length_bytes; i++) {
		const uint8_t more = i + 1 < s->length_bytes ? 0x80 : 0;

		out->p[at + i] = (uint8_t)((n >> (7 * i) & 0x7f) | more);
	}
	return true;
}

static int trim(struct scan *s, enum message in, struct msd_span body, unsigned depth);

static int trim_message(struct scan *s, enum message is, const struct onnx_field *f,
			unsigned depth)
{
	static const uint8_t room[ONNX_LONG_LENGTHS];

	if (depth == MAX_DEPTH)
		return fail(s, f->body, "messages are nested too deep");
	put_tag(s->out, f);
	const size_t at = s->out->n;
	msd_buf_put(s->out, room, s->length_bytes);
	const struct msd_span body = {f->body, f->n};
	bool is_written = false;
	int result = 0;
	if (is == TENSOR && s->tensor != NULL)
		result = s->tensor(s->ctx, body, s->out, &is_written);
	if (result == 0 && !is_written)
		result = trim(s, is, body, depth + 1);
	if (result != 0)
		return -1;
	return fill_length(s, at) ? 0 : fail(s, f->body, "a message is too large");
}

static int trim(struct scan *s, enum message in, struct msd_span body, unsigned depth)
{
	struct msd_cur c = msd_cur_of(body);

	while (c.left > 0) {
		const uint8_t *at = c.p;
		struct onnx_field f;

		if (!onnx_field_take(&c, &f)) {
			return fail(s, at,
				    "no protobuf field, or it ends behind the "
				    "file");
		}
		if (s->left-- == 0)
			return fail(s, at, "there are too many fields");
		const enum message is = message_of(in, &f);
		if (is != NONE && f.type != BYTES)
			return fail(s, at, "a field is of another kind than in ONNX");
		if (is != NONE) {
			if (trim_message(s, is, &f, depth) != 0)
				return -1;
		} else if (s->tensor == NULL && in == TENSOR &&
			   f.number == ONNX_RAW_DATA && f.type == BYTES) {
			put_place(s, &f);
		} else {
			msd_buf_put(s->out, at, (size_t)(c.p - at));
		}
	}
	return 0;
}

int onnx_wire_trim(modser_graph *g, struct msd_span file, struct msd_buf *out)
{
	struct scan s = {.g = g,
			 .file = file.p,
			 .out = out,
			 .left = ONNX_MAX_FIELDS,
			 .length_bytes = ONNX_SHORT_LENGTHS};

	if (trim(&s, MODEL, file, 0) != 0)
		return -1;
	if (out->bad)
		return msd_sg_no_memory(g);
	if (out->n > INT32_MAX) {
		return msd_sg_fail(g, MSD_TOO_LARGE,
				   "it has 2 GiB without its weights");
	}
	return 0;
}

int onnx_wire_copy(modser_graph *g, struct msd_span file, enum onnx_lengths lengths,
		   onnx_wire_tensor *tensor, void *ctx, struct msd_buf *out)
{
	struct scan s = {.g = g,
			 .file = file.p,
			 .out = out,
			 .left = ONNX_MAX_FIELDS,
			 .length_bytes = lengths,
			 .tensor = tensor,
			 .ctx = ctx};

	if (trim(&s, MODEL, file, 0) != 0)
		return -1;
	return out->bad ? msd_sg_no_memory(g) : 0;
}

void onnx_wire_put_others(struct msd_buf *out, struct msd_span message)
{
	struct msd_cur c = msd_cur_of(message);

	while (c.left > 0) {
		const uint8_t *at = c.p;
		struct onnx_field f;

		if (!onnx_field_take(&c, &f))
			return; /* protobuf-c has already read it */
		if (f.number != ONNX_RAW_DATA && f.number != ONNX_EXTERNAL_DATA &&
		    f.number != ONNX_DATA_LOCATION)
			msd_buf_put(out, at, (size_t)(c.p - at));
	}
}

/* True if @c is at the graph of a model: its message begins with one of the fields of
 * a graph that are messages or texts. */
static bool is_at_graph(struct msd_cur c)
{
	uint64_t n;

	if (msd_cur_u8(&c) != (7 << 3 | BYTES) || !take_varint(&c, &n) || n == 0)
		return false;
	const uint8_t tag = msd_cur_u8(&c);
	return !c.bad && (tag & 7) == BYTES && tag >> 3 >= 1 && tag >> 3 <= 15;
}

bool onnx_wire_probe(struct msd_span head)
{
	/* The wire type of each field of a model; -1 if undefined. */
	static const signed char kinds[] = {-1,     VARINT, BYTES, BYTES, BYTES,
					    VARINT, BYTES,  BYTES, BYTES};
	struct msd_cur c = msd_cur_of(head);
	bool has_version = false;

	while (c.left > 0) {
		struct onnx_field f;
		const uint8_t tag = *c.p;

		if (tag >> 3 >= sizeof(kinds) || kinds[tag >> 3] != (tag & 7))
			return has_version && tag >> 3 >= sizeof(kinds);
		if (tag >> 3 == 1) /* IR versions are small */
			has_version = c.left > 1 && c.p[1] >= 1 && c.p[1] < 64;
		if (tag >> 3 == 7)
			return has_version || is_at_graph(c);
		if (!onnx_field_take(
			    &c, &f)) /* the head or the file ends inside the field */
			return has_version;
	}
	return has_version;
}
