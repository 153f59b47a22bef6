/* Graphs of the stand-in driver: what a captured stream is asked for is kept as a
 * list, and a launch queues copies of it. Driver API, "Stream Management" and "Graph
 * Management". */
#include <stdlib.h>

#include "stub.h"

/* Found by name alone: there is no header that declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { MOST_MODE = 2 };

/* "Stream Management", cuStreamBeginCapture: a stream that is not being captured; the
 * mode is one of three. */
STUB_API int cuStreamBeginCapture_v2(struct object *stream, int mode)
{
	ENTER(enter_context("cuStreamBeginCapture"));
	if (!object_ok(stream, STREAM, "cuStreamBeginCapture"))
		return INVALID_HANDLE;
	if (mode < 0 || mode > MOST_MODE || stream->graph != NULL)
		return INVALID_VALUE;
	stream->graph = object_new(GRAPH, context_current());
	return OK;
}

/* "Stream Management", cuStreamEndCapture: where the capture was invalidated, its error
 * and no graph. */
STUB_API int cuStreamEndCapture(struct object *stream, struct object **ret)
{
	LOCKED;
	const int code = enter_context("cuStreamEndCapture");

	*ret = NULL;
	if (!object_ok(stream, STREAM, "cuStreamEndCapture"))
		return INVALID_HANDLE;
	if (stream->graph == NULL)
		return INVALID_VALUE;
	struct object *graph = stream->graph;
	stream->graph = NULL;
	if (code != OK || graph->is_invalid) {
		graph->is_alive = false;
		return code != OK ? code : CAPTURE_INVALIDATED;
	}
	*ret = graph;
	return OK;
}

static void works_copy(struct object *to, const struct work *from)
{
	for (; from != NULL; from = from->next)
		work_add(to, from);
}

/* "Graph Management", cuGraphInstantiateWithFlags: the graph may be destroyed behind
 * it. */
STUB_API int cuGraphInstantiateWithFlags(struct object **ret, struct object *graph,
					 unsigned long long flags)
{
	ENTER(enter_context("cuGraphInstantiate"));
	if (!object_ok(graph, GRAPH, "cuGraphInstantiate"))
		return INVALID_HANDLE;
	if (flags != 0)
		return INVALID_VALUE;
	*ret = object_new(GRAPH_EXEC, context_current());
	works_copy(*ret, graph->first);
	return OK;
}

/* "Graph Management", cuGraphLaunch. */
STUB_API int cuGraphLaunch(struct object *exec, struct object *stream)
{
	ENTER(enter_context("cuGraphLaunch"));
	if (!object_ok(exec, GRAPH_EXEC, "cuGraphLaunch") ||
	    !object_ok(stream, STREAM, "cuGraphLaunch"))
		return INVALID_HANDLE;
	works_copy(stream, exec->first);
	return OK;
}

static int destroy(struct object *o, enum kind kind, const char *what)
{
	if (!object_ok(o, kind, what))
		return INVALID_HANDLE;
	while (o->first != NULL) {
		struct work *w = o->first;
		o->first = w->next;
		free(w);
	}
	o->last = NULL;
	o->is_alive = false;
	return OK;
}

STUB_API int cuGraphDestroy(struct object *graph)
{
	LOCKED;
	const int code = enter_context("cuGraphDestroy");
	const int done = destroy(graph, GRAPH, "cuGraphDestroy");

	return code != OK ? code : done;
}

STUB_API int cuGraphExecDestroy(struct object *exec)
{
	LOCKED;
	const int code = enter_context("cuGraphExecDestroy");
	const int done = destroy(exec, GRAPH_EXEC, "cuGraphExecDestroy");

	return code != OK ? code : done;
}
