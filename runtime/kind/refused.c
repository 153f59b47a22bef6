/* Kinds that cannot run: each is in the tree, is shown, and says why when it is needed.
 */
#include <stdio.h>

#include "artifact/kind/payload.h"
#include "runtime/kind/kinds.h"

static const struct {
	const char *kind;
	const char *why;
} known[] = {
	{"VitisAIRuntime", "it needs the runtime of Xilinx' Vitis AI"},
	{"arm_compute_lib", "it needs the Arm Compute Library"},
	{"bnns_json", "it needs Apple's BNNS"},
	{"clml", "it needs Qualcomm's CLML"},
	{"coreml", "it needs Apple's Core ML"},
	{"cublas_json", "it needs NVIDIA cuBLAS"},
	{"cudnn_json", "it needs NVIDIA cuDNN"},
	{"dnnl_json", "it needs oneDNN"},
	{"ethos-n", "it needs the driver of Arm's Ethos-N"},
	{"hexagon", "it needs Qualcomm's Hexagon SDK"},
	{"hip", "this build does not launch ROCm kernels"},
	{"hipblas_json", "it needs AMD's hipBLAS"},
	{"hsaco", "this build does not launch ROCm kernels"},
	{"metal", "this build does not launch Metal kernels"},
	{"mrvl_hw", "it needs Marvell's runtime"},
	{"mrvl_sim", "it needs Marvell's simulator"},
	{"msc_tensorrt", "it needs NVIDIA TensorRT"},
	{"nnapi", "it needs Android's NNAPI"},
	{"opengl", "this build does not run OpenGL shaders"},
	{"static_library", "it is an object file that was not linked into the library"},
	{"tensorrt", "it needs NVIDIA TensorRT"},
	{"torch", "it needs libtorch"},
	{"vulkan", "this build does not launch Vulkan shaders"},
	{"webgpu", "WebGPU shaders run in browsers alone"},
};

static const char *reason(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (msd_span_is(kind, known[i].kind))
			return known[i].why;
	return msd_payload_kind_find(kind) != NULL
		       ? "this build has no runner for this kind"
		       : "the kind is unknown to this build";
}

static msd_err refused_open(struct msd_node *node, const struct msd_node_context *ctx,
			    struct msd_diag *d)
{
	(void)ctx;
	if (asprintf(&node->refusal, "module %u (%.*s) cannot run here: %s",
		     node->index, (int)(node->kind.n < 64 ? node->kind.n : 64),
		     (const char *)node->kind.p, reason(node->kind)) < 0) {
		node->refusal = NULL;
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	}
	return MSD_OK;
}

static void refused_close(struct msd_node *node)
{
	(void)node; /* the refusal is the load's to free */
}

const struct msd_node_ops msd_kind_refused = {
	.kind = "",
	.open = refused_open,
	.close = refused_close,
};
