#ifndef MSD_TESTS_ELF_WRITER_H
#define MSD_TESTS_ELF_WRITER_H
/*
 * Shared libraries of a kilobyte, written by hand: one segment at address 0 with
 * symbols, strings, a hash table, the dynamic section and a blob. Nothing in them can
 * run.
 */

#include "tests/artifact/byte_writer.h"

enum ew_hash { EW_SYSV, EW_GNU, EW_SECTIONS_ONLY };

struct ew_sym {
	const char *name;
	char what; /* 'F' function, 'O' object, 'B' the blob, 'U' undefined, 'W' weak
		      'U' */
};

struct ew_lib {
	uint16_t machine; /* EM_* */
	enum ew_hash hash;
	const char *needed[4]; /* up to the first NULL */
	const char *runpath;   /* NULL: none */
	struct ew_sym
		syms[16]; /* up to the first without a name; undefined ones first */
	const struct bw *blob; /* NULL: none */
};

void ew_write(struct bw *b, const struct ew_lib *lib);

#endif
