#ifndef MSD_ARTIFACT_GPU_CODE_H
#define MSD_ARTIFACT_GPU_CODE_H
/*
 * What CUDA code says of itself, read without a driver: PTX, which is text; cubins,
 * which are ELF files; fatbins, which hold several of both. A driver or nvcc knows
 * more; this is what an operator asks before there is one: which devices it is for, and
 * what each kernel takes of a device.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

#define MSD_GPU_MAX_IMAGES 64u      /* of one fatbin */
#define MSD_GPU_MAX_KERNELS 512u    /* of one image; others are counted */
#define MSD_GPU_MAX_NAME_BYTES 512u /* of a kernel; longer ones are cut */
#define MSD_GPU_PARAM_SIZES 32u     /* of a kernel; later ones are counted */

enum msd_gpu_kind { MSD_GPU_PTX, MSD_GPU_CUBIN, MSD_GPU_OTHER };

/* An architecture such as sm_90a. */
struct msd_gpu_arch {
	uint32_t sm;  /* 90; 0: unknown */
	char variant; /* 'a': for that device alone; 'f': for its family; 0: any later
		       */
};

/* Numbers are -1 where the code does not say. */
struct msd_gpu_kernel {
	char *name;          /* printable, owned */
	char *params;        /* PTX: their types, "u64, u32"; NULL: unknown; owned */
	int64_t n_params;    /* how many */
	int64_t param_bytes; /* of all */
	/* Cubins: bytes of each; 0: it does not say. */
	uint16_t param_sizes[MSD_GPU_PARAM_SIZES];
	int64_t registers;       /* of a thread */
	int64_t shared_bytes;    /* static shared memory of a block */
	int64_t local_bytes;     /* stack and spilled registers of a thread */
	int64_t const_bytes;     /* its constant bank 0, parameters included */
	int64_t max_threads[3];  /* of a block, as the programmer bounded it */
	bool is_exact;           /* max_threads are the only ones that it takes */
	bool has_dynamic_shared; /* PTX: it uses an array without an extent */
};

struct msd_gpu_image {
	enum msd_gpu_kind kind;
	struct msd_gpu_arch arch;
	const char
		*compression; /* "zstd", "LZ4": not looked into; NULL: not compressed */
	uint32_t isa_major;   /* PTX: its version; 0: unknown */
	uint32_t isa_minor;
	uint32_t address_bits; /* 0: unknown */
	uint64_t bytes;        /* in the file */
	struct msd_gpu_kernel *kernels;
	size_t n_kernels;
	size_t n_more; /* kernels beyond MSD_GPU_MAX_KERNELS */
};

struct msd_gpu_code {
	bool is_fatbin;
	struct msd_gpu_image *images; /* one, unless it is a fatbin */
	size_t n_images;
};

/** Whether @code is a cubin or a fatbin by its first bytes, or PTX by its @format. */
bool msd_gpu_code_is(struct msd_span format, struct msd_span code);
/**
 * Read @code, of which msd_gpu_code_is() holds. The caller owns *@ret (finish it),
 * which borrows nothing. Errors: MSD_BAD_ARTIFACT (the text says where it is cut or
 * wrong), MSD_UNSUPPORTED (a 32-bit cubin, or another fatbin version), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_gpu_code_read(struct msd_span code, struct msd_gpu_code *ret,
					 struct msd_diag *d);
void msd_gpu_code_finish(struct msd_gpu_code *code); /* NULL and zeroed are fine */

#define MSD_GPU_ARCH_MAX 24 /* bytes incl. NUL */
/** "sm_90a", "compute_90" for PTX; "" when it is unknown. Returns @buf. */
const char *msd_gpu_arch_format(const struct msd_gpu_image *image,
				char buf[static MSD_GPU_ARCH_MAX]);
/**
 * Whether a device of compute capability @device ("9.0" is 90) takes @image: a cubin of
 * the same major and no later minor one, PTX of no later one, variants their device or
 * family alone.
 */
bool msd_gpu_image_runs_on(const struct msd_gpu_image *image, uint32_t device);
/** Lines for people, each behind @indent blanks. */
void msd_gpu_code_text(const struct msd_gpu_code *code, int indent,
		       struct msd_buf *out);
/** An array of objects, one for each image; the caller's. NULL: memory is short. */
struct json_t *msd_gpu_code_json(const struct msd_gpu_code *code);

#endif
