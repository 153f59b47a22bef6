/*
 * The scan. Normal path: a field that its descriptor declares as a message is scanned
 * in turn, a weight becomes its location, everything else is copied. Failures name the
 * byte of the file.
 */
#include "graph/serializer/wire/wire.h"

#include "graph/ir/graph.h"

#define MAX_DEPTH (4 * MODSER_GRAPH_MAX_DEPTH) /* messages: graph, node, attribute */

struct scan {
	modser_graph *g;
	const struct msd_wire_format *format;
	const uint8_t *file;
	struct msd_buf *out;
	size_t left; /* number of fields still allowed */
	unsigned lengths;
	const struct msd_wire_hook *hook; /* NULL: weights become their locations */
};

static int fail(const struct scan *s, const uint8_t *at, const char *text)
{
	return msd_sg_fail(s->g, MSD_BAD_ARTIFACT, "byte %zu: %s",
			   (size_t)(at - s->file), text);
}

bool msd_wire_take_varint(struct msd_cur *c, uint64_t *ret)
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

bool msd_wire_take(struct msd_cur *c, struct msd_wire_field *ret)
{
	uint64_t tag;
	uint64_t n = 0;

	if (!msd_wire_take_varint(c, &tag) || tag >> 3 == 0 ||
	    tag >> 3 > UINT32_MAX >> 3)
		return false;
	*ret = (struct msd_wire_field){.number = (uint32_t)(tag >> 3), .type = tag & 7};
	switch (ret->type) {
	case MSD_WIRE_VARINT:
		return msd_wire_take_varint(c, &ret->value);
	case MSD_WIRE_FIXED64:
		n = 8;
		break;
	case MSD_WIRE_FIXED32:
		n = 4;
		break;
	case MSD_WIRE_BYTES:
		if (!msd_wire_take_varint(c, &n))
			return false;
		break;
	default: /* groups are older than all formats here */
		return false;
	}
	ret->n = (size_t)n;
	ret->body = n <= c->left ? msd_cur_read(c, ret->n) : NULL;
	return ret->body != NULL;
}

bool msd_wire_place(const ProtobufCBinaryData *field, struct msd_span file,
		    struct msd_span *ret)
{
	if (field->len != MSD_WIRE_PLACE_BYTES)
		return false;
	const uint64_t offset = msd_le64(field->data);
	const uint64_t n = msd_le64(field->data + 8);

	if (offset > file.n || n > file.n - offset)
		return false;
	*ret = (struct msd_span){file.p + offset, (size_t)n};
	return true;
}

void msd_wire_put_varint(struct msd_buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		msd_buf_put_u8(out, (uint8_t)(v | 0x80));
	msd_buf_put_u8(out, (uint8_t)v);
}

void msd_wire_put_tag(struct msd_buf *out, uint32_t number, enum msd_wire_type type)
{
	msd_wire_put_varint(out, (uint64_t)number << 3 | (uint64_t)type);
}

size_t msd_wire_begin(struct msd_buf *out, unsigned lengths)
{
	static const uint8_t room[MSD_WIRE_LONG_LENGTHS];
	const size_t at = out->n;

	msd_buf_put(out, room, lengths);
	return at;
}

bool msd_wire_end(struct msd_buf *out, unsigned lengths, size_t at)
{
	if (out->bad)
		return true; /* checked once, at the end */
	const uint64_t n = out->n - at - lengths;
	if (lengths == MSD_WIRE_SHORT_LENGTHS && n > INT32_MAX)
		return false;
	for (unsigned i = 0; i < lengths; i++) {
		const uint8_t more = i + 1 < lengths ? 0x80 : 0;

		out->p[at + i] = (uint8_t)((n >> (7 * i) & 0x7f) | more);
	}
	return true;
}

/* The type of a field that is a message; NULL: it is none. */
static const ProtobufCMessageDescriptor *
message_of(const ProtobufCMessageDescriptor *in, uint32_t number)
{
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field(in, number);

	return f != NULL && f->type == PROTOBUF_C_TYPE_MESSAGE ? f->descriptor : NULL;
}

static bool is_weight(const struct scan *s, const ProtobufCMessageDescriptor *in,
		      const struct msd_wire_field *f)
{
	if (s->hook != NULL || f->type == MSD_WIRE_VARINT)
		return false;
	for (size_t i = 0; i < s->format->n_weights; i++) {
		if (s->format->weights[i].in == in &&
		    s->format->weights[i].field == f->number)
			return true;
	}
	return false;
}

static void put_place(const struct scan *s, const struct msd_wire_field *f)
{
	msd_wire_put_tag(s->out, f->number, MSD_WIRE_BYTES);
	msd_buf_put_u8(s->out, MSD_WIRE_PLACE_BYTES);
	msd_buf_put_u64(s->out, (uint64_t)(f->body - s->file));
	msd_buf_put_u64(s->out, f->n);
}

static int trim(struct scan *s, const ProtobufCMessageDescriptor *in,
		struct msd_span body, unsigned depth);

static int trim_message(struct scan *s, const ProtobufCMessageDescriptor *is,
			const struct msd_wire_field *f, unsigned depth)
{
	if (depth == MAX_DEPTH)
		return fail(s, f->body, "messages are nested too deep");
	msd_wire_put_tag(s->out, f->number, MSD_WIRE_BYTES);
	const size_t at = msd_wire_begin(s->out, s->lengths);
	const struct msd_span body = {f->body, f->n};
	bool is_written = false;
	int result = 0;
	if (s->hook != NULL && is == s->hook->is)
		result = s->hook->replace(s->hook->ctx, body, s->out, &is_written);
	if (result == 0 && !is_written)
		result = trim(s, is, body, depth + 1);
	if (result != 0)
		return -1;
	return msd_wire_end(s->out, s->lengths, at)
		       ? 0
		       : fail(s, f->body, "a message is too large");
}

static int trim(struct scan *s, const ProtobufCMessageDescriptor *in,
		struct msd_span body, unsigned depth)
{
	struct msd_cur c = msd_cur_of(body);

	while (c.left > 0) {
		const uint8_t *at = c.p;
		struct msd_wire_field f = {0};

		if (!msd_wire_take(&c, &f)) {
			if (depth == 0 && f.n > c.left) {
				return msd_sg_fail(s->g, MSD_BAD_ARTIFACT,
						   "it is cut off: the field at byte "
						   "%zu has %zu bytes, %zu are there",
						   (size_t)(at - s->file), f.n, c.left);
			}
			return fail(s, at,
				    "no protobuf field, or it ends behind the "
				    "file");
		}
		if (s->left-- == 0)
			return fail(s, at, "there are too many fields");
		const ProtobufCMessageDescriptor *is = message_of(in, f.number);
		if (is != NULL && f.type != MSD_WIRE_BYTES) {
			return msd_sg_fail(s->g, MSD_BAD_ARTIFACT,
					   "byte %zu: a field is of another kind than "
					   "in %s",
					   (size_t)(at - s->file), s->format->name);
		}
		if (is != NULL) {
			if (trim_message(s, is, &f, depth) != 0)
				return -1;
		} else if (is_weight(s, in, &f)) {
			put_place(s, &f);
		} else {
			msd_buf_put(s->out, at, (size_t)(c.p - at));
		}
	}
	return 0;
}

int msd_wire_trim(modser_graph *g, const struct msd_wire_format *format,
		  struct msd_span file, struct msd_buf *out)
{
	struct scan s = {.g = g,
			 .format = format,
			 .file = file.p,
			 .out = out,
			 .left = MSD_WIRE_MAX_FIELDS,
			 .lengths = MSD_WIRE_SHORT_LENGTHS};

	if (trim(&s, format->root, file, 0) != 0)
		return -1;
	if (out->bad)
		return msd_sg_no_memory(g);
	if (out->n > INT32_MAX) {
		return msd_sg_fail(g, MSD_TOO_LARGE,
				   "it has 2 GiB without its weights");
	}
	return 0;
}

int msd_wire_copy(modser_graph *g, const struct msd_wire_format *format,
		  struct msd_span file, enum msd_wire_lengths lengths,
		  const struct msd_wire_hook *hook, struct msd_buf *out)
{
	struct scan s = {.g = g,
			 .format = format,
			 .file = file.p,
			 .out = out,
			 .left = MSD_WIRE_MAX_FIELDS,
			 .lengths = lengths,
			 .hook = hook};

	if (trim(&s, format->root, file, 0) != 0)
		return -1;
	return out->bad ? msd_sg_no_memory(g) : 0;
}
