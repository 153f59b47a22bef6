#include "daemon/worker/cuda_graphs_report.h"

#include <stdio.h>

#include "runtime/device/captures.h"

void msd_cuda_graphs_report(struct msd_worker *w)
{
	struct msd_captures_count n;

	if (w->has_told_graphs || !msd_captures_has_failed())
		return;
	msd_captures_counted(&n);
	w->has_told_graphs = true;
	(void)fprintf(stderr,
		      "modserd-worker: a part of the model cannot be a CUDA graph, so "
		      "its kernels are launched one by one: %s\n",
		      n.why);
}
