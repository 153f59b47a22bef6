#ifndef MSD_RUNTIME_LIBRARY_LIBRARY_H
#define MSD_RUNTIME_LIBRARY_LIBRARY_H
/*
 * The library itself ("_lib"): opened with dlopen after everything that it wants was
 * found, its pointer globals filled, its own functions callable. Private to
 * runtime/module.
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
	char *doc;      /* what its author says of it, or NULL */
	bool is_hidden; /* internal: found by name, not listed */
	enum msd_lib_answer {
		MSD_ANSWERS_NOT,
		MSD_ANSWERS_PRINTED, /* to a wrong number of arguments, all of it */
		MSD_ANSWERS_ASSERTS, /* one assertion at a time */
	} answer; /* how it says its signature, by the file's texts */
};

struct msd_lib {
	void *handle;
	int fd; /* its number names the mapping: unique while it is open */
	enum msd_era era;
	const struct msd_elf *elf;
	struct msd_syslib syslib;
	struct msd_lib_func *funcs; /* sorted by name */
	size_t n_funcs;
	struct msd_needed *needed; /* functions of libraries that it needs (needed.h) */
	const char *entry;  /* what __tvm_main__ names; NULL when there is none */
	bool knows_answers; /* funcs[].answer is filled in */
};

/**
 * Check that every strong undefined symbol of @elf can be had from this process or from
 * the libraries it needs. MSD_UNSUPPORTED names all that cannot.
 */
MSD_MUST_CHECK msd_err msd_library_check_symbols(const struct msd_elf *elf,
						 struct msd_diag *d);
/**
 * Map the library in @fd as one of its own, whatever else this process has mapped: same
 * file twice gives two. Runs its constructors. Fills lib->handle, fd, syslib.
 */
MSD_MUST_CHECK msd_err msd_library_map(struct msd_lib *lib, int fd,
				       struct msd_span file, struct msd_diag *d);
void msd_library_unmap(struct msd_lib *lib);
/** What belongs into the pointer global @name of code of its era, or NULL. */
void *msd_library_slot_value(const struct msd_lib *lib, const char *name);
/** Fill the pointer globals and the context. MSD_UNSUPPORTED names an unknown global.
 */
MSD_MUST_CHECK msd_err msd_library_bind(struct msd_lib *lib, struct msd_node *env,
					struct msd_diag *d);
/** Make @f the function @name, borrowed, that is the code at @code. */
void msd_lib_func_init(const struct msd_lib *lib, struct msd_lib_func *f,
		       const char *name, void *code);
/** Make lib->funcs from the symbols. */
MSD_MUST_CHECK msd_err msd_library_list_functions(struct msd_lib *lib,
						  struct msd_diag *d);

#endif
