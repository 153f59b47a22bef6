#include "graph/serializer/tmfile/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"

#define PREFIX "modser."
#define ATTR_PREFIX PREFIX "attr."

static const struct {
	const char *name;
	modser_graph_fact fact;
} facts[] = {
	{PREFIX "domain", MODSER_GRAPH_DOMAIN},
	{PREFIX "identity", MODSER_GRAPH_IDENTITY},
	{PREFIX "version", MODSER_GRAPH_VERSION},
};
#define N_FACTS (sizeof(facts) / sizeof(facts[0]))

/* True unless it is the default, or what the graph's own name says. */
static bool is_said(const modser_graph *g, size_t i)
{
	const char *text = modser_graph_text(g, facts[i].fact);

	if (facts[i].fact == MODSER_GRAPH_VERSION && strcmp(text, "0") == 0)
		return false;
	return text[0] != '\0' &&
	       (facts[i].fact != MODSER_GRAPH_IDENTITY ||
		strcmp(text, modser_graph_text(g, MODSER_GRAPH_NAME)) != 0);
}

size_t tm_facts_most(const modser_graph *g)
{
	return N_FACTS + g->attrs.n;
}

int tm_facts_check(modser_graph *g)
{
	for (size_t i = 0; i < g->attrs.n; i++) {
		const struct msd_sg_attr *a = &g->attrs.items[i];

		if (!msd_sg_attr_is_origin(a->name) &&
		    a->value.kind != MODSER_ATTR_STR) {
			return msd_sg_fail(g, MSD_UNSUPPORTED,
					   "attribute \"%.128s\" of the graph: tmfiles "
					   "have texts alone",
					   a->name);
		}
	}
	return 0;
}

static uint32_t put(struct tm_writer *w, const char *name, const char *value)
{
	const uint32_t key = tm_put_string(w, name);
	const uint32_t object[3] = {key, tm_put_string(w, value), 0};

	return tm_put_words(w, object, 3);
}

size_t tm_facts_write(struct tm_writer *w, const modser_graph *g, size_t n)
{
	const size_t first = n;

	for (size_t i = 0; i < N_FACTS; i++) {
		if (is_said(g, i)) {
			w->scratch[n++] = put(w, facts[i].name,
					      modser_graph_text(g, facts[i].fact));
		}
	}
	for (size_t i = 0; i < g->attrs.n; i++) {
		const struct msd_sg_attr *a = &g->attrs.items[i];
		struct msd_buf name = {0};

		if (msd_sg_attr_is_origin(a->name))
			continue;
		msd_buf_printf(&name, "%s%s", ATTR_PREFIX, a->name);
		msd_buf_put_u8(&name, '\0');
		if (name.bad) {
			w->out.bad = true;
		} else {
			w->scratch[n++] = put(w, (const char *)name.p, a->value.as.s);
		}
		msd_buf_finish(&name);
	}
	return n - first;
}

static int take(modser_graph *g, const char *name, const char *text,
		const char *ret[static N_FACTS], bool *ret_is_taken)
{
	const modser_sg_attr value = {MODSER_ATTR_STR, 0, {.s = text}};

	*ret_is_taken = true;
	for (size_t i = 0; i < N_FACTS; i++) {
		if (strcmp(name, facts[i].name) == 0) {
			ret[i] = text;
			return 0;
		}
	}
	if (strncmp(name, ATTR_PREFIX, strlen(ATTR_PREFIX)) == 0)
		return modser_graph_add_attr(g, name + strlen(ATTR_PREFIX), &value);
	*ret_is_taken = false;
	return 0;
}

int tm_facts_read(modser_graph *g)
{
	modser_sg_op *op = g->n_nodes > 0 ? g->nodes[0]->op : NULL;
	const char *said[N_FACTS] = {"", "", ""};
	size_t n = 0;
	bool is_any = false;
	int result = 0;

	for (size_t i = 0; op != NULL && i < op->attrs.n && result == 0; i++) {
		struct msd_sg_attr *a = &op->attrs.items[i];
		bool is_taken = false;

		if (a->value.kind == MODSER_ATTR_STR)
			result = take(g, a->name, a->value.as.s, said, &is_taken);
		is_any = is_any || is_taken;
	}
	if (result != 0 || !is_any)
		return result;
	if (said[1][0] == '\0')
		said[1] = modser_graph_text(g, MODSER_GRAPH_NAME);
	result = modser_graph_set_identity(g, said[0], said[1], said[2]);
	for (size_t i = 0; i < op->attrs.n; i++) {
		struct msd_sg_attr *a = &op->attrs.items[i];

		if (strncmp(a->name, PREFIX, strlen(PREFIX)) == 0) {
			free(a->name);
			msd_sg_attr_finish(&a->value);
		} else {
			op->attrs.items[n++] = *a;
		}
	}
	op->attrs.n = n;
	return result;
}
