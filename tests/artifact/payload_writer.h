#ifndef MSD_TESTS_PAYLOAD_WRITER_H
#define MSD_TESTS_PAYLOAD_WRITER_H
/* Payloads of module kinds, written from the format documents. */
#include <stdbool.h>

#include "tests/artifact/byte_writer.h"

/** float32 tensor of shape [2, 3] holding 0, 1, ... 5 */
void pw_tensor(struct bw *b);
/** fmap of one kernel, k(handle, int32) over blockIdx.x; @extra: 0.21 and later */
void pw_kernels(struct bw *b, bool extra);
/** cuda, opencl, hip, hexagon, and metal up to 0.12 */
void pw_device(struct bw *b, const char *format, const char *code, bool extra);
void pw_metal_013(struct bw *b, bool extra);
void pw_metal_024(struct bw *b);
void pw_vulkan(struct bw *b, bool extra);
void pw_webgpu(struct bw *b, bool extra);
void pw_graph_factory(struct bw *b);
void pw_aot_factory(struct bw *b);
void pw_const_loader(struct bw *b);
void pw_json_runtime(struct bw *b);
void pw_ethos_n(struct bw *b, bool has_sizes);
void pw_vitis(struct bw *b);
void pw_static_library(struct bw *b);
void pw_c_source(struct bw *b);
/** coreml, torch; mrvl_sim has a graph before its code */
void pw_symbol_code(struct bw *b, bool has_graph);
/** @minor of the release that wrote it: 8, 9 or 14 are the three layouts */
void pw_relay_vm(struct bw *b, int minor);

#endif
