/* Values of events as numbers; each function is false for what has to be read with more care. */

#ifndef TRACETUI_FIELDS_H
#define TRACETUI_FIELDS_H

#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <float.h>
#include <math.h>

#include "json.h"
#include "words.h"

#define LATEST ((uint64_t)1 << 62) /* ns: what is later is no time */
#define UNREADABLE INT64_MIN       /* stands for a duration that is none */
#define MOST_DIGITS 19             /* of an integer of 64 bits, whatever they are */
#define EXACT_DIGITS 15            /* of a decimal number that a float64 tells from all others */
#define NONE_ID 0xFFFFFFFF         /* an id that links nothing */

static const uint64_t POWERS[] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
    10000000000000000000u,
};

/* A number, or a string that spells one: `all` / 10 ** `fraction`. */
typedef struct {
    uint64_t all;
    int count;    /* of digits, at least 1 */
    int fraction; /* of them behind the dot */
    bool dotted, negative;
} Digits;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline bool are_digits(uint64_t eight) {
    return ((eight & (eight + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u) == 0x3030303030303030u;
}
#else
static inline bool are_digits(uint64_t eight) { return (void)eight, false; }
#endif

/* The number that eight digits spell, the first of which is the lowest byte: pairs, fours, all of them. */
static inline uint64_t number_of_digits(uint64_t eight) {
    eight = (eight & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    eight = (eight & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    return (eight & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

static inline bool digits_of(const Value *value, Digits *digits) {
    const char *at = value->start, *end = value->end, *dot = NULL;
    if (value->type == '"') at++, end--;
    else if (value->type != '0') return false;
    digits->negative = at < end && *at == '-';
    if (digits->negative) at++;
    const char *start = at;
    uint64_t all = 0;
    for (uint64_t eight; end - at >= 8 && are_digits(eight = eight_at(at)); at += 8)
        all = all * 100000000 + number_of_digits(eight);
    for (; at < end; at++) {
        if (is_digit(*at)) all = all * 10 + (uint64_t)(*at - '0');
        else if (*at == '.' && !dot && at > start) dot = at;
        else return false;
    }
    if (end - start > LONGEST_NUMBER || end == start || dot == end - 1) return false;
    digits->all = all;
    digits->dotted = dot != NULL;
    digits->fraction = dot ? (int)(end - dot - 1) : 0;
    digits->count = (int)(end - start) - digits->dotted;
    return true;
}

/* The nearest float64 of a JSON number. Takes the interpreter's lock, which the thread must not have. */
static double nearest_of(const Value *value, const char **end) {
    PyGILState_STATE state = PyGILState_Ensure();
    double number = PyOS_string_to_double(value->start, (char **)end, NULL);
    PyGILState_Release(state);
    return number;
}

/* The shortest digits that this float is the nearest one of. Takes the interpreter's lock as well. */
static bool shortest_of(double number, char *text, size_t size) {
    PyGILState_STATE state = PyGILState_Ensure();
    char *shortest = PyOS_double_to_string(number, 'r', 0, 0, NULL);
    bool ok = shortest && strlen(shortest) < size;
    if (ok) strcpy(text, shortest);
    PyMem_Free(shortest);
    PyGILState_Release(state);
    return ok;
}

/* A timestamp in us as ns, the fraction cut. */
static inline bool time_of(const Value *value, int64_t *time) {
    Digits digits;
    if (!digits_of(value, &digits) || digits.negative || digits.count > MOST_DIGITS) return false;
    uint64_t unit = POWERS[digits.fraction < 3 ? 3 - digits.fraction : digits.fraction - 3];
    if (digits.fraction < 3 && digits.all >= LATEST / unit) return false;
    uint64_t ns = digits.fraction < 3 ? digits.all * unit : digits.all / unit;
    *time = (int64_t)ns;
    return ns < LATEST;
}

/* A number of us, of at most `most` digits, as ns, rounded half to even; UNREADABLE for one below 0. */
static inline bool rounded_ns(const Digits *digits, int most, int64_t *duration) {
    if (digits->count > most) return false;
    if (digits->fraction <= 3) {
        if (digits->count > EXACT_DIGITS) return false;
        *duration = (int64_t)(digits->all * POWERS[3 - digits->fraction]);
    } else {
        uint64_t unit = POWERS[digits->fraction - 3];
        uint64_t whole = digits->all / unit, twice = digits->all % unit * 2;
        *duration = (int64_t)(whole + (twice > unit || (twice == unit && whole % 2)));
    }
    if (digits->negative && *duration) *duration = UNREADABLE;
    return true;
}

/* A duration in us as ns, rounded half to even; UNREADABLE for one below 0. */
static inline bool duration_of(const Value *value, int64_t *duration) {
    Digits digits;
    if (digits_of(value, &digits) && rounded_ns(&digits, EXACT_DIGITS, duration)) return true;
    if (value->type != '0') return false;
    const char *end;
    double us = nearest_of(value, &end), ns = us * 1000.0, rounded = rint(ns);
    if (end != value->end || !(ns >= 0 && ns < 1e12)) return false;
    if (fabs(ns - rounded) < 0.4995) {
        *duration = (int64_t)rounded;
        return true;
    }
    /* So near to a half the shortest digits of this float decide, as they do in `timestamps.duration`. */
    char shortest[LONGEST_NUMBER];
    if (!shortest_of(us, shortest, sizeof shortest)) return false;
    Value again = {shortest, shortest + strlen(shortest), '0', false};
    return digits_of(&again, &digits) && rounded_ns(&digits, MOST_DIGITS, duration);
}

/* The nearest float64 of a number, or of a string that spells a short one. */
static inline bool float_of(const Value *value, double *number) {
#if FLT_EVAL_METHOD == 0
    Digits digits;
    if (digits_of(value, &digits) && digits.count <= EXACT_DIGITS) {
        /* Both are exact as floats, so their quotient is the nearest one. */
        *number = (double)digits.all / (double)POWERS[digits.fraction];
        /* -0.0 has a sign, -0 has none. */
        if (digits.negative && (digits.all || digits.dotted)) *number = -*number;
        return true;
    }
#endif
    if (value->type != '0') return false;
    const char *end;
    *number = nearest_of(value, &end);
    return end == value->end && isfinite(*number);
}

/* An id: an integer, or a string of digits, that fits 63 bits. */
static inline bool id_of(const Value *value, int64_t *id) {
    Digits digits;
    if (!digits_of(value, &digits) || digits.negative || digits.dotted) return false;
    *id = (int64_t)digits.all;
    return digits.count <= MOST_DIGITS && digits.all <= INT64_MAX;
}

/* A size with its sign; 0 for what is no number. */
static inline bool signed_of(const Value *value, int64_t *size) {
    Digits digits;
    *size = 0;
    if (value->type != '0') return true;
    if (!digits_of(value, &digits) || digits.dotted || digits.count > EXACT_DIGITS) return false;
    *size = digits.negative ? -(int64_t)digits.all : (int64_t)digits.all;
    return true;
}

/* An id that may be missing; -1 for none, and for what is no id below `limit`. */
static inline bool id_or_none_of(const Value *value, uint64_t limit, int64_t *id) {
    Digits digits;
    bool whole = digits_of(value, &digits) && !digits.dotted;
    *id = -1;
    if (!value->type || value->type == 'n') return true;
    if (value->type != '"' && !whole) return false;
    if (value->escaped || value->end - value->start > LONGEST_NUMBER) return false;
    if (!whole || (digits.negative && (value->type == '"' || digits.all))) return true; /* -0 is 0 */
    /* 20 digits without a leading zero are more than 64 bits. */
    if (digits.count > MOST_DIGITS) return value->type == '0';
    if (digits.all < limit && digits.all != NONE_ID) *id = (int64_t)digits.all;
    return true;
}

#endif
