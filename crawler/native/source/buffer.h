/* Memory that grows, text that is UTF-8, and strings that are numbered. */
#ifndef GRISTMILL_BUFFER_H
#define GRISTMILL_BUFFER_H

#include <stdlib.h>
#include <string.h>

#include "native.h"

/* Bytes that grow; `failed` stays once memory was lacking, and what is added then goes nowhere. */
typedef struct {
    char *data;
    uint64_t used, room, failed;
} Buffer;

/* Room for `more` bytes behind what is used; NULL where there is no memory. */
static inline char *reserve(Buffer *b, size_t more) {
    if (b->failed) return NULL;
    if (b->used + more > b->room || !b->data) {
        size_t room = (b->used + more) * 2 + 256;
        char *data = realloc(b->data, room);
        if (!data) {
            b->failed = 1;
            return NULL;
        }
        b->data = data, b->room = room;
    }
    return b->data + b->used;
}

static inline void put(Buffer *b, const void *from, size_t size) {
    char *to = reserve(b, size);
    if (to && size) memcpy(to, from, size), b->used += size;
}

static inline void put_int(Buffer *b, int32_t value) { put(b, &value, sizeof value); }
static inline int32_t *ints(const Buffer *b) { return (int32_t *)(void *)b->data; }
static inline int32_t count_ints(const Buffer *b) { return (int32_t)(b->used / sizeof(int32_t)); }

/* One code point; `size` becomes its bytes, 1 to 4 and never behind the end. What is no UTF-8 is U+FFFD, each byte. */
static inline uint32_t decoded(const uint8_t *at, const uint8_t *end, int32_t *size) {
    uint32_t lead = at[0];
    int32_t more = lead < 0x80 ? 0 : lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : -1;
    *size = 1;
    if (more == 0) return lead;
    if (more < 0 || end - at <= more) return 0xFFFD;
    uint32_t code = lead & (0x3Fu >> more);
    for (int32_t i = 1; i <= more; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0xFFFD;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    *size = more + 1;
    return code;
}

/* The last code point of start … end, and where it begins; start < end. */
static inline uint32_t decoded_last(const uint8_t *start, const uint8_t *end, const uint8_t **begins) {
    const uint8_t *at = end - 1;
    int32_t size;
    while (at > start && end - at < 4 && (*at & 0xC0) == 0x80) at--;
    uint32_t code = decoded(at, end, &size);
    if (at + size != end) at = end - 1, code = 0xFFFD;
    *begins = at;
    return code;
}

static inline int32_t code_points(const uint8_t *at, const uint8_t *end) {
    int32_t count = 0;
    for (; at < end; at++) count += (*at & 0xC0) != 0x80;
    return count;
}

/* What str.isspace and str.split take for white space. */
static inline int is_space(uint32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

static inline uint32_t hash_bytes(const void *data, size_t size) {
    const uint8_t *at = data;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* Strings by number, from 0 on in the order of their first use: `text` has them one behind the other, `ends` where
 * each one ends, `slots` a hash table of their numbers + 1 of a power of two, at most half full. */
typedef struct {
    Buffer text, ends, slots;
} Strings;

static inline const char *string_of(const Strings *s, int32_t number, size_t *size) {
    size_t begin = number ? (size_t)ints(&s->ends)[number - 1] : 0;
    *size = (size_t)ints(&s->ends)[number] - begin;
    return s->text.data + begin;
}

/* The number of a string, which is added where it is new; -1 where there is no memory. */
static inline int32_t number_of(Strings *s, const void *data, size_t size) {
    int32_t known = count_ints(&s->ends);
    size_t slots = s->slots.used / sizeof(int32_t);
    if ((size_t)known * 2 >= slots) {
        size_t wider = slots ? slots * 2 : 512;
        s->slots.used = 0;
        char *to = reserve(&s->slots, wider * sizeof(int32_t));
        if (!to) return -1;
        memset(to, 0, wider * sizeof(int32_t));
        s->slots.used = wider * sizeof(int32_t), slots = wider;
        for (int32_t i = 0; i < known; i++) {
            size_t length, slot;
            const char *one = string_of(s, i, &length);
            for (slot = hash_bytes(one, length) & (slots - 1); ints(&s->slots)[slot];
                 slot = (slot + 1) & (slots - 1)) {}
            ints(&s->slots)[slot] = i + 1;
        }
    }
    size_t slot = hash_bytes(data, size) & (slots - 1);
    for (; ints(&s->slots)[slot]; slot = (slot + 1) & (slots - 1)) {
        size_t length;
        const char *one = string_of(s, ints(&s->slots)[slot] - 1, &length);
        if (length == size && (!size || !memcmp(one, data, size))) return ints(&s->slots)[slot] - 1;
    }
    put(&s->text, data, size);
    put_int(&s->ends, (int32_t)s->text.used);
    if (s->text.failed || s->ends.failed) return -1;
    ints(&s->slots)[slot] = known + 1;
    return known;
}

static inline void release(Buffer *b) {
    free(b->data);
    memset(b, 0, sizeof *b);
}

#endif
