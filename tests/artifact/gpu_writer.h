#ifndef MSD_TESTS_GPU_WRITER_H
#define MSD_TESTS_GPU_WRITER_H
/* CUDA code of a kilobyte, written by hand from what cubins and fatbins of the tool
 * chain look like. No device runs it. */
#include "tests/artifact/byte_writer.h"

/* PTX of one kernel, k(u64, u8[16], u32), with arrays of both places and bounds. */
extern const char gw_ptx[];

enum gw_layout { GW_OLD, GW_OLD_A, GW_NEW, GW_NEW_A };

/**
 * A cubin of one kernel, "k": 24 registers, 256 bytes of shared memory, 40 local, 368
 * constant, 16 of parameters, which are two, 128 threads at most. GW_OLD*: sm_70 in the
 * layout before CUDA 12, GW_NEW*: sm_90, which counts the system's shared memory in;
 * *_A: the variant for that device alone.
 */
void gw_cubin(struct bw *b, enum gw_layout layout);
/** A fatbin of such a cubin, of PTX as it is, and of compressed PTX for sm_100a. */
void gw_fatbin(struct bw *b);

#endif
