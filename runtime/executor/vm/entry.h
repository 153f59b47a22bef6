#ifndef MSD_RUNTIME_EXECUTOR_VM_ENTRY_H
#define MSD_RUNTIME_EXECUTOR_VM_ENTRY_H

#include "runtime/module/instance.h"
/* State of a virtual machine's instance for each function that was used. Private to
 * this folder. */

struct msd_vm_entry {
	struct msd_vm_entry *next;
	struct msd_function *fn;
	struct msd_any *args; /* one value per parameter */
	bool *is_set;         /* per argument */
	size_t n_args;
	struct msd_any result;
	bool has_result;
	struct msd_any *outs; /* also receives the next result; NULL: nothing does */
	size_t n_outs;
};

struct msd_vm_state {
	struct msd_instance base; /* first member */
	struct msd_node *node;
	char *stats; /* owned; NULL: none */
	struct msd_vm_entry *entries;
	struct msd_vm_entry *last; /* last invoked entry; NULL: none */
	struct msd_vm_saved *saved;
};

static inline struct msd_vm_state *msd_vm_state_of(struct msd_instance *self)
{
	return (struct msd_vm_state *)self;
}

/** The model's function named by argument @at; NULL with the error raised. */
struct msd_function *msd_vm_function(const struct msd_vm_state *s,
				     const struct msd_any *args, int at);
size_t msd_vm_arity(const struct msd_function *fn);
/** NULL if nothing was set or invoked. */
struct msd_vm_entry *msd_vm_entry_peek(const struct msd_vm_state *s,
				       const struct msd_function *fn);
/** Get or create the entry. NULL with the error raised. */
struct msd_vm_entry *msd_vm_entry_get(struct msd_vm_state *s, struct msd_function *fn);
/**
 * Keep a copy of @v, already checked, for parameter @i; the call's memory is freed
 * after the call.
 */
int msd_vm_entry_set(struct msd_vm_entry *e, size_t i, const struct msd_any *v);
/** A copy of @v in its own memory: 0 or -1. */
int msd_vm_keep(const struct msd_any *v, struct msd_any *ret);
void msd_vm_entries_destroy(struct msd_vm_state *s);

/* Access to results (output.c). Relax functions name the function; Relay functions
 * refer to the last invoked one. */
int msd_vm_get_output(struct msd_instance *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret);
int msd_vm_get_output_arity(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret);
int msd_vm_get_last_output(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret);
int msd_vm_get_num_outputs(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret);
/* Set resident tensors that also receive a copy of a function's next result. */
int msd_vm_set_outputs(struct msd_instance *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret);
/** Copy the result of @e to the tensors set for it, once: 0 or -1. */
int msd_vm_fill_outputs(struct msd_vm_entry *e);
void msd_vm_drop_outputs(struct msd_vm_entry *e);

/* Functions with bound arguments (saved.c). */
int msd_vm_save_function(struct msd_instance *self, const struct msd_any *args,
			 int32_t n, struct msd_any *ret);
int msd_vm_invoke_closure(struct msd_instance *self, const struct msd_any *args,
			  int32_t n, struct msd_any *ret);
/** A saved function or the model's; NULL if there is none. */
struct msd_function *msd_vm_find(const struct msd_vm_state *s, const char *name);
void msd_vm_saved_destroy(struct msd_vm_state *s);

#endif
