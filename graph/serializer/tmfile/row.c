/*
 * Operators in tmfiles: the built-in rows, rows added at run time, which readers walk
 * without a lock, and the words of rows. A row is checked when it is added: each word
 * names a parameter of its kind.
 */
#include "graph/serializer/tmfile/row.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/refuse.h"

/* Rows added at run time; the list only grows, at its head. */
struct tm_added {
	const modser_tmfile_row *row;
	const struct tm_added *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken by writers */
static _Atomic(const struct tm_added *) added;

static const struct {
	char kind;
	unsigned bytes;
	modser_sg_attr_kind attr;
} kinds[] = {
	{'i', 4, MODSER_ATTR_INT},    {'f', 4, MODSER_ATTR_FLOAT},
	{'b', 1, MODSER_ATTR_INT},    {'I', 4, MODSER_ATTR_INTS},
	{'F', 4, MODSER_ATTR_FLOATS}, {'Q', 4, MODSER_ATTR_FLOATS},
	{'s', 4, MODSER_ATTR_STR},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t kind_of(char kind)
{
	size_t i = 0;

	while (i < N_KINDS && kinds[i].kind != kind)
		i++;
	return i;
}

struct tm_field_walk tm_fields(const modser_tmfile_row *row)
{
	return (struct tm_field_walk){row->params, 0};
}

bool tm_field_next(struct tm_field_walk *w, struct tm_field *ret)
{
	const char *word = w->next + strspn(w->next, " ");
	const size_t n = strcspn(word, " ");

	if (n < 3 || word[1] != ':' || kind_of(word[0]) == N_KINDS)
		return false;
	const unsigned bytes = kinds[kind_of(word[0])].bytes;
	const unsigned offset = (w->bytes + bytes - 1) / bytes * bytes;

	*ret = (struct tm_field){word[0], word + 2, n - 2, offset};
	*w = (struct tm_field_walk){word + n, offset + bytes};
	return true;
}

bool tm_field_is(const struct tm_field *f, const char *name)
{
	return strncmp(f->name, name, f->n) == 0 && name[f->n] == '\0';
}

size_t tm_field_param(const struct tm_field *f, const modser_sg_op_schema *schema)
{
	size_t i = 0;

	while (i < schema->n_fields && !tm_field_is(f, schema->fields[i].name))
		i++;
	return i;
}

unsigned tm_row_bytes(const modser_tmfile_row *row)
{
	struct tm_field_walk w = tm_fields(row);
	struct tm_field f;

	while (tm_field_next(&w, &f))
		;
	return (w.bytes + 3) / 4 * 4;
}

const modser_tmfile_row *tm_row_at(size_t i)
{
	if (i < tm_n_rows)
		return &tm_rows[i];
	const struct tm_added *a = atomic_load(&added);
	for (i -= tm_n_rows; a != NULL && i > 0; i--)
		a = a->next;
	return a != NULL ? a->row : NULL;
}

const modser_tmfile_row *tm_row_of_type(uint32_t type)
{
	const modser_tmfile_row *row;
	size_t i = 0;

	do {
		row = tm_row_at(i++);
	} while (row != NULL && row->type != type);
	return row;
}

const modser_tmfile_row *tm_row_of_op(const char *op)
{
	const modser_tmfile_row *row;
	size_t i = 0;

	do {
		row = tm_row_at(i++);
	} while (row != NULL && strcmp(row->op, op) != 0);
	return row;
}

static const struct msd_struct_field row_fields[] = {
	MSD_FIELD(modser_tmfile_row, op), MSD_FIELD(modser_tmfile_row, params)};
static const struct msd_struct row_struct = MSD_STRUCT(modser_tmfile_row, row_fields);

/* Every word names a parameter of its kind, and none is left. */
static bool is_whole(const modser_tmfile_row *row)
{
	const modser_sg_op_schema *schema = modser_sg_op_schema_find(row->op);
	struct tm_field_walk w = tm_fields(row);
	struct tm_field f;

	if (schema == NULL) {
		return msd_refuse("modser_tmfile_row.op: no operator is called \"%s\"",
				  row->op) == 0;
	}
	while (tm_field_next(&w, &f)) {
		const size_t i = tm_field_param(&f, schema);

		if (i == schema->n_fields ||
		    schema->fields[i].def.kind != kinds[kind_of(f.kind)].attr) {
			return msd_refuse(
				       "modser_tmfile_row.params: operator %s has no "
				       "parameter of kind '%c' called \"%.*s\"",
				       row->op, f.kind, (int)f.n, f.name) == 0;
		}
	}
	if (w.next[strspn(w.next, " ")] != '\0') {
		return msd_refuse(
			       "modser_tmfile_row.params of %s: no kind is in \"%s\"",
			       row->op, w.next) == 0;
	}
	return true;
}

int modser_tmfile_add_row(const modser_tmfile_row *row)
{
	if (!msd_struct_check(&row_struct, row) || !is_whole(row))
		return -1;
	struct tm_added *mine = malloc(sizeof(*mine));
	int result = -1;

	if (mine == NULL)
		return -1;
	(void)pthread_mutex_lock(&lock);
	if (tm_row_of_type(row->type) == NULL && tm_row_of_op(row->op) == NULL) {
		*mine = (struct tm_added){row, atomic_load(&added)};
		atomic_store(&added, mine);
		mine = NULL;
		result = 0;
	} else {
		(void)msd_refuse("modser_tmfile_row: type %u or operator %s has a row",
				 (unsigned)row->type, row->op);
	}
	(void)pthread_mutex_unlock(&lock);
	free(mine);
	return result;
}
