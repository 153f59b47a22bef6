/*
 * Happy path: tables, vectors and texts of a FlatBuffer are found by their offsets.
 * Failures: an offset leads out of the file, or the walk reads more than a multiple of
 * the file's size; the first failure is kept, and later reads give nothing.
 */
#include "graph/serializer/tflite/flat.h"

#include <string.h>

#include "graph/ir/graph.h"

#define BUDGET_FACTOR 8u /* times the file's size; real files need it about once */
#define OFFSET 4u        /* bytes of an offset or a count */

static void fail(struct flat *f, const char *what, size_t at)
{
	if (!f->bad) {
		(void)msd_sg_fail(f->g, MSD_BAD_ARTIFACT,
				  "%s at offset %zu, and the file has %zu bytes", what,
				  at, f->file.n);
	}
	f->bad = true;
}

/* The @n bytes at @at; NULL: outside the file, or read too often. */
static const uint8_t *read(struct flat *f, size_t at, size_t n, const char *what)
{
	if (f->bad)
		return NULL;
	if (at > f->file.n || n > f->file.n - at) {
		fail(f, what, at);
		return NULL;
	}
	if (n > f->budget) {
		fail(f, "the same objects again and again", at);
		return NULL;
	}
	f->budget -= n;
	return f->file.p + at;
}

static size_t place(const struct flat *f, const uint8_t *p)
{
	return (size_t)(p - f->file.p);
}

/* The table at @at. Its vtable begins as many bytes before it as its first number. */
static struct flat_table table(struct flat *f, size_t at)
{
	const uint8_t *head = read(f, at, OFFSET, "a table");
	struct flat_table ret = {0};

	if (head == NULL)
		return ret;
	const int64_t to = (int64_t)at - (int32_t)msd_le32(head);
	const uint8_t *vtable =
		to >= 0 ? read(f, (size_t)to, 2 * sizeof(uint16_t), "a vtable") : NULL;
	if (vtable == NULL) {
		fail(f, "a vtable", at);
		return ret;
	}
	ret.vtable_bytes = msd_le16(vtable);
	ret.bytes = msd_le16(vtable + 2);
	if (ret.vtable_bytes < OFFSET || ret.bytes < OFFSET ||
	    read(f, (size_t)to, ret.vtable_bytes, "a vtable") == NULL ||
	    read(f, at, ret.bytes, "a table") == NULL) {
		fail(f, "a vtable", (size_t)to);
		return (struct flat_table){0};
	}
	ret.p = head;
	ret.vtable = vtable;
	return ret;
}

bool flat_has_id(struct msd_span head, const char id[static 4])
{
	return head.n >= 2 * OFFSET && memcmp(head.p + OFFSET, id, OFFSET) == 0;
}

struct flat_table flat_begin(struct flat *f, struct msd_span file, modser_graph *g)
{
	*f = (struct flat){.file = file, .g = g};
	if (!msd_mul_size(file.n, BUDGET_FACTOR, &f->budget))
		f->budget = SIZE_MAX;
	const uint8_t *root = read(f, 0, OFFSET, "the root");
	return root != NULL ? table(f, msd_le32(root)) : (struct flat_table){0};
}

/* The @size bytes of field @i; NULL if the file leaves it out. */
static const uint8_t *field(struct flat *f, const struct flat_table *t, unsigned i,
			    size_t size)
{
	const size_t slot = OFFSET + (size_t)i * sizeof(uint16_t);

	if (f->bad || t->p == NULL || slot + sizeof(uint16_t) > t->vtable_bytes)
		return NULL;
	const uint16_t at = msd_le16(t->vtable + slot);
	if (at == 0)
		return NULL;
	if (at < OFFSET || at + size > t->bytes) {
		fail(f, "a field outside its table", place(f, t->p));
		return NULL;
	}
	return t->p + at;
}

uint8_t flat_u8(struct flat *f, const struct flat_table *t, unsigned i,
		uint8_t otherwise)
{
	const uint8_t *p = field(f, t, i, 1);

	return p != NULL ? *p : otherwise;
}

int32_t flat_i32(struct flat *f, const struct flat_table *t, unsigned i,
		 int32_t otherwise)
{
	const uint8_t *p = field(f, t, i, 4);

	return p != NULL ? (int32_t)msd_le32(p) : otherwise;
}

uint64_t flat_u64(struct flat *f, const struct flat_table *t, unsigned i)
{
	const uint8_t *p = field(f, t, i, 8);

	return p != NULL ? msd_le64(p) : 0;
}

static float float_of(const uint8_t *p)
{
	const uint32_t bits = msd_le32(p);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

float flat_f32(struct flat *f, const struct flat_table *t, unsigned i, float otherwise)
{
	const uint8_t *p = field(f, t, i, 4);

	return p != NULL ? float_of(p) : otherwise;
}

struct flat_table flat_child(struct flat *f, const struct flat_table *t, unsigned i)
{
	const uint8_t *p = field(f, t, i, OFFSET);

	return p != NULL ? table(f, place(f, p) + msd_le32(p)) : (struct flat_table){0};
}

struct flat_vector flat_vector(struct flat *f, const struct flat_table *t, unsigned i,
			       size_t size)
{
	const uint8_t *p = field(f, t, i, OFFSET);
	struct flat_vector ret = {0};

	if (p == NULL)
		return ret;
	const size_t at = place(f, p) + msd_le32(p);
	const uint8_t *head = read(f, at, OFFSET, "a vector");
	const size_t n = head != NULL ? msd_le32(head) : 0;
	size_t bytes;
	if (head == NULL || !msd_mul_size(n, size, &bytes) ||
	    read(f, at + OFFSET, bytes, "a vector longer than the file") == NULL)
		return ret;
	return (struct flat_vector){head + OFFSET, n};
}

struct msd_span flat_text(struct flat *f, const struct flat_table *t, unsigned i)
{
	const struct flat_vector v = flat_vector(f, t, i, 1);

	return (struct msd_span){v.p, v.n};
}

struct flat_table flat_at(struct flat *f, const struct flat_vector *v, size_t i)
{
	const uint8_t *p = v->p + OFFSET * i;

	return f->bad ? (struct flat_table){0} : table(f, place(f, p) + msd_le32(p));
}

int32_t flat_at_i32(const struct flat_vector *v, size_t i)
{
	return (int32_t)msd_le32(v->p + 4 * i);
}

float flat_at_f32(const struct flat_vector *v, size_t i)
{
	return float_of(v->p + 4 * i);
}
