/*
 * Bodies: the names of their nodes, and the inputs of each node as links. The graph
 * writes "node:2", a function "node:output:2" with the name of an output of the
 * operator. Control inputs ("^node") are dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/load.h"

#define MAX_NAME 4096u

/* Outputs of operators by their names, for those with several; any other name is of
 * output 0. */
static const struct {
	const char *op, *name;
	size_t at;
} outputs[] = {
	{"Switch", "output_false", 0},
	{"Switch", "output_true", 1},
	{"Merge", "value_index", 1},
	{"TopKV2", "indices", 1},
	{"CombinedNonMaxSuppression", "nmsed_scores", 1},
	{"CombinedNonMaxSuppression", "nmsed_classes", 2},
	{"CombinedNonMaxSuppression", "valid_detections", 3},
	{"NonMaxSuppressionV4", "valid_outputs", 1},
	{"NonMaxSuppressionV5", "selected_scores", 1},
	{"NonMaxSuppressionV5", "valid_outputs", 2},
	{"FusedBatchNorm", "batch_mean", 1},
	{"FusedBatchNorm", "batch_variance", 2},
	{"FusedBatchNormV2", "batch_mean", 1},
	{"FusedBatchNormV2", "batch_variance", 2},
	{"FusedBatchNormV3", "batch_mean", 1},
	{"FusedBatchNormV3", "batch_variance", 2},
	{"TensorListPopBack", "tensor", 1},
	{"Unique", "idx", 1},
	{"SoftmaxCrossEntropyWithLogits", "backprop", 1},
};

static bool to_number(const char *text, size_t *ret)
{
	size_t v = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || v > UINT32_MAX / 10)
			return false;
		v = 10 * v + (size_t)(*text - '0');
	}
	*ret = v;
	return true;
}

static size_t find(const struct msd_names *names, const char *name)
{
	return (size_t)(uintptr_t)msd_names_find(names, name);
}

/* "output:2" of the node at @ret->at. */
static bool read_output(const struct tf_body *b, const char *text, struct tf_link *ret)
{
	const char *colon = strchr(text, ':');
	const char *op = b->nodes[ret->at]->op;

	if (colon == NULL)
		return to_number(text, &ret->out);
	if (!to_number(colon + 1, &ret->out))
		return false;
	const size_t n = (size_t)(colon - text);
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		if (strcmp(outputs[i].op, op) == 0 && strlen(outputs[i].name) == n &&
		    memcmp(outputs[i].name, text, n) == 0)
			ret->out += outputs[i].at;
	}
	return true;
}

bool tf_link_read(const struct tf_body *b, const char *text, struct tf_link *ret,
		  bool *ret_control)
{
	char name[MAX_NAME];
	const char *colon = strchr(text, ':');
	const size_t n = colon != NULL ? (size_t)(colon - text) : strlen(text);

	*ret = (struct tf_link){0};
	*ret_control = *text == '^';
	if (*ret_control || n >= sizeof(name))
		return false;
	memcpy(name, text, n);
	name[n] = '\0';
	const size_t arg = find(&b->args, name);
	if (arg > 0) {
		ret->is_arg = true;
		ret->at = arg - 1;
		return true;
	}
	const size_t node = find(&b->names, name);
	if (node == 0)
		return false;
	ret->at = node - 1;
	return colon == NULL || read_output(b, colon + 1, ret);
}

bool tf_input_of(const struct tf_body *b, size_t i, size_t k, struct tf_link *ret)
{
	const tf_node *node = b->nodes[i];
	bool is_control;

	/* Control inputs follow all others. */
	return k < node->n_input && tf_link_read(b, node->input[k], ret, &is_control);
}

static int check_node(struct tf_load *l, struct tf_body *b, size_t i)
{
	const tf_node *node = b->nodes[i];
	bool was_control = false;

	for (size_t k = 0; k < node->n_input; k++) {
		struct tf_link link;
		bool is_control;
		bool is_also;

		if (tf_link_read(b, node->input[k], &link, &is_control) &&
		    !was_control) {
			b->uses[link.is_arg ? b->n : link.at]++;
			continue;
		}
		was_control = true;
		/* One that another node waits for is no output of the graph. */
		if (is_control &&
		    tf_link_read(b, node->input[k] + 1, &link, &is_also) &&
		    !link.is_arg)
			b->uses[link.at]++;
		if (!is_control) {
			return tf_load_fail(l, MSD_BAD_ARTIFACT,
					    "node \"%.200s\" (%.60s): input %zu, "
					    "\"%.200s\", is no output of a node",
					    node->name, node->op, k, node->input[k]);
		}
	}
	b->has_switch = b->has_switch || strcmp(node->op, "Switch") == 0;
	return 0;
}

static int add_names(struct tf_load *l, struct tf_body *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const tf_node *node = b->nodes[i];

		if (node->name == NULL || node->op == NULL || node->name[0] == '\0') {
			return tf_load_fail(l, MSD_BAD_ARTIFACT,
					    "node %zu has no name or operator", i);
		}
		if (find(&b->names, node->name) != 0) {
			return tf_load_fail(l, MSD_BAD_ARTIFACT,
					    "two nodes are called \"%.200s\"",
					    node->name);
		}
		if (!msd_names_add(&b->names, node->name, (void *)(uintptr_t)(i + 1)))
			return msd_sg_no_memory(l->g);
	}
	return 0;
}

static int add_args(struct tf_load *l, struct tf_body *b)
{
	const Tensorflow__OpDef *s = b->function->signature;

	for (size_t i = 0; i < s->n_input_arg; i++) {
		const char *name = s->input_arg[i]->name;

		if (name == NULL || find(&b->args, name) != 0) {
			return tf_load_fail(l, MSD_BAD_ARTIFACT,
					    "function \"%.200s\": argument %zu has no "
					    "name of its own",
					    b->name, i);
		}
		if (!msd_names_add(&b->args, name, (void *)(uintptr_t)(i + 1)))
			return msd_sg_no_memory(l->g);
	}
	return 0;
}

int tf_body_init(struct tf_load *l, struct tf_body *b)
{
	b->uses = calloc(b->n + 1, sizeof(*b->uses));
	if (b->uses == NULL)
		return msd_sg_no_memory(l->g);
	if ((b->function != NULL && add_args(l, b) != 0) || add_names(l, b) != 0)
		return -1;
	for (size_t i = 0; i < b->n; i++) {
		if (check_node(l, b, i) != 0)
			return -1;
	}
	for (size_t i = 0; b->function != NULL && i < b->function->n_ret; i++) {
		const char *text = b->function->ret[i]->value;
		struct tf_link link;
		bool is_control;

		if (text != NULL && tf_link_read(b, text, &link, &is_control) &&
		    !link.is_arg)
			b->uses[link.at]++;
	}
	return 0;
}

void tf_body_finish(struct tf_body *b)
{
	free(b->uses);
	msd_names_finish(&b->names);
	msd_names_finish(&b->args);
}

int tf_body_find(struct tf_load *l, const char *name, struct tf_body **ret)
{
	struct tf_body *b = msd_names_find(&l->function_names, name);

	*ret = b;
	return b == NULL || b->uses != NULL ? 0 : tf_body_init(l, b);
}
