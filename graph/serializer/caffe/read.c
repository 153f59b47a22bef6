/*
 * Read a network. Normal path: the text becomes the bytes of its message, the file of
 * weights is scanned so that its weights stay in it, and protobuf-c unpacks both. Then
 * each layer of the TEST phase is read in turn: its row (layer.h) makes nodes from its
 * inputs, its parameters and the weights of its name. A layer that writes a blob again,
 * in place or not, makes a new tensor; the last one has the blob's name. Tensors that
 * no layer reads are the outputs. Failures name the layer.
 */
#include "graph/serializer/caffe/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/serializer/caffe/layer.h"
#include "graph/serializer/caffe/load.h"
#include "graph/serializer/serializer.h"
#include "graph/serializer/text/text.h"

/* Field numbers of BlobProto. */
static const struct msd_wire_weight weights[] = {
	{&caffe__blob_proto__descriptor, 5},
	{&caffe__blob_proto__descriptor, 8},
};
const struct msd_wire_format caffe_wire_format = {
	"Caffe", &caffe__net_parameter__descriptor, weights,
	sizeof(weights) / sizeof(weights[0])};

/* Make the blobs that layers write, and count how often. */
static int count_writes(struct caffe_load *l, size_t n_blobs)
{
	l->blobs = calloc(n_blobs, sizeof(*l->blobs));
	if (l->blobs == NULL)
		return msd_sg_no_memory(l->g);
	for (size_t i = 0; i < l->n_layers; i++) {
		for (size_t k = 0; k < l->layers[i].n_top; k++) {
			struct caffe_blob *blob;

			if (caffe_blob_add(l, l->layers[i].top[k], &blob) != 0)
				return -1;
			blob->writes_left++;
		}
	}
	return 0;
}

/* Keep the layers that are read. */
static int choose_layers(struct caffe_load *l)
{
	const Caffe__NetParameter *net = l->net;
	size_t n_blobs = net->n_input + 1;

	l->layers = calloc(net->n_layer + net->n_layers + 1, sizeof(*l->layers));
	if (l->layers == NULL)
		return msd_sg_no_memory(l->g);
	for (size_t i = 0; i < net->n_layers + net->n_layer; i++) {
		Caffe__LayerParameter p;

		if (i < net->n_layers) {
			if (net->layers[i]->layer != NULL) {
				return caffe_load_fail(
					l, "a network of Caffe's oldest form (layers "
					   "{ layer { ... } }); have Caffe's "
					   "upgrade_net_proto_text write it anew");
			}
			caffe_layer_of(net->layers[i], &p);
		} else {
			p = *net->layer[i - net->n_layers];
		}
		if (!caffe_is_included(&p, net))
			continue;
		if (p.type == NULL || p.type[0] == '\0') {
			return caffe_load_fail(l, "layer %zu \"%.128s\" has no type", i,
					       p.name != NULL ? p.name : "");
		}
		l->layers[l->n_layers++] = p;
		n_blobs += p.n_top;
	}
	return count_writes(l, n_blobs);
}

static int add_trained(struct caffe_load *l, const char *name,
		       Caffe__BlobProto *const *blobs, size_t n)
{
	struct caffe_trained *t =
		name != NULL ? msd_names_find(&l->trained_names, name) : NULL;

	if (name == NULL || n == 0)
		return 0;
	if (t == NULL) {
		t = &l->trained_layers[l->n_trained++];
		if (!msd_names_add(&l->trained_names, name, t))
			return msd_sg_no_memory(l->g);
	}
	*t = (struct caffe_trained){blobs, n}; /* Caffe takes the last ones, too */
	return 0;
}

static int find_trained(struct caffe_load *l)
{
	const Caffe__NetParameter *p = l->trained;

	l->trained_layers =
		calloc(p->n_layer + p->n_layers + 1, sizeof(*l->trained_layers));
	if (l->trained_layers == NULL)
		return msd_sg_no_memory(l->g);
	for (size_t i = 0; i < p->n_layers; i++) {
		if (add_trained(l, p->layers[i]->name, p->layers[i]->blobs,
				p->layers[i]->n_blobs) != 0)
			return -1;
	}
	for (size_t i = 0; i < p->n_layer; i++) {
		if (add_trained(l, p->layer[i]->name, p->layer[i]->blobs,
				p->layer[i]->n_blobs) != 0)
			return -1;
	}
	return 0;
}

/* Give a blob its new tensor. Inputs keep their names. */
static int write_blob(struct caffe_load *l, const struct caffe_layer *x,
		      const char *name, modser_sg_tensor *t)
{
	struct caffe_blob *blob =
		caffe_blob_find(l, name); /* choose_layers() added it */
	char text[512];

	if (t == blob->now || t->type != MODSER_TENSOR_VAR ||
	    (t->producer == NULL ||
	     strcmp(t->producer->op->schema->name, "InputOp") == 0))
		t = msd_build_one(&x->b, "Noop", t);
	if (t == NULL)
		return -1;
	blob->writes_left--;
	if (blob->writes_left == 0 && !blob->is_input) {
		if (msd_build_rename(t, name) != 0)
			return -1;
	} else {
		(void)snprintf(text, sizeof(text), "%.250s/%.250s", name, x->b.name);
		if (msd_build_rename(t, text) != 0)
			return -1;
	}
	blob->now = t;
	blob->is_silent = false;
	blob->last = ++l->n_writes;
	return 0;
}

static int check_counts(const struct caffe_layer *x, const struct caffe_row *row)
{
	const Caffe__LayerParameter *p = x->p;

	if (p->n_bottom >= row->min_in &&
	    (p->n_bottom <= row->max_in || row->max_in == CAFFE_MANY) &&
	    p->n_top >= 1 && (p->n_top <= row->max_out || row->max_out == CAFFE_MANY))
		return 0;
	(void)caffe_fail(x, "it has %zu inputs and %zu outputs", p->n_bottom, p->n_top);
	return -1;
}

static int find_inputs(struct caffe_load *l, const struct caffe_layer *x)
{
	for (size_t i = 0; i < x->p->n_bottom; i++) {
		const struct caffe_blob *blob = caffe_blob_find(l, x->p->bottom[i]);

		if (blob == NULL || blob->now == NULL) {
			return caffe_load_fail(
				l, "no layer before it writes its input \"%.128s\"",
				x->p->bottom[i]);
		}
		if (blob->now->ndim < 0) {
			return caffe_load_fail(
				l,
				"the shape of its input \"%.128s\" depends on "
				"values",
				x->p->bottom[i]);
		}
		x->in[i] = blob->now;
	}
	return 0;
}

static int run_row(struct caffe_load *l, const struct caffe_layer *x,
		   const struct caffe_row *row)
{
	if (check_counts(x, row) != 0 || find_inputs(l, x) != 0)
		return -1;
	if (row->many != NULL) {
		if (row->many(x) != 0)
			return -1;
	} else {
		x->out[0] = row->one(x);
		if (x->out[0] == NULL)
			return -1;
	}
	for (size_t i = 0; i < x->p->n_top; i++) {
		if (write_blob(l, x, x->p->top[i], x->out[i]) != 0)
			return -1;
	}
	return 0;
}

/* A node with the layer's inputs, its weights and its outputs; NULL with the error. */
static modser_sg_node *create_node(struct caffe_load *l, const struct caffe_layer *x)
{
	modser_sg_node *node = modser_sg_node_create(l->g, x->b.name);

	if (node == NULL)
		return NULL;
	for (size_t i = 0; i < x->p->n_bottom + x->n_blobs; i++) {
		modser_sg_tensor *t =
			i < x->p->n_bottom
				? x->in[i]
				: caffe_weights_as_they_are(x, i - x->p->n_bottom);

		if (t == NULL || modser_sg_node_add_input(node, t) < 0)
			return NULL;
	}
	for (size_t i = 0; i < x->p->n_top; i++) {
		x->out[i] = modser_sg_tensor_create(l->g, x->b.name);
		if (x->out[i] == NULL || modser_sg_node_add_output(node, x->out[i]) < 0)
			return NULL;
	}
	return node;
}

/* Let a method from outside give the node its operator. */
static int run_method(struct caffe_load *l, const struct caffe_layer *x,
		      modser_caffe_load_fn *method)
{
	if (find_inputs(l, x) != 0)
		return -1;
	modser_sg_node *node = create_node(l, x);
	if (node == NULL || method(node, x->p->type, x->n_blobs) != 0)
		return -1;
	if (node->op == NULL)
		return caffe_load_fail(l, "its method gave it no operator");
	if (msd_sg_check_ends(node) != 0 || msd_sg_infer_node(node) == -1)
		return -1;
	for (size_t i = 0; i < x->p->n_top; i++) {
		if (write_blob(l, x, x->p->top[i], x->out[i]) != 0)
			return -1;
	}
	return 0;
}

static int make_nodes(struct caffe_load *l, const Caffe__LayerParameter *p)
{
	const struct caffe_row *row = caffe_row_find(p->type);
	modser_caffe_load_fn *method =
		row == NULL ? (modser_caffe_load_fn *)msd_serializer_method(
				      l->serializer, p->type)
			    : NULL;
	const char *name = p->name != NULL ? p->name : "";
	const struct caffe_trained *t = msd_names_find(&l->trained_names, name);
	struct caffe_layer x = {
		.b = {l->g, name},
		.p = p,
		.in = calloc(p->n_bottom + 1, sizeof(modser_sg_tensor *)),
		.out = calloc(p->n_top + 1, sizeof(modser_sg_tensor *)),
		.blobs = t != NULL ? t->blobs : NULL,
		.n_blobs = t != NULL ? t->n : 0,
		.file = l->file,
	};
	int result = -1;

	if (x.in == NULL || x.out == NULL) {
		(void)msd_sg_no_memory(l->g);
	} else if (method != NULL) {
		result = run_method(l, &x, method);
	} else if (row == NULL) {
		(void)msd_sg_fail(l->g, MSD_UNSUPPORTED,
				  "layers of this type cannot be read (`modser --json "
				  "formats` lists the others)");
	} else {
		result = run_row(l, &x, row);
	}
	free(x.in);
	free(x.out);
	return result;
}

static int read_layer(struct caffe_load *l, const Caffe__LayerParameter *p)
{
	bool is_special;
	int result = caffe_read_special(l, p, &is_special);

	if (result == 0 && !is_special)
		result = make_nodes(l, p);
	if (result != 0) {
		(void)msd_diag_wrap(&l->g->diag, l->g->diag.code,
				    "layer \"%.128s\" (%.64s)",
				    p->name != NULL ? p->name : "", p->type);
	}
	return result;
}

static int compare_writes(const void *a, const void *b)
{
	const struct caffe_blob *x = a;
	const struct caffe_blob *y = b;

	return x->last < y->last ? -1 : x->last > y->last;
}

/* Blobs that no layer reads after their last write, in the order of these. */
static int add_outputs(struct caffe_load *l)
{
	bool *is_read = calloc(l->g->n_tensors + 1, sizeof(*is_read));
	int result = 0;

	if (is_read == NULL)
		return msd_sg_no_memory(l->g);
	for (size_t i = 0; i < l->g->n_nodes; i++) {
		for (size_t k = 0; k < l->g->nodes[i]->n_inputs; k++)
			is_read[l->g->nodes[i]->inputs[k]->index] = true;
	}
	qsort(l->blobs, l->n_blobs, sizeof(*l->blobs), compare_writes);
	for (size_t i = 0; i < l->n_blobs && result == 0; i++) {
		const struct caffe_blob *blob = &l->blobs[i];

		if (blob->now != NULL && blob->last > 0 && !blob->is_silent &&
		    !is_read[blob->now->index])
			result = modser_graph_add_output(l->g, blob->now);
	}
	free(is_read);
	return result;
}

static int read_net(struct caffe_load *l)
{
	const char *name = l->net->name;

	if (name != NULL && name[0] != '\0' &&
	    (modser_graph_set_internal_name(l->g, name) != 0 ||
	     modser_graph_set_identity(l->g, "", name, "") != 0))
		return -1;
	if (l->net->n_layer + l->net->n_layers == 0)
		return caffe_load_fail(l, "the network has no layers");
	if (choose_layers(l) != 0 || find_trained(l) != 0 || caffe_read_inputs(l) != 0)
		return -1;
	for (size_t i = 0; i < l->n_layers; i++) {
		if (read_layer(l, &l->layers[i]) != 0)
			return -1;
	}
	if (l->g->n_inputs == 0) {
		return caffe_load_fail(
			l, "the network has no input: say input_param { shape { dim: "
			   "... } } in a layer of type Input");
	}
	/* A Scale may have replaced the constants of a BatchNorm. */
	return add_outputs(l) == 0 ? msd_sg_sweep(l->g) : -1;
}

static int unpack(modser_graph *g, struct msd_buf *bytes, Caffe__NetParameter **ret)
{
	*ret = caffe__net_parameter__unpack(NULL, bytes->n, bytes->p);
	msd_buf_finish(bytes);
	return *ret != NULL ? 0
			    : msd_sg_fail(g, MSD_BAD_ARTIFACT,
					  "it is no NetParameter of Caffe");
}

/* Read a binary file; its weights become their locations. */
static int read_binary(modser_graph *g, struct msd_span file, Caffe__NetParameter **ret)
{
	struct msd_buf small = {0};

	if (msd_wire_trim(g, &caffe_wire_format, file, &small) != 0) {
		msd_buf_finish(&small);
		(void)msd_diag_wrap(&g->diag, g->diag.code, "the weights");
		return -1;
	}
	return unpack(g, &small, ret);
}

static int read_text(modser_graph *g, struct msd_span text, Caffe__NetParameter **ret)
{
	struct msd_buf bytes = {0};

	if (msd_text_read(g, &caffe__net_parameter__descriptor, text, &bytes) != 0) {
		msd_buf_finish(&bytes);
		(void)msd_diag_wrap(&g->diag, g->diag.code, "the network");
		return -1;
	}
	return unpack(g, &bytes, ret);
}

static void finish(struct caffe_load *l)
{
	if (l->net != l->trained && l->net != NULL)
		caffe__net_parameter__free_unpacked(l->net, NULL);
	if (l->trained != NULL)
		caffe__net_parameter__free_unpacked(l->trained, NULL);
	msd_names_finish(&l->blob_names);
	msd_names_finish(&l->trained_names);
	free(l->layers);
	free(l->blobs);
	free(l->trained_layers);
}

int caffe_load(const modser_serializer *s, const modser_part *parts,
	       const modser_model_options *options, modser_graph *graph)
{
	struct caffe_load l = {
		.g = graph, .serializer = s, .file = {parts[1].data, parts[1].bytes}};
	const struct msd_span text = {parts[0].data, parts[0].bytes};

	(void)options;
	int result = read_text(graph, text, &l.net);
	if (result == 0)
		result = read_binary(graph, l.file, &l.trained);
	if (result == 0)
		result = read_net(&l);
	finish(&l);
	return result;
}

int caffe_load_single(const modser_serializer *s, const modser_part *parts,
		      const modser_model_options *options, modser_graph *graph)
{
	struct caffe_load l = {
		.g = graph, .serializer = s, .file = {parts[0].data, parts[0].bytes}};

	(void)options;
	int result = read_binary(graph, l.file, &l.trained);
	if (result == 0) {
		l.net = l.trained;
		result = read_net(&l);
	}
	finish(&l);
	return result;
}
