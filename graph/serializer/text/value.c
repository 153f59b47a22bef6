/* Numbers: decimal, hexadecimal and octal, with a sign; floats also as inf and nan and
 * with an f behind them. Enumerators by name or number. Adjacent strings are one. */
#include "graph/serializer/text/value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "graph/serializer/wire/wire.h"

#define MAX_NUMBER 64u /* characters */

/* Copy the current token for functions of the C library. */
static bool copy(const struct msd_tokens *t, char ret[static MAX_NUMBER])
{
	if (t->text.n >= MAX_NUMBER)
		return false;
	memcpy(ret, t->text.p, t->text.n);
	ret[t->text.n] = '\0';
	return true;
}

static bool is_word(const struct msd_tokens *t, const char *word)
{
	return t->kind == MSD_TOKEN_NAME && msd_span_is(t->text, word);
}

/* The size of a number; its sign is read elsewhere. */
static bool take_size(struct msd_tokens *t, uint64_t *ret)
{
	char text[MAX_NUMBER];
	char *end;

	if (t->kind != MSD_TOKEN_NUMBER || !copy(t, text))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 0);
	if (errno != 0 || *end != '\0')
		return false;
	msd_tokens_next(t);
	return true;
}

/* Read an integer from -@low to @high. */
static bool take_int(struct msd_tokens *t, uint64_t low, uint64_t high, uint64_t *ret)
{
	const bool is_negative = msd_tokens_skip(t, '-');
	uint64_t size;

	if (!take_size(t, &size) || size > (is_negative ? low : high))
		return false;
	*ret = is_negative ? 0 - size : size;
	return true;
}

static bool take_float(struct msd_tokens *t, bool is_double, double *ret)
{
	const bool is_negative = msd_tokens_skip(t, '-');
	char text[MAX_NUMBER];
	uint64_t whole;
	char *end = text;

	if (is_word(t, "inf") || is_word(t, "infinity") || is_word(t, "Infinity")) {
		*ret = (double)INFINITY;
	} else if (is_word(t, "nan") || is_word(t, "NaN")) {
		*ret = (double)NAN;
	} else if (t->kind != MSD_TOKEN_NUMBER || !copy(t, text)) {
		return false;
	} else if ((text[1] | 0x20) == 'x') { /* strtod() also takes fractions */
		if (!take_size(t, &whole))
			return false;
		*ret = is_negative ? -(double)whole : (double)whole;
		return true;
	} else {
		*ret = is_double ? strtod(text, &end) : (double)strtof(text, &end);
		end += *end == 'f' || *end == 'F';
		if (*end != '\0')
			return false;
	}
	*ret = is_negative ? -*ret : *ret;
	msd_tokens_next(t);
	return true;
}

static bool take_bool(struct msd_tokens *t, uint64_t *ret)
{
	static const char *const words[2][3] = {{"false", "False", "f"},
						{"true", "True", "t"}};

	for (unsigned v = 0; v < 2; v++) {
		for (unsigned i = 0; i < 3; i++) {
			if (is_word(t, words[v][i])) {
				*ret = v;
				msd_tokens_next(t);
				return true;
			}
		}
	}
	return take_int(t, 0, 1, ret);
}

static bool take_enum(struct msd_tokens *t, const ProtobufCEnumDescriptor *e,
		      uint64_t *ret)
{
	const ProtobufCEnumValue *v = NULL;
	uint64_t number;

	if (t->kind == MSD_TOKEN_NAME) {
		for (unsigned i = 0; i < e->n_value_names && v == NULL; i++) {
			const ProtobufCEnumValueIndex *one = &e->values_by_name[i];

			if (msd_span_is(t->text, one->name))
				v = &e->values[one->index];
		}
		if (v != NULL)
			msd_tokens_next(t);
	} else if (take_int(t, (uint64_t)INT32_MAX + 1, INT32_MAX, &number)) {
		v = protobuf_c_enum_descriptor_get_value(e, (int)(int64_t)number);
	}
	if (v == NULL)
		return false;
	*ret = (uint64_t)(int64_t)v->value;
	return true;
}

static const char *put_string(struct msd_tokens *t, uint32_t number,
			      struct msd_buf *out)
{
	if (t->kind != MSD_TOKEN_STRING)
		return "a string in quotes";
	msd_wire_put_tag(out, number, MSD_WIRE_BYTES);
	const size_t at = msd_wire_begin(out, MSD_WIRE_SHORT_LENGTHS);
	for (; t->kind == MSD_TOKEN_STRING; msd_tokens_next(t)) {
		if (!msd_tokens_string(t, out))
			return "an escape of the C language in the string";
	}
	return msd_wire_end(out, MSD_WIRE_SHORT_LENGTHS, at) ? NULL
							     : "a shorter string";
}

static const char *put_float(struct msd_tokens *t, const ProtobufCFieldDescriptor *f,
			     struct msd_buf *out)
{
	const bool is_double = f->type == PROTOBUF_C_TYPE_DOUBLE;
	double v;

	if (!take_float(t, is_double, &v))
		return "a number";
	if (is_double) {
		uint64_t bits;

		memcpy(&bits, &v, sizeof(bits));
		msd_wire_put_tag(out, f->id, MSD_WIRE_FIXED64);
		msd_buf_put_u64(out, bits);
	} else {
		const float single = (float)v;
		uint32_t bits;

		memcpy(&bits, &single, sizeof(bits));
		msd_wire_put_tag(out, f->id, MSD_WIRE_FIXED32);
		msd_buf_put_u32(out, bits);
	}
	return NULL;
}

static const struct integer {
	ProtobufCType type;
	uint64_t low, high; /* from -low on */
	const char *expected;
} integers[] = {
	{PROTOBUF_C_TYPE_INT32, (uint64_t)INT32_MAX + 1, INT32_MAX,
	 "an integer of 32 bits"},
	{PROTOBUF_C_TYPE_UINT32, 0, UINT32_MAX, "an integer of 32 bits, 0 or more"},
	{PROTOBUF_C_TYPE_INT64, (uint64_t)INT64_MAX + 1, INT64_MAX,
	 "an integer of 64 bits"},
	{PROTOBUF_C_TYPE_UINT64, 0, UINT64_MAX, "an integer of 64 bits, 0 or more"},
};

static const char *take_varint(struct msd_tokens *t, const ProtobufCFieldDescriptor *f,
			       uint64_t *ret)
{
	if (f->type == PROTOBUF_C_TYPE_BOOL)
		return take_bool(t, ret) ? NULL : "true or false";
	if (f->type == PROTOBUF_C_TYPE_ENUM) {
		const bool is_one = take_enum(t, f->descriptor, ret);

		return is_one ? NULL : "one of its enumerators";
	}
	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		const struct integer *k = &integers[i];

		if (k->type == f->type)
			return take_int(t, k->low, k->high, ret) ? NULL : k->expected;
	}
	return "a type that is read"; /* no message here has another one */
}

const char *msd_text_put_value(struct msd_tokens *t, const ProtobufCFieldDescriptor *f,
			       struct msd_buf *out)
{
	const char *expected;
	uint64_t v = 0;

	if (f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_BYTES)
		return put_string(t, f->id, out);
	if (f->type == PROTOBUF_C_TYPE_FLOAT || f->type == PROTOBUF_C_TYPE_DOUBLE)
		return put_float(t, f, out);
	expected = take_varint(t, f, &v);
	if (expected == NULL) {
		msd_wire_put_tag(out, f->id, MSD_WIRE_VARINT);
		msd_wire_put_varint(out, v);
	}
	return expected;
}
