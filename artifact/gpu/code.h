#ifndef MSD_ARTIFACT_GPU_CODE_H
#define MSD_ARTIFACT_GPU_CODE_H
/*
 * Read CUDA code without a driver: PTX, which is text; cubins, which are ELF files;
 * fatbins, which contain several of both. A driver or nvcc knows more. This module
 * answers the questions before deployment: the supported devices, and the resources
 * of each kernel.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_GPU_MAX_IMAGES 64u      /* limit for one fatbin */
#define MSD_GPU_MAX_KERNELS 512u    /* limit for one image; the rest is counted */
#define MSD_GPU_MAX_NAME_BYTES 512u /* limit for a kernel; longer names are cut */
#define MSD_GPU_PARAM_SIZES 32u     /* limit for a kernel; the rest is counted */

enum msd_gpu_kind { MSD_GPU_PTX, MSD_GPU_CUBIN, MSD_GPU_OTHER };

/* An architecture such as sm_90a. */
struct msd_gpu_arch {
	uint32_t sm;  /* 90; 0: unknown */
	char variant; /* 'a': only that device; 'f': its family; 0: any later */
};

/* Numbers are -1 if the code does not record them. */
struct msd_gpu_kernel {
	char *name;       /* printable, owned */
	char *params;     /* PTX: parameter types, "u64, u32"; NULL: unknown; owned */
	int64_t n_params; /* number of parameters */
	int64_t param_bytes; /* total size */
	/* Cubins: bytes of each; 0: not recorded. */
	uint16_t param_sizes[MSD_GPU_PARAM_SIZES];
	int64_t registers;       /* per thread */
	int64_t shared_bytes;    /* static shared memory of a block */
	int64_t local_bytes;     /* stack and spilled registers of a thread */
	int64_t const_bytes;     /* constant bank 0, parameters included */
	int64_t max_threads[3];  /* per block, the programmer's limit */
	bool is_exact;           /* max_threads is the only allowed size */
	bool has_dynamic_shared; /* PTX: it uses an array without an extent */
};

struct msd_gpu_image {
	enum msd_gpu_kind kind;
	struct msd_gpu_arch arch;
	const char *compression; /* "zstd", "LZ4": contents not read; NULL: not
				    compressed */
	uint32_t isa_major;      /* PTX: its version; 0: unknown */
	uint32_t isa_minor;
	uint32_t address_bits; /* 0: unknown */
	uint64_t bytes;        /* in the file */
	struct msd_gpu_kernel *kernels;
	size_t n_kernels;
	size_t n_more; /* kernels beyond MSD_GPU_MAX_KERNELS */
};

struct msd_gpu_code {
	bool is_fatbin;
	struct msd_gpu_image *images; /* one image; several for a fatbin */
	size_t n_images;
};

/** True if @code is a cubin or a fatbin by its first bytes, or PTX by its @format. */
bool msd_gpu_code_is(struct msd_span format, struct msd_span code);
/**
 * Read @code, for which msd_gpu_code_is() is true. The caller owns *@ret (finish it),
 * which borrows nothing. Errors: MSD_BAD_ARTIFACT (the text gives the truncated or
 * wrong place), MSD_UNSUPPORTED (a 32-bit cubin, or another fatbin version),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_gpu_code_read(struct msd_span code, struct msd_gpu_code *ret,
					 struct msd_diag *d);
void msd_gpu_code_finish(struct msd_gpu_code *code); /* NULL and zeroed are allowed */

#define MSD_GPU_ARCH_MAX 24 /* bytes incl. NUL */
/** "sm_90a", "compute_90" for PTX; "" if unknown. Returns @buf. */
const char *msd_gpu_arch_format(const struct msd_gpu_image *image,
				char buf[static MSD_GPU_ARCH_MAX]);
/**
 * True if a device of compute capability @device ("9.0" is 90) can run @image: a
 * cubin of the same major and no later minor version, PTX of no later version,
 * variants only on their device or family.
 */
bool msd_gpu_image_runs_on(const struct msd_gpu_image *image, uint32_t device);
/** Append text lines for the user, each indented by @indent blanks. */
void msd_gpu_code_text(const struct msd_gpu_code *code, int indent,
		       struct msd_buf *out);
/**
 * An array of objects, one for each image; owned by the caller. NULL: memory is
 * short.
 */
struct json_t *msd_gpu_code_json(const struct msd_gpu_code *code);

#endif
