#ifndef MSD_RUNTIME_EXECUTOR_VM_ENTRY_H
#define MSD_RUNTIME_EXECUTOR_VM_ENTRY_H

#include "runtime/module/instance.h"
/* What an instance of a virtual machine holds for each function that was named. Private
 * to this folder. */

struct msd_vm_entry {
	struct msd_vm_entry *next;
	struct msd_function *fn;
	struct msd_any *args; /* a value for each parameter */
	bool *is_set;         /* of args */
	size_t n_args;
	struct msd_any result;
	bool has_result;
	struct msd_any *outs; /* where the next result goes, too; NULL: nowhere */
	size_t n_outs;
};

struct msd_vm_state {
	struct msd_instance base; /* first */
	struct msd_node *node;
	char *stats; /* owned; NULL: none */
	struct msd_vm_entry *entries;
	struct msd_vm_entry *last; /* invoked; NULL: none was */
	struct msd_vm_saved *saved;
};

static inline struct msd_vm_state *msd_vm_state_of(struct msd_instance *self)
{
	return (struct msd_vm_state *)self;
}

/** The model's function that argument @at names; NULL with the error raised. */
struct msd_function *msd_vm_function(const struct msd_vm_state *s,
				     const struct msd_any *args, int at);
size_t msd_vm_arity(const struct msd_function *fn);
/** NULL when nothing was set or invoked. */
struct msd_vm_entry *msd_vm_entry_peek(const struct msd_vm_state *s,
				       const struct msd_function *fn);
/** NULL with the error raised. */
struct msd_vm_entry *msd_vm_entry_get(struct msd_vm_state *s, struct msd_function *fn);
/** Keep @v, which fits, for parameter @i: in memory of its own, for the call's goes
 * with the call. */
int msd_vm_entry_set(struct msd_vm_entry *e, size_t i, const struct msd_any *v);
/** A copy of @v in memory of its own: 0 or -1. */
int msd_vm_keep(const struct msd_any *v, struct msd_any *ret);
void msd_vm_entries_destroy(struct msd_vm_state *s);

/* What was returned (output.c): Relax's functions name theirs, relay's speak of the
 * one that was invoked last. */
int msd_vm_get_output(struct msd_instance *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret);
int msd_vm_get_output_arity(struct msd_instance *self, const struct msd_any *args,
			    int32_t n, struct msd_any *ret);
int msd_vm_get_last_output(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret);
int msd_vm_get_num_outputs(struct msd_instance *self, const struct msd_any *args,
			   int32_t n, struct msd_any *ret);
/* Resident tensors that the next result of a function is copied to as well. */
int msd_vm_set_outputs(struct msd_instance *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret);
/** Copy the result of @e to what was set for it, once: 0 or -1. */
int msd_vm_fill_outputs(struct msd_vm_entry *e);
void msd_vm_drop_outputs(struct msd_vm_entry *e);

/* Functions with arguments bound to them (saved.c). */
int msd_vm_save_function(struct msd_instance *self, const struct msd_any *args,
			 int32_t n, struct msd_any *ret);
int msd_vm_invoke_closure(struct msd_instance *self, const struct msd_any *args,
			  int32_t n, struct msd_any *ret);
/** A saved function or the model's; NULL when there is none. */
struct msd_function *msd_vm_find(const struct msd_vm_state *s, const char *name);
void msd_vm_saved_destroy(struct msd_vm_state *s);

#endif
