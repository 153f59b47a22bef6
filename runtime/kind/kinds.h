#ifndef MSD_RUNTIME_KIND_KINDS_H
#define MSD_RUNTIME_KIND_KINDS_H
/*
 * The rows of the table of module kinds: `kind.c` in the folder of each executor and of
 * the library, the small ones here.
 */
#include "runtime/module/node.h"

extern const struct msd_node_ops msd_kind_library; /* "_lib" */
/* Further nodes that stand for the same library (TVM 0.7): they only have imports. */
extern const struct msd_node_ops msd_kind_library_again;
extern const struct msd_node_ops msd_kind_aot;              /* "AotExecutorFactory" */
extern const struct msd_node_ops msd_kind_metadata;         /* "metadata" */
extern const struct msd_node_ops msd_kind_const_loader;     /* "const_loader" */
extern const struct msd_node_ops msd_kind_metadata_module;  /* "metadata_module" */
extern const struct msd_node_ops msd_kind_graph;            /* "GraphExecutorFactory" */
extern const struct msd_node_ops msd_kind_graph_07;         /* "GraphRuntimeFactory" */
extern const struct msd_node_ops msd_kind_relay_vm;         /* "VMExecutable" */
extern const struct msd_node_ops msd_kind_relax_vm;         /* "relax.VMExecutable" */
extern const struct msd_node_ops msd_kind_cuda;             /* "cuda" (device.c) */
extern const struct msd_node_ops msd_kind_opencl;           /* "opencl" (device.c) */
extern const struct msd_node_ops msd_kind_relax_vm;         /* "relax.VMExecutable" */
extern const struct msd_node_ops msd_kind_relax_executable; /* "relax.Executable" */
extern const struct msd_node_ops msd_kind_refused;          /* whatever has no row */

/** Row for @kind; kinds without a row get the row that refuses by name. */
const struct msd_node_ops *msd_node_ops_find(struct msd_span kind);

#endif
