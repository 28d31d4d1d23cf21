/* A walked page: crawler/native/walk.py reads these structures field by field. */
#ifndef GRISTMILL_WALK_H
#define GRISTMILL_WALK_H

#include "buffer.h"

enum { INLINE_, LINK, CODE, BREAK, SKIP, JOINT, LINES, VEIL }; /* roles, as in walk.py of the extractor */
enum { IS_SPAN = 1, IS_PRE = 2, IS_ITEM = 4, IS_CELL = 8, IS_PARAGRAPH = 16 }; /* what more is asked of a tag */

typedef struct { /* of the reference: what it knows of tags and characters */
    int32_t tags;             /* how many; tag i is numbered i in every page */
    const char *names;        /* the tags, each ended by a zero */
    const int32_t *traits;    /* tags x 4: role, kind of block, marks, what more is asked */
    int32_t roles;            /* values of `role` that give marks, likewise */
    const char *role_names;
    const int32_t *role_marks;
    int32_t characters;
    const uint8_t *cases;     /* characters: 1 lower, 2 upper, 4 decimal digit; none beyond has either */
    int32_t kind_text, kind_heading, kind_code, mark_hidden, most_blocks, least_data, most_name;
    const char *number_name, *language_name; /* attributes of an item, of <pre> */
} Rules;

typedef struct {
    /* blocks: texts one behind the other, and int32 for each */
    Buffer text, text_ends, lengths, kinds, holders, linked, links;
    /* blocks whose reader may see something else: see `note_shown` */
    Buffer shown, pieces;
    /* elements: int32 for each; names[i] is -1 where it has none */
    Buffer parents, tag, name, marks, depths, starts, ends;
    /* attributes that Python reads: element, which (0 number, 1 language, 2 columns, 3 rows), end in note_text */
    Buffer notes, note_text;
    Strings tags, names;
} Page;

NATIVE_API int32_t native_walk(const Rules *rules, const char *xml, int64_t size, Page *page);
/* said: of every name, the marks that it gives; they are handed down. */
NATIVE_API void native_walk_marks(Page *page, const int32_t *said);
NATIVE_API void native_walk_free(Page *page);

#endif
