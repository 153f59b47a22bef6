#ifndef MSD_TFLITE_FLAT_H
#define MSD_TFLITE_FLAT_H
/*
 * Read a FlatBuffer by the numbers of its fields. Every offset and count is checked
 * against the file's size. Tables may be referenced repeatedly, so the total read is
 * limited, too. The first fault is the error of the graph and sets `bad`; every later
 * read returns a default. Callers test `bad` after a group of reads.
 */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

struct flat {
	struct msd_span file;
	size_t budget; /* bytes that may still be read */
	bool bad;
	modser_graph *g;
};

/* A table; its fields are at the offsets that its vtable has. */
struct flat_table {
	const uint8_t *p; /* NULL: the table is absent, and so are its fields */
	const uint8_t *vtable;
	uint16_t vtable_bytes;
	uint16_t bytes;
};

/* Elements of a fixed size, or offsets of tables, borrowed from the file. */
struct flat_vector {
	const uint8_t *p;
	size_t n;
};

/** Begin to read @file; returns its root. Faults become errors of @g. */
struct flat_table flat_begin(struct flat *f, struct msd_span file, modser_graph *g);
/** True if the bytes of a file that begin with @head have the identifier @id. */
bool flat_has_id(struct msd_span head, const char id[static 4]);

/** Field @i of @t, or @otherwise if the file leaves it out. */
uint8_t flat_u8(struct flat *f, const struct flat_table *t, unsigned i,
		uint8_t otherwise);
int32_t flat_i32(struct flat *f, const struct flat_table *t, unsigned i,
		 int32_t otherwise);
uint64_t flat_u64(struct flat *f, const struct flat_table *t, unsigned i);
float flat_f32(struct flat *f, const struct flat_table *t, unsigned i, float otherwise);
/** Field @i of @t: a table, a vector of elements of @size bytes, a text. */
struct flat_table flat_child(struct flat *f, const struct flat_table *t, unsigned i);
struct flat_vector flat_vector(struct flat *f, const struct flat_table *t, unsigned i,
			       size_t size);
struct msd_span flat_text(struct flat *f, const struct flat_table *t, unsigned i);
/** Table @i of a vector of offsets, which has more than @i. */
struct flat_table flat_at(struct flat *f, const struct flat_vector *v, size_t i);
/** Number @i of a vector of int32 or float32. */
int32_t flat_at_i32(const struct flat_vector *v, size_t i);
float flat_at_f32(const struct flat_vector *v, size_t i);

#endif
