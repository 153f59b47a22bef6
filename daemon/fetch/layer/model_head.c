#include "daemon/fetch/layer/model_head.h"

#define ELF_SHARED 3u
#define ELF_TYPE_AT 16u
#define TMFILE_HEADER 12u
#define MAX_IR_VERSION 64u

/* A field of a protobuf message with bytes, by its number. */
#define FIELD(number) ((number) << 3 | 2)

static bool is_library(struct msd_span head)
{
	return head.n > ELF_TYPE_AT + 1 &&
	       memcmp(head.p,
		      "\x7f"
		      "ELF",
		      4) == 0 &&
	       head.p[ELF_TYPE_AT] == ELF_SHARED && head.p[ELF_TYPE_AT + 1] == 0;
}

/* A ModelProto: the version of the format, then one of its other fields. */
static bool is_onnx(struct msd_span head)
{
	static const uint8_t next[] = {FIELD(2), FIELD(3), FIELD(4), 5 << 3,
				       FIELD(6), FIELD(7), FIELD(8)};

	if (head.n < 4 || head.p[0] != 1 << 3 || head.p[1] == 0 ||
	    head.p[1] >= MAX_IR_VERSION)
		return false;
	return memchr(next, head.p[2], sizeof(next)) != NULL;
}

static uint64_t take_varint(struct msd_cur *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = msd_cur_u8(c);
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) != 0 && shift < 63 && !c->bad);
	return value;
}

/* A GraphDef: a node, which begins with its name and the name of its operator. */
static bool is_tensorflow(struct msd_span head)
{
	struct msd_cur c = msd_cur_of(head);

	if (msd_cur_u8(&c) != FIELD(1) || take_varint(&c) < 4 ||
	    msd_cur_u8(&c) != FIELD(1))
		return false;
	const uint64_t n = take_varint(&c);
	const uint8_t *name = n > 0 && n < head.n ? msd_cur_read(&c, (size_t)n) : NULL;
	for (uint64_t i = 0; name != NULL && i < n; i++) {
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	}
	if (name == NULL || msd_cur_u8(&c) != FIELD(2) || take_varint(&c) < 2)
		return false;
	const uint8_t first = msd_cur_u8(&c);
	return !c.bad && ((first >= 'A' && first <= 'Z') || first == '_');
}

static bool is_tflite(struct msd_span head)
{
	return head.n >= 8 && memcmp(head.p + 4, "TFL3", 4) == 0;
}

/* There is no magic number: a version, and the place of a root behind the header. */
static bool is_tmfile(struct msd_span head, uint64_t bytes)
{
	static const uint8_t version[] = {2, 0, 0, 0, 0, 0};
	struct msd_cur c = msd_cur_of(head);

	if (head.n < TMFILE_HEADER || memcmp(head.p, version, sizeof(version)) != 0)
		return false;
	(void)msd_cur_read(&c, 8);
	const uint32_t root = msd_cur_u32(&c);
	return root >= TMFILE_HEADER && root < bytes;
}

enum msd_model_head msd_model_head_of(struct msd_span head, uint64_t bytes)
{
	if (is_library(head))
		return MSD_HEAD_LIBRARY;
	return is_tflite(head) || is_onnx(head) || is_tmfile(head, bytes) ||
			       is_tensorflow(head)
		       ? MSD_HEAD_MODEL
		       : MSD_HEAD_OTHER;
}
