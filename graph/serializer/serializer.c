/* A serializer: the functions of its format, checked at creation, the methods
 * registered for operators, and the reference count. */
#include "graph/serializer/serializer.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/refuse.h"
#include "proto/base/grow.h"

static const struct msd_struct_field ops_fields[] = {
	MSD_FIELD(modser_serializer_ops, name),
	MSD_FIELD(modser_serializer_ops, format),
	MSD_FIELD(modser_serializer_ops, version),
	MSD_FIELD(modser_serializer_ops, probe),
	MSD_FIELD(modser_serializer_ops, load),
};
static const struct msd_struct ops_struct =
	MSD_STRUCT(modser_serializer_ops, ops_fields);

modser_serializer *modser_serializer_create(const modser_serializer_ops *ops)
{
	if (!msd_struct_check(&ops_struct, ops))
		return NULL;
	if (ops->n_files < 1) {
		(void)msd_refuse("modser_serializer_ops.n_files is 0");
		return NULL;
	}
	for (unsigned i = 0; ops->files != NULL && i < ops->n_files; i++) {
		if (ops->files[i].name == NULL || ops->files[i].probe == NULL) {
			(void)msd_refuse("modser_serializer_ops.files[%u] has no name "
					 "or probe",
					 i);
			return NULL;
		}
	}
	modser_serializer *s = calloc(1, sizeof(*s));
	pthread_mutex_t *lock = calloc(1, sizeof(*lock));

	if (s == NULL || lock == NULL || pthread_mutex_init(lock, NULL) != 0) {
		free(s);
		free(lock);
		return NULL;
	}
	s->ops = ops;
	s->lock = lock;
	atomic_init(&s->refs, 1);
	return s;
}

modser_serializer *msd_serializer_ref(modser_serializer *s)
{
	(void)atomic_fetch_add(&s->refs, 1);
	return s;
}

static void finish_methods(struct msd_op_methods *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->rows[i].op);
	free(m->rows);
}

void modser_serializer_unref(modser_serializer *s)
{
	if (s == NULL || atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	finish_methods(&s->loads);
	finish_methods(&s->stores);
	(void)pthread_mutex_destroy(s->lock);
	free(s->lock);
	free(s);
}

unsigned modser_serializer_file_count(const modser_serializer *s)
{
	if (s == NULL)
		return 0;
	return s->ops->n_files;
}

const char *modser_serializer_format(const modser_serializer *s)
{
	if (s == NULL)
		return "";
	return s->ops->format;
}

const char *modser_serializer_name(const modser_serializer *s)
{
	if (s == NULL)
		return "";
	return s->ops->name;
}

const char *modser_serializer_version(const modser_serializer *s)
{
	if (s == NULL)
		return "";
	return s->ops->version;
}

bool modser_serializer_can_store(const modser_serializer *s)
{
	if (s == NULL)
		return false;
	return s->ops->store != NULL;
}

modser_sg_op_method *msd_serializer_find_method(const modser_serializer *s,
						const struct msd_op_methods *m,
						const char *op)
{
	modser_sg_op_method *found = NULL;

	(void)pthread_mutex_lock(s->lock);
	for (size_t i = 0; i < m->n && found == NULL; i++) {
		if (strcmp(m->rows[i].op, op) == 0)
			found = m->rows[i].method;
	}
	(void)pthread_mutex_unlock(s->lock);
	return found;
}

modser_sg_op_method *msd_serializer_method(const modser_serializer *s, const char *op)
{
	return msd_serializer_find_method(s, &s->loads, op);
}

int msd_serializer_add_method(modser_serializer *s, struct msd_op_methods *m,
			      const char *op, modser_sg_op_method *method)
{
	char *name = msd_sg_copy(op, strlen(op));
	bool is_free = name != NULL;

	(void)pthread_mutex_lock(s->lock);
	for (size_t i = 0; i < m->n && is_free; i++)
		is_free = strcmp(m->rows[i].op, op) != 0;
	if (is_free && msd_grow(&m->rows, m->n, sizeof(*m->rows))) {
		m->rows[m->n++] = (struct msd_op_method){name, method};
		name = NULL;
	} else {
		is_free = false;
	}
	(void)pthread_mutex_unlock(s->lock);
	free(name);
	return is_free ? 0 : -1;
}

modser_sg_op_method *modser_serializer_op_store(const modser_serializer *s,
						const char *op)
{
	if (s == NULL || op == NULL)
		return NULL;
	return msd_serializer_find_method(s, &s->stores, op);
}
