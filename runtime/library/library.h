#ifndef MSD_RUNTIME_LIBRARY_LIBRARY_H
#define MSD_RUNTIME_LIBRARY_LIBRARY_H
/*
 * The library itself ("_lib"). It is opened with dlopen after all its dependencies
 * were found, then its pointer globals are filled and its functions are callable.
 * Private to runtime/module.
 */
#include "runtime/abi/classic.h"
#include "runtime/abi/syslib.h"
#include "runtime/module/check.h"
#include "runtime/module/node.h"

/* A function of the library. The thunk's code is the symbol; fn.call is the symbol
 * itself (0.22+) or a conversion. */
struct msd_lib_func {
	struct msd_thunk thunk;
	struct msd_call_rules rules;
	struct msd_signature signature;
	char *doc;      /* documentation by its author, or NULL */
	bool is_hidden; /* internal: found by name, not listed */
	enum msd_lib_answer {
		MSD_ANSWERS_NOT,
		MSD_ANSWERS_PRINTED, /* prints the whole signature for a wrong argument
					count */
		MSD_ANSWERS_ASSERTS, /* reports one assertion per call */
	} answer; /* how it reveals its signature, according to the texts in the file */
};

struct msd_lib {
	void *handle;
	int fd; /* its number is the mapping's name: unique while it is open */
	enum msd_era era;
	const struct msd_elf *elf;
	struct msd_syslib syslib;
	struct msd_lib_func *funcs; /* sorted by name */
	size_t n_funcs;
	struct msd_needed *needed; /* functions of its needed libraries (needed.h) */
	const char *entry;         /* target of __tvm_main__; NULL if there is none */
	bool knows_answers;        /* funcs[].answer is set */
	bool is_typed;             /* built with tvm-ffi's headers */
};

/**
 * Check that this process or the needed libraries provide every strong undefined
 * symbol of @elf. MSD_UNSUPPORTED names all missing ones.
 */
MSD_MUST_CHECK msd_err msd_library_check_symbols(const struct msd_elf *elf,
						 struct msd_diag *d);
/**
 * Map the library in @fd separately from all other mappings of this process: the same
 * file twice gives two mappings. Runs its constructors. Fills lib->handle, fd,
 * syslib.
 */
MSD_MUST_CHECK msd_err msd_library_map(struct msd_lib *lib, int fd,
				       struct msd_span file, struct msd_diag *d);
void msd_library_unmap(struct msd_lib *lib);
/** The value for the pointer global @name in code of its ABI, or NULL. */
void *msd_library_slot_value(const struct msd_lib *lib, const char *name);
/** Fill the pointer globals and the context. MSD_UNSUPPORTED names an unknown global.
 */
MSD_MUST_CHECK msd_err msd_library_bind(struct msd_lib *lib, struct msd_node *env,
					struct msd_diag *d);
/** Initialise @f as the function @name, borrowed, with its code at @code. */
void msd_lib_func_init(const struct msd_lib *lib, struct msd_lib_func *f,
		       const char *name, void *code);
/** Build lib->funcs from the symbols. */
MSD_MUST_CHECK msd_err msd_library_list_functions(struct msd_lib *lib,
						  struct msd_diag *d);

#endif
