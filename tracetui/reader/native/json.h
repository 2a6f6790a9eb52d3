/* JSON values in a text that ends with a NUL: where they end, and whether they are plain.
 *
 * Plain is what every reader of JSON takes for the same. A value is refused where it is damaged, and also
 * where it is only unusual: a surrogate, an escape in a key, a number of many digits. Knows no events. */

#ifndef TRACETUI_JSON_H
#define TRACETUI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#define DEEPEST 32          /* objects and arrays within one another */
#define LONGEST_NUMBER 40   /* characters */

typedef struct {
    const char *start; /* quotes of a string included */
    const char *end;
    char type;    /* '"', '0' for a number, '{', '[', 't', 'f', 'n'; 0: there is no value */
    bool escaped; /* a string with a backslash */
} Value;

typedef struct {
    const char *at;
    const char *limit; /* the NUL */
    bool ascii;        /* no byte from 128 on was met */
} Cursor;

static inline void skip_space(Cursor *cursor) {
    const char *at = cursor->at;
    if ((unsigned char)*at > ' ') return;
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') at++;
    cursor->at = at;
}

static inline bool is_digit(char character) { return (unsigned char)(character - '0') < 10; }

static inline int hex_of(char character) {
    if (is_digit(character)) return character - '0';
    character |= 0x20;
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* The first byte from `at` on that is a quote, a backslash, a control character or not ASCII. */
static inline const char *plain_end(const char *at, const char *limit) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(' ');
    for (; limit - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash));
        ends = _mm_or_si128(ends, _mm_cmplt_epi8(bytes, space)); /* with a sign: from 128 on as well */
        int marked = _mm_movemask_epi8(ends);
        if (marked) return at + __builtin_ctz((unsigned)marked);
    }
#elif defined(__ARM_NEON) && defined(__aarch64__)
    for (; limit - at >= 16; at += 16) {
        int8x16_t bytes = vld1q_s8((const int8_t *)at);
        uint8x16_t ends = vorrq_u8(vceqq_s8(bytes, vdupq_n_s8('"')), vceqq_s8(bytes, vdupq_n_s8('\\')));
        ends = vorrq_u8(ends, vcltq_s8(bytes, vdupq_n_s8(' '))); /* with a sign: from 128 on as well */
        /* Four bits for each byte. */
        uint64_t marked = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(ends), 4)), 0);
        if (marked) return at + __builtin_ctzll(marked) / 4;
    }
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    for (; limit - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, at, 8);
        uint64_t quotes = eight ^ (ones * '"'), slashes = eight ^ (ones * '\\');
        /* A borrow marks wrong bytes, but only behind one that is rightly marked. */
        uint64_t marked = ((quotes - ones) | (slashes - ones) | (eight - ones * 0x20) | eight) & highs;
        if (marked) return at + __builtin_ctzll(marked) / 8;
    }
#endif
    while ((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\') at++;
    return at;
}

/* Whether this may follow a backslash; a `u` needs more. */
static inline bool is_escape(char character) {
    switch (character) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return true;
    default:
        return false;
    }
}

static inline bool read_string(Cursor *cursor, Value *value) {
    const char *at = cursor->at + 1;
    value->start = cursor->at;
    value->type = '"';
    value->escaped = false;
    for (;;) {
        at = plain_end(at, cursor->limit);
        if (*at == '"') break;
        if ((unsigned char)*at >= 0x80) {
            cursor->ascii = false;
            at++;
        } else if (*at == '\\') {
            value->escaped = true;
            at++;
            if (*at == 'u') {
                int code = 0;
                for (int digit = 1; digit <= 4; digit++) {
                    int hex = hex_of(at[digit]);
                    if (hex < 0) return false;
                    code = code << 4 | hex;
                }
                if (code >= 0xd800 && code < 0xe000) return false;
                at += 5;
            } else if (is_escape(*at)) {
                at++;
            } else {
                return false;
            }
        } else {
            return false;
        }
    }
    value->end = cursor->at = at + 1;
    return true;
}

static inline bool read_number(Cursor *cursor, Value *value) {
    const char *at = cursor->at;
    if (*at == '-') at++;
    if (!is_digit(*at)) return false;
    if (*at == '0') at++;
    else while (is_digit(*at)) at++;
    if (*at == '.') {
        if (!is_digit(*++at)) return false;
        while (is_digit(*at)) at++;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        if (*at == '+' || *at == '-') at++;
        const char *exponent = at;
        while (is_digit(*at)) at++;
        if (at == exponent || at - exponent > 2) return false;
    }
    if (at - cursor->at > LONGEST_NUMBER) return false;
    *value = (Value){cursor->at, at, '0', false};
    cursor->at = at;
    return true;
}

static inline bool read_word(Cursor *cursor, const char *word, Value *value) {
    size_t length = strlen(word);
    if (strncmp(cursor->at, word, length)) return false;
    *value = (Value){cursor->at, cursor->at + length, *word, false};
    cursor->at += length;
    return true;
}

static bool read_value(Cursor *cursor, Value *value, int depth);

/* The next key of an object and its colon; the cursor is at the value afterwards. */
static inline bool read_key(Cursor *cursor, Value *key) {
    skip_space(cursor);
    if (*cursor->at != '"' || !read_string(cursor, key) || key->escaped) return false;
    skip_space(cursor);
    if (*cursor->at != ':') return false;
    cursor->at++;
    skip_space(cursor);
    return true;
}

/* What is behind a member or an element: whether there is another one; `ok` is false for anything else. */
static inline bool next_element(Cursor *cursor, char closing, bool *ok) {
    skip_space(cursor);
    char found = *cursor->at;
    *ok = found == ',' || found == closing;
    if (*ok) cursor->at++;
    return found == ',';
}

/* Whether an object or array, at whose bracket the cursor is, has nothing in it. */
static inline bool is_empty(Cursor *cursor, char closing) {
    cursor->at++;
    skip_space(cursor);
    if (*cursor->at != closing) return false;
    cursor->at++;
    return true;
}

static bool read_container(Cursor *cursor, Value *value, int depth) {
    bool object = *cursor->at == '{', more, ok = true;
    char closing = object ? '}' : ']';
    Value inner;
    value->start = cursor->at;
    value->type = *cursor->at;
    value->escaped = false;
    if (depth >= DEEPEST) return false;
    for (more = !is_empty(cursor, closing); more; more = next_element(cursor, closing, &ok)) {
        skip_space(cursor);
        if (object && !read_key(cursor, &inner)) return false;
        if (!read_value(cursor, &inner, depth + 1)) return false;
    }
    value->end = cursor->at;
    return ok;
}

static bool read_value(Cursor *cursor, Value *value, int depth) {
    switch (*cursor->at) {
    case '"':
        return read_string(cursor, value);
    case '{':
    case '[':
        return read_container(cursor, value, depth);
    case 't':
        return read_word(cursor, "true", value);
    case 'f':
        return read_word(cursor, "false", value);
    case 'n':
        return read_word(cursor, "null", value);
    default:
        return read_number(cursor, value);
    }
}

static inline bool spells(const Value *key, const char *text, size_t length) {
    return (size_t)(key->end - key->start) == length + 2 && !memcmp(key->start + 1, text, length);
}

#endif
