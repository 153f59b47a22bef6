#include "graph/ir/schema.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/refuse.h"

/* A registered operator. The list only grows, so readers keep their pointers without
 * a lock. */
struct row {
	const modser_sg_op_schema *schema;
	struct row *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct row *registered;

typedef bool match_fn(const modser_sg_op_schema *schema, const void *key);

static bool has_name(const modser_sg_op_schema *schema, const void *key)
{
	return strcmp(schema->name, key) == 0;
}

static const modser_sg_op_schema *find_locked(match_fn *match, const void *key)
{
	for (const modser_sg_op_schema *const *s = msd_op_table; *s != NULL; s++) {
		if (match(*s, key))
			return *s;
	}
	for (const struct row *r = registered; r != NULL; r = r->next) {
		if (match(r->schema, key))
			return r->schema;
	}
	return NULL;
}

static const modser_sg_op_schema *find(match_fn *match, const void *key)
{
	(void)pthread_mutex_lock(&lock);
	const modser_sg_op_schema *found = find_locked(match, key);
	(void)pthread_mutex_unlock(&lock);
	return found;
}

static const struct msd_struct_field schema_fields[] = {
	MSD_FIELD(modser_sg_op_schema, name),
};
static const struct msd_struct schema_struct =
	MSD_STRUCT(modser_sg_op_schema, schema_fields);

static bool is_whole(const modser_sg_op_schema *schema)
{
	if (!msd_struct_check(&schema_struct, schema))
		return false;
	if (schema->n_fields > 0 && schema->fields == NULL)
		return msd_refuse("modser_sg_op_schema.fields is NULL") == 0;
	for (size_t i = 0; i < schema->n_fields; i++) {
		if (schema->fields[i].name == NULL) {
			return msd_refuse("modser_sg_op_field.name is NULL: number %zu "
					  "of operator %s",
					  i, schema->name) == 0;
		}
		if (!msd_sg_attr_is_whole(&schema->fields[i].def)) {
			return msd_refuse("modser_sg_op_field.def is NULL: %s of "
					  "operator %s",
					  schema->fields[i].name, schema->name) == 0;
		}
	}
	return true;
}

int modser_sg_op_register(const modser_sg_op_schema *schema)
{
	if (!is_whole(schema))
		return -1;
	struct row *row = malloc(sizeof(*row));
	int result = -1;

	if (row == NULL)
		return -1;
	(void)pthread_mutex_lock(&lock);
	if (find_locked(has_name, schema->name) == NULL) {
		*row = (struct row){schema, registered};
		registered = row;
		row = NULL;
		result = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	free(row);
	return result;
}

const modser_sg_op_schema *modser_sg_op_schema_find(const char *name)
{
	if (name == NULL)
		return NULL;
	return find(has_name, name);
}

static bool is_number(const modser_sg_op_schema *schema, const void *key)
{
	size_t *left = (size_t *)(uintptr_t)key;

	(void)schema;
	return (*left)-- == 0;
}

const modser_sg_op_schema *msd_op_schema_at(size_t i)
{
	return find(is_number, &i);
}

static const modser_sg_op_field *find_field(const modser_sg_op_schema *schema,
					    const char *name)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		if (strcmp(schema->fields[i].name, name) == 0)
			return &schema->fields[i];
	}
	return NULL;
}

const modser_sg_attr *modser_sg_op_default(const char *name, const char *param)
{
	if (name == NULL || param == NULL)
		return NULL;
	const modser_sg_op_schema *schema = modser_sg_op_schema_find(name);
	const modser_sg_op_field *field =
		schema != NULL ? find_field(schema, param) : NULL;

	return field != NULL ? &field->def : NULL;
}

const modser_sg_op_schema *modser_sg_op_schema_at(size_t i)
{
	return msd_op_schema_at(i);
}
