#include <stdlib.h>

#include "proto/base/grow.h"
#include "runtime/executor/relax/vm.h"
#include "runtime/value/error.h"

#define CHUNK_VALUES ((size_t)4096) /* 64 KiB; a larger frame gets its own chunk */

static struct msd_vm_chunk *chunk_new(struct msd_vm_chunk *prev, size_t n)
{
	struct msd_vm_chunk *c;

	if (n < CHUNK_VALUES)
		n = CHUNK_VALUES;
	c = calloc(1, sizeof(*c) + n * sizeof(c->v[0]));
	if (c == NULL)
		return NULL;
	c->n = n;
	c->prev = prev;
	if (prev != NULL)
		prev->next = c;
	return c;
}

/* Allocate @n values None, in the current chunk or the next. */
static struct msd_any *values_push(struct msd_relax_vm *vm, size_t n)
{
	struct msd_vm_chunk *c = vm->chunk;

	if (c == NULL || c->n - c->used < n) {
		struct msd_vm_chunk *next = c != NULL ? c->next : NULL;

		if (next != NULL && next->n < n) { /* the spare chunk is too small */
			free(next);
			c->next = NULL;
			next = NULL;
		}
		if (next == NULL)
			next = chunk_new(c, n);
		if (next == NULL)
			return NULL;
		vm->chunk = c = next;
	}
	struct msd_any *v = &c->v[c->used];
	c->used += n;
	return v;
}

static void values_pop(struct msd_relax_vm *vm, size_t n)
{
	struct msd_vm_chunk *c = vm->chunk;

	c->used -= n;
	if (c->used > 0 || c->prev == NULL)
		return;
	/*
	 * Keep one spare chunk, so that a loop across the boundary does not allocate.
	 */
	free(c->next);
	c->next = NULL;
	vm->chunk = c->prev;
}

bool msd_vm_push(struct msd_relax_vm *vm, const struct msd_vm_func *func)
{
	struct msd_any *regs;

	if (vm->n_frames >= MSD_RELAX_MAX_DEPTH) {
		(void)msd_abi_raise("RuntimeError", "recursion deeper than %u calls",
				    MSD_RELAX_MAX_DEPTH);
		return false;
	}
	if (vm->n_frames == vm->frames_cap &&
	    !msd_reserve(&vm->frames, &vm->frames_cap, vm->n_frames + (size_t)1,
			 sizeof(*vm->frames)))
		goto no_memory;
	regs = values_push(vm, (size_t)func->n_regs + func->n_scratch);
	if (regs == NULL)
		goto no_memory;
	vm->frames[vm->n_frames++] =
		(struct msd_vm_frame){.func = func, .regs = regs, .pc = func->start};
	return true;
no_memory:
	(void)msd_abi_raise_code(MSD_NOMEM, "out of memory for the VM's stack");
	return false;
}

void msd_vm_pop(struct msd_relax_vm *vm)
{
	struct msd_vm_frame *f = &vm->frames[--vm->n_frames];
	const uint32_t n_regs = f->func->n_regs;
	const uint32_t n_scratch = f->func->n_scratch;

	for (uint32_t i = 0; i < n_regs; i++)
		msd_any_drop(&f->regs[i]);
	/* Outgoing arguments are borrowed: clear them without dropping a reference. */
	for (uint32_t i = 0; i < n_scratch; i++)
		f->regs[n_regs + i] = msd_none();
	values_pop(vm, (size_t)n_regs + n_scratch);
}

void msd_vm_stack_finish(struct msd_relax_vm *vm)
{
	struct msd_vm_chunk *c = vm->chunk;

	while (c != NULL && c->prev != NULL)
		c = c->prev;
	while (c != NULL) {
		struct msd_vm_chunk *next = c->next;

		free(c);
		c = next;
	}
	free(vm->frames);
	vm->chunk = NULL;
	vm->frames = NULL;
}
