#include "graph/serializer/onnx/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/format.h"

static const char *text_of(const char *text)
{
	return text != NULL ? text : "";
}

static int add_text(modser_graph *g, const char *name, const char *text)
{
	const modser_sg_attr value = {MODSER_ATTR_STR, 0, {.s = text}};

	return text[0] != '\0' ? modser_graph_add_attr(g, name, &value) : 0;
}

/* Properties become attributes; of two with one key the first counts. */
static int read_props(modser_graph *g, const Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->n_metadata_props; i++) {
		const char *key = text_of(m->metadata_props[i]->key);
		const char *value = text_of(m->metadata_props[i]->value);
		const modser_sg_attr attr = {MODSER_ATTR_STR, 0, {.s = value}};

		if (key[0] == '\0' || !msd_sg_is_name(key) ||
		    msd_sg_attr_is_origin(key) || modser_graph_attr(g, key) != NULL ||
		    strcmp(key, ONNX_PROP_IDENTITY) == 0)
			continue;
		if (modser_graph_add_attr(g, key, &attr) != 0)
			return -1;
	}
	return 0;
}

static const char *identity_of(const Onnx__ModelProto *m)
{
	for (size_t i = 0; i < m->n_metadata_props; i++) {
		if (strcmp(text_of(m->metadata_props[i]->key), ONNX_PROP_IDENTITY) == 0)
			return text_of(m->metadata_props[i]->value);
	}
	return text_of(m->graph->name);
}

int onnx_facts_read(modser_graph *g, const Onnx__ModelProto *m)
{
	char version[24];

	(void)snprintf(version, sizeof(version), "%lld", (long long)m->model_version);
	if (modser_graph_set_internal_name(g, text_of(m->graph->name)) != 0 ||
	    modser_graph_set_identity(g, text_of(m->domain), identity_of(m), version) !=
		    0 ||
	    add_text(g, ONNX_ATTR_PRODUCER, text_of(m->producer_name)) != 0 ||
	    add_text(g, ONNX_ATTR_PRODUCER_VERSION, text_of(m->producer_version)) != 0)
		return -1;
	return read_props(g, m);
}

static void add_prop(struct onnx_emit *e, struct onnx_list *list, const char *key,
		     const char *value)
{
	Onnx__StringStringEntryProto *p = onnx_emit_alloc(e, sizeof(*p));

	if (p == NULL)
		return;
	onnx__string_string_entry_proto__init(p);
	p->key = onnx_emit_text(e, key);
	p->value = onnx_emit_text(e, value);
	onnx_emit_push(e, list, p);
}

static int write_version(const struct onnx_emit *e, Onnx__ModelProto *m)
{
	const char *text = modser_graph_text(e->g, MODSER_GRAPH_VERSION);
	char *end;

	errno = 0;
	m->model_version = strtoll(text, &end, 10);
	m->has_model_version = m->model_version != 0;
	if (errno == 0 && *end == '\0')
		return 0;
	return msd_sg_fail(e->g, MSD_UNSUPPORTED,
			   "version \"%.64s\" of the graph: ONNX has numbers", text);
}

int onnx_facts_write(struct onnx_emit *e, Onnx__ModelProto *m)
{
	const char *domain = modser_graph_text(e->g, MODSER_GRAPH_DOMAIN);
	const char *identity = modser_graph_text(e->g, MODSER_GRAPH_IDENTITY);
	const char *name = modser_graph_text(e->g, MODSER_GRAPH_NAME);
	struct onnx_list *props = &e->props;

	if (write_version(e, m) != 0)
		return -1;
	if (domain[0] != '\0')
		m->domain = onnx_emit_text(e, domain);
	if (identity[0] != '\0' && strcmp(identity, name) != 0)
		add_prop(e, props, ONNX_PROP_IDENTITY, identity);
	for (size_t i = 0; i < e->g->attrs.n; i++) {
		const struct msd_sg_attr *a = &e->g->attrs.items[i];

		if (msd_sg_attr_is_origin(a->name))
			continue;
		if (a->value.kind != MODSER_ATTR_STR) {
			return msd_sg_fail(
				e->g, MSD_UNSUPPORTED,
				"attribute \"%.128s\" of the graph: ONNX has "
				"texts alone",
				a->name);
		}
		add_prop(e, props, a->name, a->value.as.s);
	}
	m->n_metadata_props = props->n;
	m->metadata_props = (Onnx__StringStringEntryProto **)props->items;
	return 0;
}
