/*
 * Check a VM image's code once, so that execution needs no checks: instructions do
 * not overlap, functions consist of whole instructions and share none, and every
 * number in an instruction is in range. The cost is linear in the number of words.
 */
#include <inttypes.h>

#include "artifact/printable.h"
#include "artifact/relax/private.h"

/* One instruction being checked. */
struct site {
	const struct msd_relax_image *img;
	const struct msd_relax_func *func;
	const int64_t *word;
	int64_t pc;
};

static msd_err bad_func(const struct msd_relax_func *f, struct msd_diag *d,
			const char *what)
{
	char name[MSD_PRINTABLE_MAX];

	return msd_diag_set(d, MSD_BAD_ARTIFACT, "VM image: function %s: %s",
			    msd_printable(f->name, name), what);
}

static msd_err bad_code(const struct site *s, struct msd_diag *d, const char *what,
			int64_t value)
{
	char name[MSD_PRINTABLE_MAX];

	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "VM image: function %s, instruction %" PRId64
			    ": %s %" PRId64,
			    msd_printable(s->func->name, name), s->pc, what, value);
}

/* Number of words of an instruction, given its first ones; 0 for an unknown opcode. */
static size_t words_of(const int64_t *word, size_t left)
{
	if (left < 2)
		return 0;
	switch (word[0]) {
	case MSD_RELAX_CALL:
		if (left < 4 || word[3] < 0 || (uint64_t)word[3] > left - 4)
			return 0;
		return 4 + (size_t)word[3];
	case MSD_RELAX_RET:
	case MSD_RELAX_GOTO:
		return 2;
	case MSD_RELAX_IF:
		return left < 3 ? 0 : 3;
	default:
		return 0;
	}
}

/* Each instruction must end at or before the start of the next: they cannot overlap,
 * and a walk over all of them is linear in the number of words. */
static msd_err check_offsets(const struct msd_relax_image *img, struct msd_diag *d)
{
	size_t free_from = 0;

	for (size_t i = 0; i < img->n_instrs; i++) {
		int64_t at = img->offsets[i];

		if (at < 0 || (uint64_t)at < free_from || (uint64_t)at > img->n_words) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "VM image: instruction %zu begins at word "
					    "%" PRId64 "; expected %zu to %zu",
					    i, at, free_from, img->n_words);
		}
		size_t n = words_of(img->words + at, img->n_words - (size_t)at);
		if (n == 0) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "VM image: instruction %zu is unknown or "
					    "truncated",
					    i);
		}
		free_from = (size_t)at + n;
	}
	return MSD_OK;
}

static bool is_register(const struct site *s, int64_t reg)
{
	return (reg >= 0 && reg < s->func->n_regs) || reg == MSD_RELAX_VOID_REG ||
	       reg == MSD_RELAX_VM_REG;
}

static msd_err check_next(const struct site *s, int64_t offset, struct msd_diag *d)
{
	/* Differences of indices within the image: they cannot wrap. */
	if (offset < s->func->start - s->pc || offset >= s->func->end - s->pc)
		return bad_code(s, d, "leaves the function by", offset);
	return MSD_OK;
}

static msd_err check_arg(const struct site *s, int64_t word, struct msd_diag *d)
{
	int64_t value = msd_relax_arg_value(word);

	switch (msd_relax_arg_kind(word)) {
	case MSD_RELAX_REG:
		return is_register(s, value) ? MSD_OK
					     : bad_code(s, d, "no register", value);
	case MSD_RELAX_IMM:
		return MSD_OK;
	case MSD_RELAX_CONST:
		if (value < 0 || (uint64_t)value >= s->img->n_consts)
			return bad_code(s, d, "no constant", value);
		return MSD_OK;
	case MSD_RELAX_FUNC:
		if (value < 0 || (uint64_t)value >= s->img->n_funcs)
			return bad_code(s, d, "no function", value);
		return MSD_OK;
	}
	return bad_code(s, d, "no argument", word);
}

static msd_err check_call(const struct site *s, struct msd_diag *d)
{
	int64_t callee = s->word[2];
	int64_t n_args = s->word[3];

	if (!is_register(s, s->word[1]))
		return bad_code(s, d, "no register", s->word[1]);
	if (callee < 0 || (uint64_t)callee >= s->img->n_funcs)
		return bad_code(s, d, "no function", callee);
	const struct msd_relax_func *f = &s->img->funcs[callee];
	if (f->kind != MSD_RELAX_PACKED && f->n_args != n_args)
		return bad_code(s, d, "wrong number of arguments", n_args);
	for (int64_t i = 0; i < n_args; i++) {
		msd_err err = check_arg(s, s->word[4 + i], d);
		if (err != MSD_OK)
			return err;
	}
	return check_next(s, 1, d);
}

static msd_err check_instr(const struct site *s, struct msd_diag *d)
{
	msd_err err;

	switch (s->word[0]) {
	case MSD_RELAX_CALL:
		return check_call(s, d);
	case MSD_RELAX_GOTO:
		return check_next(s, s->word[1], d);
	case MSD_RELAX_IF:
		if (!is_register(s, s->word[1]))
			break;
		err = check_next(s, 1, d);
		return err != MSD_OK ? err : check_next(s, s->word[2], d);
	default: /* MSD_RELAX_RET: check_offsets() knows no other */
		if (!is_register(s, s->word[1]))
			break;
		return MSD_OK;
	}
	return bad_code(s, d, "no register", s->word[1]);
}

static msd_err check_func(const struct msd_relax_func *f, size_t n_instrs,
			  struct msd_diag *d)
{
	if (f->kind == MSD_RELAX_PACKED)
		return MSD_OK;
	if (f->n_args < 0 || f->n_regs < f->n_args || f->n_regs > MSD_RELAX_MAX_REGS)
		return bad_func(f, d, "its numbers of arguments and registers");
	if (f->n_params != 0 && f->n_params != (uint64_t)f->n_args) {
		return bad_func(
			f, d,
			"the number of its parameter names differs from its arguments");
	}
	if (f->kind == MSD_RELAX_VMTIR)
		return MSD_OK;
	if (f->start < 0 || f->end <= f->start || (uint64_t)f->end > n_instrs)
		return bad_func(f, d, "its code is not among the instructions");
	return MSD_OK;
}

msd_err msd_relax_check_code(const struct msd_relax_image *img, struct msd_diag *d)
{
	size_t n_checked = 0;
	msd_err err = check_offsets(img, d);

	for (size_t i = 0; i < img->n_funcs && err == MSD_OK; i++)
		err = check_func(&img->funcs[i], img->n_instrs, d);
	for (size_t i = 0; i < img->n_funcs && err == MSD_OK; i++) {
		const struct msd_relax_func *f = &img->funcs[i];
		struct site s = {.img = img, .func = f, .pc = f->start};

		if (f->kind != MSD_RELAX_BYTECODE)
			continue;
		/* Functions are disjoint: otherwise a small file could cause a long
		 * check. */
		n_checked += (size_t)(f->end - f->start);
		if (n_checked > img->n_instrs) {
			return bad_func(f, d,
					"it shares instructions with another one");
		}
		for (; s.pc < f->end && err == MSD_OK; s.pc++) {
			s.word = img->words + img->offsets[s.pc];
			err = check_instr(&s, d);
		}
	}
	return err;
}
