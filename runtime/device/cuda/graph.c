/*
 * Graphs: captured work of a stream as one unit.
 *
 * Happy path: the thread's stream is captured. The end of the capture returns a
 * graph, which is instantiated once and launched in place of the captured work.
 * Failures: an operation that cannot be captured is rejected at its call (device.h),
 * or the driver reports it at the end. The capture is dropped, and the stream is as
 * before.
 */
#include <stdlib.h>

#include "runtime/device/cuda/cuda.h"

struct msd_dev_graph {
	struct msd_cuda *cuda;
	struct cu_graph_exec *exec;
};

static msd_err result(const char *function, int code, struct msd_diag *d)
{
	return code == MSD_CU_SUCCESS ? MSD_OK : msd_cuda_error(d, function, code);
}

static bool has_graphs(const struct msd_cuda_api *api)
{
	return api->capture_begin != NULL && api->capture_end != NULL &&
	       api->graph_instantiate != NULL && api->graph_launch != NULL &&
	       api->graph_exec_destroy != NULL && api->graph_destroy != NULL;
}

msd_err msd_cuda_capture_begin(struct msd_dev *dev, struct msd_diag *d)
{
	struct msd_cuda *cuda = msd_cuda_of(dev);

	if (!has_graphs(cuda->api)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the CUDA driver is older than its graphs");
	}
	msd_err err = msd_cuda_enter(cuda, d);
	if (err != MSD_OK)
		return err;
	cuda->captured = msd_cuda_stream(cuda);
	/* Relaxed mode: allocations of other threads and libraries during the capture
	 * are allowed. */
	err = result("cuStreamBeginCapture",
		     cuda->api->capture_begin(cuda->captured,
					      MSD_CU_STREAM_CAPTURE_MODE_RELAXED),
		     d);
	dev->is_capturing = err == MSD_OK;
	return err;
}

static msd_err instantiate(struct msd_cuda *cuda, struct cu_graph *captured,
			   struct msd_dev_graph **ret, struct msd_diag *d)
{
	struct msd_dev_graph *graph = calloc(1, sizeof(*graph));

	if (graph == NULL)
		return msd_diag_no_memory(d);
	graph->cuda = cuda;
	const msd_err err =
		result("cuGraphInstantiate",
		       cuda->api->graph_instantiate(&graph->exec, captured, 0), d);
	if (err != MSD_OK) {
		free(graph);
		return err;
	}
	*ret = graph;
	return MSD_OK;
}

msd_err msd_cuda_capture_end(struct msd_dev *dev, struct msd_dev_graph **ret,
			     struct msd_diag *d)
{
	struct msd_cuda *cuda = msd_cuda_of(dev);
	struct cu_graph *captured = NULL;

	dev->is_capturing = false;
	msd_cuda_reenter(cuda);
	msd_err err = result("cuStreamEndCapture",
			     cuda->api->capture_end(cuda->captured, &captured), d);
	if (err == MSD_OK && captured != NULL && ret != NULL)
		err = instantiate(cuda, captured, ret, d);
	if (captured != NULL)
		(void)cuda->api->graph_destroy(captured);
	return err;
}

msd_err msd_cuda_graph_launch(struct msd_dev_graph *graph, struct msd_diag *d)
{
	const struct msd_cuda *cuda = graph->cuda;
	const msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	return result("cuGraphLaunch",
		      cuda->api->graph_launch(graph->exec, msd_cuda_stream(cuda)), d);
}

void msd_cuda_graph_free(struct msd_dev_graph *graph)
{
	if (graph == NULL)
		return;
	msd_cuda_reenter(graph->cuda);
	(void)graph->cuda->api->graph_exec_destroy(graph->exec);
	free(graph);
}
