#ifndef MSD_ARTIFACT_RELAX_IMAGE_H
#define MSD_ARTIFACT_RELAX_IMAGE_H
/*
 * The image of a Relax VM executable (kinds relax.VMExecutable and relax.Executable),
 * decoded and checked: every register, function, constant and jump is in range, so the
 * VM need not check again. Both magics, constant tags of TVM 0.16-0.20, 0.21 and 0.22+.
 */
#include "artifact/elf/era.h"
#include "artifact/params/params.h"
#include "proto/dtype.h"

/* An executable begins with one of them; Relay executables use the first. */
#define MSD_RELAX_MAGIC_V1 0xD225DE2F4214151Dull
#define MSD_RELAX_MAGIC_V2 0xD225DE2F4214151Eull

enum msd_relax_func_kind { MSD_RELAX_PACKED, MSD_RELAX_BYTECODE, MSD_RELAX_VMTIR };

struct msd_relax_func {
	enum msd_relax_func_kind kind;
	struct msd_span name;
	int64_t start; /* instruction index */
	int64_t end;
	int64_t n_args; /* -2: unknown (packed) */
	int64_t n_regs;
	struct msd_span *params; /* names, n_params of them */
	size_t n_params;
};

enum msd_relax_const_kind {
	MSD_RELAX_TENSOR,
	MSD_RELAX_SHAPE,
	MSD_RELAX_STR,
	MSD_RELAX_INT,
	MSD_RELAX_FLOAT,
	MSD_RELAX_DTYPE,
};

struct msd_relax_const {
	enum msd_relax_const_kind kind;
	union {
		struct msd_tensor_blob *tensor; /* owned */
		struct {
			int64_t *dim; /* owned */
			size_t n;
		} shape;
		struct msd_span str;
		int64_t i;
		double f;
		struct msd_dtype dtype;
	} as;
};

enum msd_relax_op {
	MSD_RELAX_CALL = 1,
	MSD_RELAX_RET = 2,
	MSD_RELAX_GOTO = 3,
	MSD_RELAX_IF = 4
};
enum msd_relax_arg {
	MSD_RELAX_REG = 0,
	MSD_RELAX_IMM = 1,
	MSD_RELAX_CONST = 2,
	MSD_RELAX_FUNC = 3
};
#define MSD_RELAX_MAX_REGS ((int64_t)1 << 20) /* limit for one function */
/* Special registers: reads return None and the VM itself, writes are ignored. */
#define MSD_RELAX_VOID_REG ((int64_t)1 << 54)
#define MSD_RELAX_VM_REG (((int64_t)1 << 54) + 1)

struct msd_relax_image {
	struct msd_span version; /* "0.14" */
	bool is_v2;
	struct msd_relax_func *funcs;
	size_t n_funcs;
	struct msd_relax_const *consts;
	size_t n_consts;
	int64_t *offsets; /* word offset of instruction i in words */
	size_t n_instrs;
	int64_t *words;
	size_t n_words;
};

/**
 * Read the image in a module's payload, which is borrowed and must outlive *@ret; the
 * caller owns *@ret (finish it). Guarantees for functions with bytecode:
 *   0 <= start < end <= n_instrs, and no two functions share an instruction;
 *   0 <= n_args <= n_regs <= MSD_RELAX_MAX_REGS, and n_params is n_args or 0;
 *   every instruction's words are inside words[], its opcode is a msd_relax_op;
 *   every register is below n_regs, or MSD_RELAX_VOID_REG or MSD_RELAX_VM_REG;
 *   every argument is one of the four kinds, with a valid constant or function index;
 *   a call of a function with code passes as many arguments as that function has;
 *   every jump stays inside the function, and no path runs past its end.
 *
 * A register's content and the type of a value are not known before a run. Errors:
 * MSD_BAD_ARTIFACT, MSD_UNSUPPORTED (another version of the format), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relax_image_read(struct msd_span payload, enum msd_era era,
					    struct msd_relax_image *ret,
					    struct msd_diag *d);
#define MSD_RELAX_PARAM "modserd.param:" /* text constant with a tensor's name */
/**
 * Bind the moved constants of @img to their tensors, which borrow from @params'
 * bytes. Errors: MSD_UNSUPPORTED: a tensor is missing, the text names it; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relax_image_bind(struct msd_relax_image *img,
					    const struct msd_params *params,
					    struct msd_diag *d);
void msd_relax_image_finish(struct msd_relax_image *img); /* NULL is allowed */
/** The tag of a text constant in images of @era. */
int32_t msd_relax_text_tag(enum msd_era era);
/** Kind and sign-extended value of a call's argument word. */
enum msd_relax_arg msd_relax_arg_kind(int64_t word);
int64_t msd_relax_arg_value(int64_t word);

#endif
