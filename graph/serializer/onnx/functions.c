#include "graph/serializer/onnx/functions.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/load.h"

/* The identity of a function. */
struct key {
	const char *name;
	const char *domain;
	const char *overload;
};

static struct key key_of(const Onnx__FunctionProto *f)
{
	return (struct key){onnx_text(f->name), onnx_text(f->domain),
			    onnx_text(f->overload)};
}

static int order(const struct key *a, const struct key *b)
{
	int sign = strcmp(a->name, b->name);

	if (sign == 0)
		sign = strcmp(a->domain, b->domain);
	return sign != 0 ? sign : strcmp(a->overload, b->overload);
}

static int order_functions(const void *a, const void *b)
{
	const struct key left = key_of(((const struct onnx_function *)a)->proto);
	const struct key right = key_of(((const struct onnx_function *)b)->proto);

	return order(&left, &right);
}

int onnx_functions_make(const Onnx__ModelProto *m, modser_graph *g,
			struct onnx_functions *ret)
{
	*ret = (struct onnx_functions){0};
	if (m->n_functions == 0)
		return 0;
	ret->list = calloc(m->n_functions, sizeof(*ret->list));
	if (ret->list == NULL)
		return msd_sg_no_memory(g);
	for (; ret->n < m->n_functions; ret->n++) {
		const Onnx__FunctionProto *f = m->functions[ret->n];

		ret->list[ret->n].proto = f;
		ret->list[ret->n].bytes = protobuf_c_message_get_packed_size(&f->base);
	}
	qsort(ret->list, ret->n, sizeof(*ret->list), order_functions);
	for (size_t i = 1; i < ret->n; i++) {
		if (order_functions(&ret->list[i - 1], &ret->list[i]) == 0) {
			return msd_sg_fail(g, MSD_BAD_ARTIFACT,
					   "two functions are called \"%s\"",
					   onnx_text(ret->list[i].proto->name));
		}
	}
	return 0;
}

static int order_sought(const void *sought, const void *element)
{
	const struct onnx_function *f = element;
	const struct key key = key_of(f->proto);

	return order(sought, &key);
}

struct onnx_function *onnx_functions_find(const struct onnx_functions *functions,
					  const Onnx__NodeProto *p)
{
	const struct key sought = {onnx_text(p->op_type), onnx_text(p->domain),
				   onnx_text(p->overload)};

	if (functions->n == 0)
		return NULL;
	return bsearch(&sought, functions->list, functions->n, sizeof(*functions->list),
		       order_sought);
}

void onnx_functions_finish(struct onnx_functions *functions)
{
	free(functions->list);
	*functions = (struct onnx_functions){0};
}
