/*
 * Read the dynamic section: the needed libraries and the symbol table. No field gives
 * the table's length. It follows from the hash tables that dlsym uses, or from the
 * section header if a library exports nothing and has an empty hash table.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/elf/private.h"

#define SYM_BYTES sizeof(Elf64_Sym)

struct dynamic {
	uint64_t strtab;
	uint64_t strtab_bytes;
	uint64_t symtab;
	uint64_t hash;
	uint64_t gnu_hash;
	uint64_t flags_1;
	uint64_t versym;
	uint64_t verneed;
	size_t n_needed;
};

static msd_err damaged(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "damaged ELF: %s", what);
}

static void collect(struct dynamic *dyn, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_STRTAB:
		dyn->strtab = value;
		break;
	case DT_STRSZ:
		dyn->strtab_bytes = value;
		break;
	case DT_SYMTAB:
		dyn->symtab = value;
		break;
	case DT_HASH:
		dyn->hash = value;
		break;
	case DT_GNU_HASH:
		dyn->gnu_hash = value;
		break;
	case DT_FLAGS_1:
		dyn->flags_1 = value;
		break;
	case DT_VERSYM:
		dyn->versym = value;
		break;
	case DT_VERNEED:
		dyn->verneed = value;
		break;
	case DT_NEEDED:
		dyn->n_needed++;
		break;
	default:
		break;
	}
}

/* A string of the table; its last byte is known to be NUL. */
static const char *string_at(struct msd_span strings, uint64_t offset)
{
	return offset < strings.n ? (const char *)strings.p + offset : NULL;
}

/* Libraries of every host: a $ORIGIN in the search path does not concern them. */
static bool is_platform_library(const char *name)
{
	static const char *const names[] = {
		"libc.so.",       "libm.so.",  "libdl.so.",
		"libpthread.so.", "librt.so.", "libgcc_s.so.",
		"libstdc++.so.",  "ld-linux",  "libgomp.so.",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* Second pass over the section, now that the string table is known. */
static msd_err read_needed(struct msd_elf *elf, struct msd_cur c,
			   struct msd_span strings, struct msd_diag *d)
{
	bool has_neighbour = false;
	bool has_runpath = false;

	while (c.left >= sizeof(Elf64_Dyn)) {
		int64_t tag = msd_cur_i64(&c);
		const char *text = string_at(strings, msd_cur_u64(&c));

		if (tag == DT_NULL)
			break;
		if (tag != DT_NEEDED && tag != DT_RPATH && tag != DT_RUNPATH)
			continue;
		if (text == NULL)
			return damaged(d, "a needed library's name is out of range");
		if (tag != DT_NEEDED) { /* the loader ignores RPATH if RUNPATH exists */
			if (tag == DT_RUNPATH || !has_runpath)
				elf->search_path = text;
			has_runpath |= tag == DT_RUNPATH;
			continue;
		}
		elf->needed[elf->n_needed++] = text;
		has_neighbour |= text[0] != '/' && !is_platform_library(text);
		elf->uses_origin |= text[0] != '/' && strchr(text, '/') != NULL;
	}
	if (elf->search_path != NULL && has_neighbour) {
		elf->uses_origin |= strstr(elf->search_path, "$ORIGIN") != NULL ||
				    strstr(elf->search_path, "${ORIGIN}") != NULL;
	}
	return MSD_OK;
}

/* Symbols that a DT_GNU_HASH table covers; 0 if it is empty. */
static msd_err count_gnu_hash(const struct msd_elf *elf, uint64_t address,
			      uint64_t *ret, struct msd_diag *d)
{
	struct msd_span head;
	struct msd_span buckets;
	struct msd_span link;

	if (!msd_elf_at(elf, address, 16, &head))
		return damaged(d, "its GNU hash table is not in the file");
	uint32_t n_buckets = msd_le32(head.p);
	uint32_t first = msd_le32(head.p + 4);
	uint64_t bloom = (uint64_t)msd_le32(head.p + 8) * 8;
	uint64_t at = address + 16 + bloom;
	if (!msd_elf_at(elf, at, (uint64_t)n_buckets * 4, &buckets))
		return damaged(d, "its GNU hash buckets are not in the file");
	uint32_t last = 0;
	for (size_t i = 0; i < n_buckets; i++) {
		uint32_t head_of_chain = msd_le32(buckets.p + i * 4);

		if (head_of_chain > last)
			last = head_of_chain;
	}
	*ret = 0;
	if (last < first || last == 0)
		return MSD_OK;
	/* The highest chain ends the table: its last link has the low bit set. */
	at += (uint64_t)n_buckets * 4;
	do {
		if (!msd_elf_at(elf, at + (uint64_t)(last - first) * 4, 4, &link))
			return damaged(d, "its GNU hash chains are not in the file");
		last++;
	} while ((msd_le32(link.p) & 1) == 0 && last != 0);
	*ret = last;
	return MSD_OK;
}

/* Entries of the section .dynsym; 0 if it is absent or another table. */
static uint64_t count_from_sections(const struct msd_elf *elf, uint64_t symtab)
{
	const uint8_t *eh = elf->image.p;
	uint64_t at = msd_le64(eh + offsetof(Elf64_Ehdr, e_shoff));
	uint16_t each = msd_le16(eh + offsetof(Elf64_Ehdr, e_shentsize));
	uint16_t n = msd_le16(eh + offsetof(Elf64_Ehdr, e_shnum));
	struct msd_span table;

	if (each != sizeof(Elf64_Shdr) ||
	    !msd_elf_bytes(elf->image, at, (uint64_t)each * n, &table))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *sh = table.p + i * each;

		if (msd_le32(sh + offsetof(Elf64_Shdr, sh_type)) == SHT_DYNSYM &&
		    msd_le64(sh + offsetof(Elf64_Shdr, sh_addr)) == symtab)
			return msd_le64(sh + offsetof(Elf64_Shdr, sh_size)) / SYM_BYTES;
	}
	return 0;
}

static msd_err count_symbols(const struct msd_elf *elf, const struct dynamic *dyn,
			     uint64_t *ret, struct msd_diag *d)
{
	uint64_t hashed = 0;

	if (dyn->hash != 0) {
		struct msd_span head;

		if (!msd_elf_at(elf, dyn->hash, 8, &head))
			return damaged(d, "its hash table is not in the file");
		*ret = msd_le32(head.p + 4);
		return MSD_OK;
	}
	if (dyn->gnu_hash != 0) {
		msd_err err = count_gnu_hash(elf, dyn->gnu_hash, &hashed, d);
		if (err != MSD_OK)
			return err;
	}
	*ret = hashed != 0 ? hashed : count_from_sections(elf, dyn->symtab);
	return MSD_OK;
}

static enum msd_sym_type type_of(uint8_t info)
{
	switch (ELF64_ST_TYPE(info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return MSD_SYM_FUNC;
	case STT_OBJECT:
		return MSD_SYM_OBJECT;
	default:
		return MSD_SYM_OTHER;
	}
}

static msd_err take_symbol(struct msd_elf *elf, struct msd_span table, size_t index,
			   struct msd_span strings, struct msd_diag *d)
{
	const uint8_t *sym = table.p + index * SYM_BYTES;
	uint8_t info = sym[offsetof(Elf64_Sym, st_info)];
	const char *name = string_at(strings, msd_le32(sym));

	if (name == NULL)
		return damaged(d, "a symbol's name is out of range");
	if (ELF64_ST_BIND(info) == STB_LOCAL || name[0] == '\0')
		return MSD_OK;
	if (strnlen(name, MSD_MAX_SYMBOL_BYTES) == MSD_MAX_SYMBOL_BYTES)
		return damaged(d, "a symbol's name has more than 16 KiB");
	elf->syms[elf->n_syms++] = (struct msd_elf_sym){
		.name = name,
		.type = type_of(info),
		.defined = msd_le16(sym + offsetof(Elf64_Sym, st_shndx)) != SHN_UNDEF,
		.weak = ELF64_ST_BIND(info) == STB_WEAK,
		.value = msd_le64(sym + offsetof(Elf64_Sym, st_value)),
		.size = msd_le64(sym + offsetof(Elf64_Sym, st_size)),
		.index = index,
	};
	return MSD_OK;
}

/* By name; for equal names the defined one first, as msd_elf_find() requires. */
static int compare_symbols(const void *a, const void *b)
{
	const struct msd_elf_sym *x = a;
	const struct msd_elf_sym *y = b;
	int order = x->name == y->name ? 0 : strcmp(x->name, y->name);

	return order != 0 ? order : (int)y->defined - (int)x->defined;
}

static msd_err read_symbols(struct msd_elf *elf, const struct dynamic *dyn,
			    struct msd_span strings, struct msd_diag *d)
{
	struct msd_span table;
	uint64_t n = 0;
	msd_err err = count_symbols(elf, dyn, &n, d);

	if (err != MSD_OK)
		return err;
	/* The bound on n keeps the product far from wrapping. */
	if (n > elf->image.n || !msd_elf_at(elf, dyn->symtab, n * SYM_BYTES, &table))
		return damaged(d, "its symbol table is not in the file");
	elf->syms = calloc(n > 0 ? (size_t)n : 1u, sizeof(*elf->syms));
	if (elf->syms == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory reading the ELF file");
	for (size_t i = 1; i < n && err == MSD_OK; i++) /* 0 is reserved */
		err = take_symbol(elf, table, i, strings, d);
	if (err == MSD_OK && elf->n_syms > 1)
		qsort(elf->syms, elf->n_syms, sizeof(*elf->syms), compare_symbols);
	return err;
}

msd_err msd_elf_read_dynamic(struct msd_elf *elf, struct msd_elf_dynamic where,
			     struct msd_diag *d)
{
	struct dynamic dyn = {0};
	struct msd_span section;
	struct msd_span strings;

	if (!msd_elf_bytes(elf->image, where.offset, where.bytes, &section))
		return damaged(d, "its dynamic section is not in the file");
	struct msd_cur c = msd_cur_of(section);
	while (c.left >= sizeof(Elf64_Dyn)) {
		int64_t tag = msd_cur_i64(&c);
		uint64_t value = msd_cur_u64(&c);

		if (tag == DT_NULL)
			break;
		collect(&dyn, tag, value);
	}
	if ((dyn.flags_1 & DF_1_PIE) != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "an executable; expected a shared library");
	}
	if (!msd_elf_at(elf, dyn.strtab, dyn.strtab_bytes, &strings) ||
	    strings.n == 0 || strings.p[strings.n - 1] != '\0')
		return damaged(d, "its dynamic string table is not in the file");
	elf->needed =
		calloc(dyn.n_needed > 0 ? dyn.n_needed : 1u, sizeof(*elf->needed));
	if (elf->needed == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory reading the ELF file");
	elf->symtab = dyn.symtab;
	msd_err err = read_needed(elf, msd_cur_of(section), strings, d);
	if (err == MSD_OK)
		err = read_symbols(elf, &dyn, strings, d);
	if (err == MSD_OK)
		err = msd_elf_read_versions(elf, dyn.versym, dyn.verneed, strings, d);
	return err;
}
