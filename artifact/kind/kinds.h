#ifndef MSD_ARTIFACT_KIND_KINDS_H
#define MSD_ARTIFACT_KIND_KINDS_H
/*
 * Every kind of module that modserd knows, one row each. Each part of the program
 * uses the columns that it needs and defines their words:
 *
 * X(kind, title, format, look, params, run)
 *   kind    the tree's kind string
 *   title   a short description for users
 *   format  FIELDS(f): the payload is the fields of msd_fields_f (fields.h)
 *           PARTS(p): msd_payload_p reads it; pack/ has msd_split_p and msd_join_p
 *           WHOLE(p): msd_payload_p reads it; unpacked, it stays one file
 *   look    LOOK(l): msd_look_l reports more than facts (look.h), or NONE
 *   params  PARAMS(p): its parameters may be in a separate file next to the library,
 *           written by split_p of pack/split_params.c, or NONE
 *   run     RUNS(r): by msd_kind_r of the runtime; REFUSED(why): not here
 *
 * A kind is a row here and a file with the functions in the row; a kind with the
 * fields of another kind needs only the row. The functions of pack/ are in pack/,
 * because they convert payloads to JSON, which the daemon does not need.
 */

#define MSD_KIND_MAP(X)                                                                \
	X("_lib", "this library", FIELDS(nothing), NONE, NONE, RUNS(library))          \
	X("cuda", "CUDA kernels", PARTS(device), LOOK(cuda), NONE, RUNS(device))       \
	X("opencl", "OpenCL kernels", PARTS(device), NONE, NONE, RUNS(device))         \
	X("hip", "ROCm kernels", PARTS(device), NONE, NONE,                            \
	  REFUSED("this build does not launch ROCm kernels"))                          \
	X("hsaco", "ROCm kernels", PARTS(device), NONE, NONE,                          \
	  REFUSED("this build does not launch ROCm kernels"))                          \
	X("hexagon", "Hexagon code", PARTS(device), NONE, NONE,                        \
	  REFUSED("it needs Qualcomm's Hexagon SDK"))                                  \
	X("opengl", "OpenGL shaders", PARTS(device), NONE, NONE,                       \
	  REFUSED("this build does not run OpenGL shaders"))                           \
	X("metal", "Metal kernels", PARTS(metal), NONE, NONE,                          \
	  REFUSED("this build does not launch Metal kernels"))                         \
	X("vulkan", "Vulkan shaders", PARTS(vulkan), NONE, NONE,                       \
	  REFUSED("this build does not launch Vulkan shaders"))                        \
	X("webgpu", "WebGPU shaders", PARTS(webgpu), NONE, NONE,                       \
	  REFUSED("WebGPU shaders run only in browsers"))                              \
	X("relax.VMExecutable", "Relax VM program", PARTS(relax), LOOK(relax),         \
	  PARAMS(relax), RUNS(relax_vm))                                               \
	X("relax.Executable", "Relax VM program", PARTS(relax), LOOK(relax),           \
	  PARAMS(relax), RUNS(relax_vm))                                               \
	X("VMExecutable", "Relay VM program", PARTS(relay), LOOK(relay),               \
	  PARAMS(relay), RUNS(relay_vm))                                               \
	X("GraphExecutorFactory", "graph and its parameters", PARTS(graph),            \
	  LOOK(graph), PARAMS(graph), RUNS(graph))                                     \
	X("GraphRuntimeFactory", "graph and its parameters", PARTS(graph),             \
	  LOOK(graph), PARAMS(graph), RUNS(graph))                                     \
	X("AotExecutorFactory", "ahead-of-time model", PARTS(aot), LOOK(aot), NONE,    \
	  RUNS(aot))                                                                   \
	X("const_loader", "constants", PARTS(consts), NONE, NONE, RUNS(constants))     \
	X("metadata", "constants", PARTS(consts), NONE, NONE, RUNS(constants))         \
	X("metadata_module", "model metadata", FIELDS(nothing), NONE, NONE,            \
	  RUNS(nothing))                                                               \
	X("static_library", "static library", FIELDS(static_library), NONE, NONE,      \
	  REFUSED("it is an object file that was not linked into the library"))        \
	X("c", "C source", FIELDS(c_source), NONE, NONE,                               \
	  REFUSED("this build has no runner for this kind"))                           \
	X("json", "JSON graph", FIELDS(json_graph), NONE, NONE,                        \
	  REFUSED("this build has no runner for this kind"))                           \
	X("dnnl_json", "oneDNN graph", FIELDS(json_graph), NONE, NONE,                 \
	  REFUSED("it needs oneDNN"))                                                  \
	X("cublas_json", "cuBLAS graph", FIELDS(json_graph), NONE, NONE,               \
	  REFUSED("it needs NVIDIA cuBLAS"))                                           \
	X("cudnn_json", "cuDNN graph", FIELDS(json_graph), NONE, NONE,                 \
	  REFUSED("it needs NVIDIA cuDNN"))                                            \
	X("hipblas_json", "hipBLAS graph", FIELDS(json_graph), NONE, NONE,             \
	  REFUSED("it needs AMD's hipBLAS"))                                           \
	X("bnns_json", "BNNS graph", FIELDS(json_graph), NONE, NONE,                   \
	  REFUSED("it needs Apple's BNNS"))                                            \
	X("tensorrt", "TensorRT graph", FIELDS(json_graph), NONE, NONE,                \
	  REFUSED("it needs NVIDIA TensorRT"))                                         \
	X("msc_tensorrt", "TensorRT graph", FIELDS(json_graph), NONE, NONE,            \
	  REFUSED("it needs NVIDIA TensorRT"))                                         \
	X("arm_compute_lib", "Arm Compute Library graph", FIELDS(json_graph), NONE,    \
	  NONE, REFUSED("it needs the Arm Compute Library"))                           \
	X("clml", "OpenCL ML graph", FIELDS(json_graph), NONE, NONE,                   \
	  REFUSED("it needs Qualcomm's CLML"))                                         \
	X("nnapi", "NNAPI graph", FIELDS(json_graph), NONE, NONE,                      \
	  REFUSED("it needs Android's NNAPI"))                                         \
	X("ethos-n", "Ethos-N networks", WHOLE(ethos_n), NONE, NONE,                   \
	  REFUSED("it needs the driver of Arm's Ethos-N"))                             \
	X("VitisAIRuntime", "Vitis AI model", FIELDS(vitis), NONE, NONE,               \
	  REFUSED("it needs the runtime of Xilinx' Vitis AI"))                         \
	X("coreml", "Core ML model", FIELDS(coreml), NONE, NONE,                       \
	  REFUSED("it needs Apple's Core ML"))                                         \
	X("torch", "TorchScript model", FIELDS(torch), NONE, NONE,                     \
	  REFUSED("it needs libtorch"))                                                \
	X("mrvl_sim", "Marvell model", FIELDS(marvell), NONE, NONE,                    \
	  REFUSED("it needs Marvell's simulator"))                                     \
	X("mrvl_hw", "Marvell model", FIELDS(marvell), NONE, NONE,                     \
	  REFUSED("it needs Marvell's runtime"))

#endif
