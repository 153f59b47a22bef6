#include "graph/serializer/operators.h"

#include <stdlib.h>
#include <string.h>

#include "graph/serializer/serializer.h"

/* Operators that the built-in formats read and write without methods. */
static const struct own {
	const modser_serializer_ops *ops;
	bool (*loaded)(struct msd_operators *ret);
	bool (*stored)(struct msd_operators *ret);
	/* Loads each of them; NULL: a layer of the format makes several nodes. */
	modser_sg_op_method *load;
} owns[] = {{&msd_tmfile_serializer, msd_tmfile_operators, msd_tmfile_operators,
	     (modser_sg_op_method *)msd_tmfile_load_known},
	    {&msd_onnx_serializer, msd_onnx_operators_loaded, msd_onnx_operators_stored,
	     (modser_sg_op_method *)msd_onnx_load_known},
	    {&msd_caffe_serializer, msd_caffe_operators, NULL, NULL},
	    {&msd_caffe_single_serializer, msd_caffe_operators, NULL, NULL},
	    {&msd_mxnet_serializer, msd_mxnet_operators, NULL, NULL},
	    {&msd_tflite_serializer, msd_tflite_operators, NULL, NULL},
	    {&msd_tensorflow_serializer, msd_tensorflow_operators, NULL, NULL}};

static bool add_methods(const modser_serializer *s, const struct msd_op_methods *m,
			struct msd_operators *ret)
{
	bool is_fine = true;

	(void)pthread_mutex_lock(s->lock);
	for (size_t i = 0; i < m->n && is_fine; i++)
		is_fine = msd_operators_add(ret, m->rows[i].op);
	(void)pthread_mutex_unlock(s->lock);
	return is_fine;
}

static const struct own *own_of(const modser_serializer *s)
{
	for (size_t i = 0; i < sizeof(owns) / sizeof(owns[0]); i++) {
		if (owns[i].ops == s->ops)
			return &owns[i];
	}
	return NULL;
}

static bool is_among(const struct msd_operators *o, const char *name)
{
	for (size_t i = 0; i < o->n; i++) {
		if (strcmp(o->names[i], name) == 0)
			return true;
	}
	return false;
}

static bool is_own_operator(const modser_serializer *s, bool stores, const char *op,
			    modser_sg_op_method **ret_load)
{
	const struct own *own = own_of(s);
	struct msd_operators o = {0};

	*ret_load = NULL;
	if (own == NULL || (stores && own->stored == NULL))
		return false;
	const bool is_own =
		(stores ? own->stored : own->loaded)(&o) && is_among(&o, op);
	msd_operators_finish(&o);
	if (is_own && !stores)
		*ret_load = own->load;
	return is_own;
}

bool msd_operators_loaded(const modser_serializer *s, struct msd_operators *ret)
{
	const struct own *own = own_of(s);

	*ret = (struct msd_operators){0};
	return (own == NULL || own->loaded(ret)) && add_methods(s, &s->loads, ret);
}

bool msd_operators_stored(const modser_serializer *s, struct msd_operators *ret)
{
	const struct own *own = own_of(s);

	*ret = (struct msd_operators){0};
	return (own == NULL || own->stored == NULL || own->stored(ret)) &&
	       add_methods(s, &s->stores, ret);
}

int modser_serializer_register_op_load(modser_serializer *s, const char *op,
				       modser_sg_op_method *method)
{
	modser_sg_op_method *own;

	if (s == NULL || op == NULL || method == NULL ||
	    is_own_operator(s, false, op, &own))
		return -1;
	return msd_serializer_add_method(s, &s->loads, op, method);
}

modser_sg_op_method *modser_serializer_op_load(const modser_serializer *s,
					       const char *op)
{
	modser_sg_op_method *own;

	if (s == NULL || op == NULL)
		return NULL;
	if (is_own_operator(s, false, op, &own))
		return own;
	return msd_serializer_find_method(s, &s->loads, op);
}

int modser_serializer_register_op_store(modser_serializer *s, const char *op,
					modser_sg_op_method *method)
{
	modser_sg_op_method *own;

	if (s == NULL || op == NULL || method == NULL ||
	    is_own_operator(s, true, op, &own))
		return -1;
	return msd_serializer_add_method(s, &s->stores, op, method);
}
