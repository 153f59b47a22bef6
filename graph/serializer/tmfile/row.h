#ifndef MSD_TMFILE_ROW_H
#define MSD_TMFILE_ROW_H
/* Operators in tmfiles: their numbers and structures, built-in and added rows. */
#include "graph/modser_graph.h"

/** The built-in rows (rows.c). */
extern const modser_tmfile_row tm_rows[];
extern const size_t tm_n_rows;

/* Tengine's operators that have no counterpart here, ended by a row without a name. */
struct tm_missing {
	uint32_t type;
	const char *name;
};
extern const struct tm_missing tm_missing[];

/** The row of that number, or of the operator of that name; NULL if absent. */
const modser_tmfile_row *tm_row_of_type(uint32_t type);
const modser_tmfile_row *tm_row_of_op(const char *op);
/** Row @i of all; NULL if there are fewer. */
const modser_tmfile_row *tm_row_at(size_t i);
/** The bytes of the row's structure. */
unsigned tm_row_bytes(const modser_tmfile_row *row);

/* A field of a structure. */
struct tm_field {
	char kind;        /* as in modser_tmfile_row */
	const char *name; /* parameter, not NUL-terminated */
	size_t n;         /* its length */
	unsigned offset;
};

/* A walk over the fields of a row. */
struct tm_field_walk {
	const char *next;
	unsigned bytes; /* all fields so far */
};
/** Begin a walk over @row. */
struct tm_field_walk tm_fields(const modser_tmfile_row *row);
/** Take the next field. False at the end, or at a word that is none. */
bool tm_field_next(struct tm_field_walk *w, struct tm_field *ret);
/** True if parameter @name is the field's. */
bool tm_field_is(const struct tm_field *f, const char *name);
/** The number of the field's parameter in @schema; its n_fields if absent. */
size_t tm_field_param(const struct tm_field *f, const modser_sg_op_schema *schema);

#endif
